"""Bash's quoting: from characters as they are written to characters as they are meant.

Owns escapes, ANSI-C strings, wildcards and braces. Must not know variables or commands.
Source: the Bash Reference Manual, 3.1.2 "Quoting", 3.5.1 "Brace Expansion", 3.5.8 "Filename Expansion".
"""

from __future__ import annotations

import re

from tallystick.model.script import ANY_ONE, CLASS, STAR

OPEN, COMMA, CLOSE, SPLIT = "\ue003", "\ue004", "\ue005", "\ue006"
"""Stand for `{`, `,` and `}` of a brace expansion, and for the blank that splits the value of a variable."""
_WILDCARDS = {"*": STAR, "?": ANY_ONE, "[": CLASS}
_ACTIVE = str.maketrans({**_WILDCARDS, "{": OPEN, ",": COMMA, "}": CLOSE})
_SPLITTING = str.maketrans({**_WILDCARDS, " ": SPLIT, "\t": SPLIT, "\n": SPLIT})
_INACTIVE = str.maketrans({OPEN: "{", COMMA: ",", CLOSE: "}"})
_ESCAPED = re.compile(r"\\(.)|([^\\]+)", re.DOTALL)
_IN_QUOTES = re.compile(r'\\([$`"\\\n])')
_ANSI = re.compile(
    r"\\(?:x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8})|([0-7]{1,3})|c(.)|(.))", re.DOTALL
)
_CONTROLS = {"a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_BRACES = re.compile(f"{OPEN}([^{OPEN}{CLOSE}]*){CLOSE}")
_MOST_ALTERNATIVES = 64
_MOST_STEPS = 128


def bare(text: str) -> str:
    """Text outside quotes: escapes taken off, wildcards and braces marked as such."""
    if "\\" not in text:
        return text.translate(_ACTIVE)
    return "".join(
        plain.translate(_ACTIVE) if plain else "" if escaped == "\n" else escaped
        for escaped, plain in _ESCAPED.findall(text)
    )


def in_quotes(text: str) -> str:
    """Text between double quotes."""
    return _IN_QUOTES.sub(lambda found: "" if found[1] == "\n" else found[1], text)


def ansi(text: str) -> str:
    """Text between `$'` and `'`."""
    return _ANSI.sub(_character, text)


def _character(found: re.Match[str]) -> str:
    hexadecimal = found[1] or found[2] or found[3]
    if hexadecimal or found[4]:
        number = int(hexadecimal, 16) if hexadecimal else int(found[4], 8) & 0xFF
        return chr(number) if number < 0x110000 and not 0xD800 <= number < 0xE000 else "\ufffd"
    if found[5]:
        return chr(ord(found[5].upper()) ^ 0x40)
    return _CONTROLS.get(found[6], found[6] if found[6] in "\\'\"?" else f"\\{found[6]}")


def splitting(value: str) -> str:
    """The value of a variable outside quotes: blanks split it, wildcards are wildcards."""
    return value.translate(_SPLITTING)


def alternatives(text: str) -> list[str]:
    """The words that a word with braces stands for, at most 64."""
    found = [text]
    for _ in range(_MOST_STEPS):
        position, braces = next(
            ((n, match) for n, word in enumerate(found) if (match := _BRACES.search(word)) is not None), (0, None)
        )
        if braces is None or len(found) >= _MOST_ALTERNATIVES:
            break
        word = found[position]
        found[position : position + 1] = [
            word[: braces.start()] + part + word[braces.end() :] for part in _parts(braces[1])
        ]
    return [word.translate(_INACTIVE) for word in found]


def _parts(inner: str) -> list[str]:
    """What stands between braces, one by one. A pair without a comma is no expansion."""
    if COMMA in inner:
        return inner.split(COMMA)
    return [f"{{{inner}}}"]
