"""Calls of tools in a script that an agent writes, as Codex's code mode has them: `await tools.exec_command({cmd: "ls"})`.

Owns finding them and their arguments, as far as those are written out. What else the script does, `shell.code` reads. Must
not know what a tool does. Source: the description of `exec` that Codex gives to models.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import pairwise

from tallystick.model.step import Json

_MOST_TEXT = 256 << 10
_MOST_CALLS = 50
_MOST_MEMBERS = 50
_CALL = re.compile(r"\btools\s{0,4}\.\s{0,4}([A-Za-z_]\w{0,80})\s{0,4}\(\s{0,40}")
_STRING = r"\"[^\"\\]*+(?:\\.[^\"\\]*+)*+\"|'[^'\\]*+(?:\\.[^'\\]*+)*+'|`[^`\\]*+(?:\\.[^`\\]*+)*+`"
_TEXT = re.compile(_STRING, re.DOTALL)
_MEMBER = re.compile(
    rf"(?:([A-Za-z_]\w{{0,60}})|[\"']([\w-]{{1,60}})[\"'])\s{{0,20}}:\s{{0,20}}({_STRING})|{_STRING}", re.DOTALL
)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_LETTERS = {"n": "\n", "t": "\t", "r": "\r"}


def calls_in(script: str) -> Iterator[tuple[str, Json]]:
    """The tools that a script calls, each with its arguments: a text, or the members that are texts."""
    found = [match for match, _ in zip(_CALL.finditer(script[:_MOST_TEXT]), range(_MOST_CALLS), strict=False)]
    ends = [*(following.start() for _, following in pairwise(found)), _MOST_TEXT]
    for call, end in zip(found, ends, strict=False):
        rest = script[call.end() : end]
        text = _TEXT.match(rest)
        yield call[1], _plain(text[0]) if text is not None else _members(rest) if rest[:1] == "{" else None


def _members(text: str) -> Json:
    found: dict[str, Json] = {}
    for member, _ in zip(_MEMBER.finditer(text), range(_MOST_MEMBERS), strict=False):
        if member[3] is not None:
            found.setdefault(member[1] or member[2], _plain(member[3]))
    return found


def _plain(literal: str) -> str:
    """The text that a literal stands for."""
    if literal[0] == '"':
        try:
            return str(json.loads(literal, strict=False))
        except ValueError:
            pass
    return _ESCAPED.sub(lambda found: _LETTERS.get(found[1], found[1]), literal[1:-1])
