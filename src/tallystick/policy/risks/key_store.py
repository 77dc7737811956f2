"""Key-value stores with the commands of Redis that are to forget all keys.

Owns which commands those are, and where they stand: in the words of a client, in the lines that it reads, in the arguments of
a tool for such a store. Must not know whose a store is. Sources: the references of Redis and of redis-cli (a line of what it
reads is a command, one that begins with `#` is none; a number before a command repeats it).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice

from tallystick.catalog.programs import programs_with
from tallystick.intent.tools.arguments import strings
from tallystick.model.decision import Call
from tallystick.model.pattern import pattern_of
from tallystick.model.script import Command
from tallystick.policy.calls.reading import CallReading
from tallystick.policy.risks.programs import Started, name_of

CLIENTS = programs_with("redis-client")
_HOLDERS = programs_with("runs-named-program")
_STORES = pattern_of(r"redis|valkey|dragonfly|keydb", re.IGNORECASE)
_NAMED = pattern_of(r"(?:^|__|[_-])flush_?(?:all|db)\b", re.IGNORECASE)
_FLUSHES = frozenset(("flushall", "flushdb", "flush_all", "flush_db"))
_STATEMENT = pattern_of(r"[^\n\r;]+")
_WORD = pattern_of(r"[^\s\"']+")
_MOST_TEXTS = 100
_LONGEST_NAME = 100
_MOST_TEXT = 64 << 10
_MOST_STATEMENTS = 500
_MOST_WORDS = 200


def emptied(reading: CallReading) -> Iterator[str]:
    """What tells a store to forget all keys, but for the words of a client: in short, for people."""
    if _is_flush(reading.call):
        yield reading.call.tool[:200]
    for script in reading.scripts:
        for command in script.commands:
            if command.input is not None and _is_for_client(command) and _flushes_in(command.input.text):
                yield command.input.plain.strip()[:200]


def removes_all_keys(started: Started) -> bool:
    """Whether the words of a client say so: all keys, or keys that are unknown."""
    said = [word.lower() for word in started.words]
    if not _FLUSHES.isdisjoint(said):
        return True
    if {"del", "unlink"}.intersection(said):
        return any(not word.is_known for word in started.given)
    return _flushes_in_script(said)


def _is_for_client(command: Command) -> bool:
    names = [name_of(word.plain) for word in command.words[:_MOST_WORDS]]
    return bool(names) and (names[0] in CLIENTS or (names[0] in _HOLDERS and not CLIENTS.isdisjoint(names)))


def _is_flush(call: Call) -> bool:
    """Whether a tool for such a store is to do so, or is for that."""
    if _STORES.search(call.tool[:200]) is None:
        return False
    if _NAMED.search(call.tool[:200]) is not None:
        return True
    said = [text for _, text in islice(strings(call.args), _MOST_TEXTS)]
    return any(_NAMED.search(text[:_LONGEST_NAME]) is not None or _flushes_in(text) for text in said)


def _flushes_in(text: str) -> bool:
    """Whether a statement of a text, whatever stands before it, says so."""
    statements = islice(_STATEMENT.finditer(text[:_MOST_TEXT]), _MOST_STATEMENTS)
    return any(map(_is_flushing, (_WORD.findall(found[0].lower())[:_MOST_WORDS] for found in statements)))


def _is_flushing(words: Sequence[str]) -> bool:
    named = next((word for word in words if not word.isdigit()), "")
    return named in _FLUSHES or _flushes_in_script(words)


def _flushes_in_script(words: Sequence[str]) -> bool:
    """`EVAL` with a script that says so."""
    return "eval" in words and any("flushall" in word or "flushdb" in word for word in words)
