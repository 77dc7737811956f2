"""The little language of the filter line: `type:tool_call tool:Bash agent:codex failed words`.

Owns reading and writing it, and what a word means that is searched for. Must not know how steps are found.
"""

from __future__ import annotations

import re
import shlex

from tallystick.errors import UsageError
from tallystick.graph.timeline import Wanted

_KEYS = {"type": "types", "tool": "tools", "agent": "agents"}
HOW = "type:T tool:T agent:A failed WORDS"
"""What may be in the line, for people."""

_LONGEST = 500
_WORD = re.compile(r'"[^"]*"?|[^\s"]+')


def parse_filter(text: str) -> Wanted:
    """What a person typed. Several of one kind, or one with commas: any of them.

    Raises:
        UsageError: a word before a colon that means nothing here, an open quote, or too much text.
    """
    if len(text) > _LONGEST:
        raise UsageError(f"a filter is at most {_LONGEST} characters long")
    try:
        words = shlex.split(text, posix=True)
    except ValueError as error:
        raise UsageError(f"cannot read the filter: {error}", hint="quotes come in pairs") from error
    found: dict[str, list[str]] = {name: [] for name in _KEYS.values()}
    rest: list[str] = []
    failed = False
    for word in words:
        key, colon, value = word.partition(":")
        if colon and key in _KEYS and value:
            found[_KEYS[key]] += [part for part in value.split(",") if part]
        elif colon and key in ("text", "words"):
            rest.append(value)
        elif word == "failed":
            failed = True
        elif colon and key.isidentifier() and not value.startswith("/"):
            raise UsageError(f"unknown filter {key!r}", hint=f"{HOW}; text:{word} searches for it")
        else:
            rest.append(word)
    return Wanted(
        types=tuple(found["types"]),
        tools=tuple(found["tools"]),
        agents=tuple(found["agents"]),
        failed=failed,
        text=" ".join(rest),
    )


def filter_text(wanted: Wanted) -> str:
    """A filter as a person would type it."""
    parts = [f"{key}:{shlex.quote(value)}" for key, name in _KEYS.items() for value in getattr(wanted, name)]
    if wanted.failed:
        parts.append("failed")
    return " ".join([*parts, *(f"text:{shlex.quote(wanted.text)}" for _ in (1,) if wanted.text)])


def as_beginnings(text: str) -> str:
    """What a person types, as the store's search takes it: words are beginnings of words, what is quoted is not."""
    return " ".join(word if word.startswith('"') or word.endswith("*") else f"{word}*" for word in _WORD.findall(text))
