"""Bash's quoting: from characters as they are written to characters as they are meant.

Owns escapes, ANSI-C strings, wildcards and braces. Must not know variables or commands.
Source: the Bash Reference Manual, 3.1.2 "Quoting", 3.5.1 "Brace Expansion", 3.5.8 "Filename Expansion".
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from tallystick.model.pattern import pattern_of
from tallystick.model.script import ANY_ONE, CLASS, CLOSE, COMMA, OPEN, SPLIT, STAR

_WILDCARDS = {"*": STAR, "?": ANY_ONE, "[": CLASS}
_ACTIVE = str.maketrans({**_WILDCARDS, "{": OPEN, ",": COMMA, "}": CLOSE})
_MOST_MARKS = 16
_INACTIVE = str.maketrans({OPEN: "{", COMMA: ",", CLOSE: "}"})
_ESCAPED = pattern_of(r"\\(.)|([^\\]+)", re.DOTALL)
_IN_QUOTES = pattern_of(r'\\([$`"\\\n])')
_ANSI = pattern_of(
    r"\\(?:x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8})|([0-7]{1,3})|c(.)|(.))", re.DOTALL
)
_CONTROLS = {"a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_MARKS = pattern_of(f"[{OPEN}{COMMA}{CLOSE}]")
_RANGE = pattern_of(r"(-?\d{1,9})\.\.(-?\d{1,9})(?:\.\.(-?\d{1,9}))?|([A-Za-z])\.\.([A-Za-z])(?:\.\.(-?\d{1,9}))?")
_MOST_ALTERNATIVES = 64
_MOST_STEPS = 128
_MOST_NESTED = 16
_MOST_COUNTED = 1 << 40


def bare(text: str) -> str:
    """Text outside quotes: escapes taken off, wildcards and braces marked as such."""
    if "\\" not in text:
        return text.translate(_ACTIVE)
    found = ((escaped, plain) for escaped, plain in _ESCAPED.findall(text) if plain or escaped != "\n")
    return "".join(plain.translate(_ACTIVE) or escaped for escaped, plain in found)


def in_quotes(text: str) -> str:
    """Text between double quotes."""
    return _IN_QUOTES.sub(lambda found: "" if found[1] == "\n" else found[1], text)


def ansi(text: str) -> str:
    """Text between `$'` and `'`."""
    return _ANSI.sub(_character, text)


def _character(found: re.Match[str]) -> str:
    hexadecimal = found[1] or found[2] or found[3]
    if hexadecimal or found[4]:
        if hexadecimal:
            number = int(hexadecimal, 16)
        else:
            number = int(found[4], 8) & 0xFF
        if number < 0x110000 and not 0xD800 <= number < 0xE000:
            return chr(number)
        return "\ufffd"
    if found[5]:
        return chr(ord(found[5].upper()) ^ 0x40)
    return _CONTROLS.get(found[6], found[6] if found[6] in "\\'\"?" else f"\\{found[6]}")


def splitting(value: str, marks: str) -> str:
    """The value of a variable outside quotes: the marks of `IFS` split it, wildcards are wildcards."""
    return value.translate(_splitting(marks[:_MOST_MARKS]))


@lru_cache(maxsize=64)
def _splitting(marks: str) -> Mapping[int, str]:
    return str.maketrans({**_WILDCARDS, **dict.fromkeys(marks, SPLIT)})


def alternatives(text: str) -> list[str]:
    """The words that a word with braces stands for, at most 64; what would be more stays as it is written."""
    if OPEN not in text:
        return [text if text.isascii() else text.translate(_INACTIVE)]
    return [word.translate(_INACTIVE) for word in _expanded(text, [_MOST_STEPS])]


def count(text: str, depth: int = 0) -> int:
    """How many words a word with braces stands for, however many."""
    total, at, steps = 1, 0, 0
    while (start := text.find(OPEN, at)) >= 0 and steps < _MOST_STEPS and depth < _MOST_NESTED:
        steps += 1
        parts = _split(text, start)
        at = start + 1
        if parts is not None:
            at += sum(map(len, parts)) + len(parts)
            total = min(total * _count(parts, depth + 1), _MOST_COUNTED)
    return total


def _count(parts: list[str], depth: int) -> int:
    found = None
    if len(parts) == 1:
        found = _RANGE.fullmatch(parts[0])
    if found is None:
        return sum(count(part, depth) for part in parts)
    is_number = found[1] is not None
    if is_number:
        first, last = int(found[1]), int(found[2])
    else:
        first, last = ord(found[4]), ord(found[5])
    return abs(last - first) // (abs(int(found[3] or found[6] or 1)) or 1) + 1


def _expanded(text: str, steps: list[int], depth: int = 0) -> list[str]:
    """The same, braces that expand to nothing being left. `steps` holds how many braces may still be looked at."""
    found = [""]
    at = 0
    while (start := text.find(OPEN, at)) >= 0 and steps[0] > 0 and depth < _MOST_NESTED:
        steps[0] -= 1
        parts = _split(text, start)
        if parts is None:  # it is not closed
            found = [f"{word}{text[at : start + 1]}" for word in found]
            at = start + 1
            continue
        end = start + sum(map(len, parts)) + len(parts) + 1
        middle = _alternatives(parts, steps, depth)
        if len(found) * len(middle) > _MOST_ALTERNATIVES:
            break
        found = [f"{word}{text[at:start]}{each}" for word in found for each in middle]
        at = end
    return [f"{word}{text[at:]}" for word in found]


def _split(text: str, start: int) -> list[str] | None:
    """What stands between a brace and its partner, split at its own commas; None without a partner."""
    parts: list[str] = []
    depth, at = 0, start + 1
    for found in _MARKS.finditer(text, start + 1):
        if found[0] == OPEN:
            depth += 1
        elif found[0] == CLOSE and depth:
            depth -= 1
        elif depth == 0:
            parts.append(text[at : found.start()])
            at = found.end()
            if found[0] == CLOSE:
                return parts
    return None


def _alternatives(parts: list[str], steps: list[int], depth: int) -> list[str]:
    if len(parts) > 1:
        return [word for part in parts for word in _expanded(part, steps, depth + 1)]
    found = _RANGE.fullmatch(parts[0])
    if found is not None:
        return _range(found)
    return [f"{OPEN}{word}{CLOSE}" for word in _expanded(parts[0], steps, depth + 1)]


def _range(found: re.Match[str]) -> list[str]:
    """The numbers or letters of a range; a wildcard for many."""
    is_number = found[1] is not None
    if is_number:
        first, last = int(found[1]), int(found[2])
    else:
        first, last = ord(found[4]), ord(found[5])
    step = abs(int(found[3] or found[6] or 1)) or 1
    if first <= last:
        numbers = range(first, last + 1, step)
    else:
        numbers = range(first, last - 1, -step)
    if len(numbers) > _MOST_ALTERNATIVES:
        return [STAR]
    if not is_number:
        return [chr(number) for number in numbers]
    is_padded = any(text.lstrip("-").startswith("0") and len(text.lstrip("-")) > 1 for text in (found[1], found[2]))
    width = 0
    if is_padded:
        width = max(len(found[1]), len(found[2]))
    return [f"{number:0{width}d}" for number in numbers]
