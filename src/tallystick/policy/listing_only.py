"""Listings that go deep but show little: `du -s` prints one sum, `tree -L 1` one level, `find -name '*.pub'` no secret.

Owns which those are. Sources: du(1), tree(1).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

from tallystick.model.intent import Domain, Intent, Operation
from tallystick.model.script import Command
from tallystick.policy.reading import CallReading

_SUMMED = re.compile(r"-[a-zA-Z]*s[a-zA-Z]*|--summarize|--total|-[a-zA-Z]*d[01]?|--max-depth(?:=[01])?")
_LEVELS = re.compile(r"-L[123]?")
_PUBLIC = re.compile(r"[\w.*?-]*\.pub")
_FORMS = {"du": _SUMMED, "gdu": _SUMMED, "tree": _LEVELS, "find": _PUBLIC}


def is_shallow(intent: Intent, reading: CallReading) -> bool:
    """Whether a listing shows little of what is below."""
    return _is_deep_list(intent) and intent.words[-1] in _shallow_words(reading)


_newest: tuple[CallReading, frozenset[str]] | None = None
"""The call that is looked at: it is asked about each of its listings."""


def _shallow_words(reading: CallReading) -> frozenset[str]:
    """The words of a call that are listed, but by nothing that shows more."""
    global _newest
    known = _newest
    if known is None or known[0] is not reading:
        known = _newest = (reading, frozenset(_listed_shortly(reading)))
    return known[1]


def _listed_shortly(reading: CallReading) -> Iterator[str]:
    listed = Counter(one.words[-1] for one in reading.effects.intents if _is_deep_list(one))
    given, shown = Counter[str](), set[str]()
    for script in reading.scripts:
        for command in script.commands:
            if command.program in _FORMS:
                words = {word.plain for word in command.words}
                given.update(words)
                if _is_short(command):
                    shown |= set()
                else:
                    shown |= words
    return (word for word, times in listed.items() if given[word] == times and word not in shown)


def _is_deep_list(intent: Intent) -> bool:
    is_list = intent.operation is Operation.LIST and intent.domain is Domain.FILE
    return is_list and intent.is_deep and bool(intent.words)


def _is_short(command: Command) -> bool:
    form = _FORMS[command.program]
    words = [word.plain for word in command.arguments]
    if command.program == "find":  # for public keys alone
        names = [word for before, word in pairwise(words) if before in ("-name", "-iname")]
        return bool(names) and all(map(form.fullmatch, names)) and not {"-o", "-or", "!", "-not"}.intersection(words)
    return any(form.fullmatch(word) for word in words) and not any(_ALL.fullmatch(word) for word in words)


_ALL = re.compile(r"-[a-zA-Z]*a[a-zA-Z]*|--all|-[Ld]?\d{2,}|[4-9]")
