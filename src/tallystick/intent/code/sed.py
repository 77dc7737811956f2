"""sed scripts → the files that they read and write, and the commands that they run.

Owns where a command of sed begins and ends. Must not know the files that sed is given. Sources: sed(1) of GNU and of POSIX.
"""

from __future__ import annotations

import re

from tallystick.intent.code.found import Found
from tallystick.model.intent import Operation

_MOST_COMMANDS = 2000
_ADDRESS = re.compile(
    r"[\s;{}]*(?:(?:\d+|\$|/(?:[^/\\\n]|\\.?)*+/[IM]*|\\(.)(?:(?!\1)[^\n])*.?[IM]*)(?:[,~+]\s*)?)*\s*!?\s*"
)
_TO_END = re.compile(r"[^\n]*")
_TEXT = re.compile(r"(?:[^\\\n]|\\(?:.|\n|\Z))*+")
_NAME = re.compile(r"[^;\n}]*")
_FLAGS = re.compile(r"(?:[gpiImM]|\d+)*")
_NO_FILES = ("/dev/stdout", "/dev/stderr", "/dev/stdin", "")


def read_sed(text: str, found: Found) -> None:
    """Note what a script does besides changing lines."""
    place = 0
    for _ in range(_MOST_COMMANDS):
        address = _ADDRESS.match(text, place)
        if address is not None:
            place = address.end()
        if place >= len(text):
            return
        place = _command(found, text, place)
    found.is_unknown = True


def _command(found: Found, text: str, place: int) -> int:
    """One command; the place after it."""
    letter, place = text[place], place + 1
    if letter in "rRwW":
        name = _rest(_TO_END, text, place)
        _file(found, Operation.READ if letter in "rR" else Operation.WRITE, name.strip())
        return place + len(name)
    if letter == "e":
        command = _rest(_TO_END, text, place)
        found.runs("sh", command.strip() or None)
        return place + len(command)
    if letter in "sy":
        return _substitution(found, text, place, letter)
    if letter in "aic":
        return place + len(_rest(_TEXT, text, place))
    if letter == "#":
        return place + len(_rest(_TO_END, text, place))
    if letter in "btT:qQlL":
        return place + len(_rest(_NAME, text, place))
    return place


def _rest(pattern: re.Pattern[str], text: str, place: int) -> str:
    found = pattern.match(text, place)
    if found is None:
        return ""
    return found[0]


def _substitution(found: Found, text: str, place: int, letter: str) -> int:
    """`s/a/b/flags`: `w FILE` writes lines, `e` runs what comes out."""
    delimiter = text[place : place + 1]
    for _ in range(2):
        place = _after(text, place + 1, delimiter)
    place += 1
    if letter == "y":
        return place
    flags = _rest(_FLAGS, text, place)
    place += len(flags)
    if text[place : place + 1] == "e":
        found.is_unknown = True
        return place + 1
    if text[place : place + 1] == "w":
        name = _rest(_TO_END, text, place + 1)
        _file(found, Operation.WRITE, name.strip())
        return place + 1 + len(name)
    return place


def _after(text: str, place: int, delimiter: str) -> int:
    """The place of the next delimiter that no backslash and no bracket hides; the end, if none exists."""
    in_class = False
    while place < len(text):
        letter = text[place]
        if letter == "\\":
            place += 1
        elif letter == "[":
            in_class = True
        elif letter == "]":
            in_class = False
        elif letter == delimiter and not in_class:
            return place
        place += 1
    return len(text)


def _file(found: Found, operation: Operation, name: str) -> None:
    if name not in _NO_FILES:
        found.file(operation, name)
