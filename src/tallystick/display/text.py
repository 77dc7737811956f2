"""Text from agents, made safe to show on a terminal.

Owns the one function through which every string that an agent, its files or its model wrote must pass before it is printed.
Escape sequences, bidirectional controls, invisible and broken characters are shown, never obeyed. Must not know what the
text means.
"""

from __future__ import annotations

import re
from functools import lru_cache
from unicodedata import category, east_asian_width

# Printable by Unicode's categories, yet drawn as nothing: what is written with them cannot be seen.
_INVISIBLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0000-\U000e0fff]"
)
# A symbol followed by the wish to be drawn as an emoji. The wish is dropped: shown as an escape it would stand after every ✔.
_EMOJI_STYLE = re.compile(
    "([\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff])\ufe0f"
)
# Marks are drawn on top of each other, over the lines above: more than a script needs is an attack.
_MARK = "[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]"
_MARKS = re.compile(f"({_MARK}{{8}}){_MARK}+")
_ELLIPSIS = "…"


def _character_text(code: int) -> str:
    """How a character is shown: itself if it can be seen, else a picture or an escape of it."""
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "␡"
    character = chr(code)
    if not _INVISIBLE.match(character) and (character.isprintable() or category(character) == "Zs"):
        return character
    if code < 0x100:
        return f"\\x{code:02x}"
    if code < 0x10000:
        return f"\\u{code:04x}"
    return f"\\U{code:08x}"


class _Pictures(dict[int, str]):
    """What str.translate looks characters up in. Only Latin ones are kept: a text may hold a million different ones."""

    def __missing__(self, code: int) -> str:
        shown = _character_text(code)
        if code < 0x250:
            self[code] = shown
        return shown


_PICTURES = _Pictures()


def one_line(text: str) -> str:
    """`text` on one line, with everything in it that a terminal would obey or hide shown instead."""
    if text.isprintable() and not _INVISIBLE.search(text):
        if text.isascii():
            return text
        return _MARKS.sub(rf"\1{_ELLIPSIS}", text)
    return _MARKS.sub(rf"\1{_ELLIPSIS}", _EMOJI_STYLE.sub(r"\1", text).translate(_PICTURES))


def lines(text: str) -> list[str]:
    """The lines of `text`, each made safe as by `one_line`. Only LF ends a line; tabs become four spaces."""
    return [one_line(line.replace("\t", "    ")) for line in text.split("\n")]


def first_line(text: str, width: int) -> str:
    """The first line of `text` that is not blank, within `width` columns, with `…` where anything was left out.

    Tabs become four spaces.
    """
    # A megabyte of text is not made safe to show its first words.
    start = text[: 4 * width + 4096].lstrip().replace("\t", "    ")
    line, _, rest = start.partition("\n")
    left_out = bool(rest.strip()) or len(text) > 4 * width + 4096
    shown = cut(one_line(line[: 4 * width + 16].rstrip()), width)
    if left_out and not shown.endswith(_ELLIPSIS):
        shown = cut(shown, width - 2).removesuffix(_ELLIPSIS).rstrip() + f" {_ELLIPSIS}"
    return shown


def counted(number: int, word: str, plural: str | None = None) -> str:
    """`1 step`, `2,000 steps`."""
    if number == 1:
        return f"{number:,} {word}"
    return f"{number:,} {plural or word + 's'}"


def spaced(text: str) -> str:
    """A text with a blank before it; nothing for an empty one."""
    if not text:
        return ""
    return f" {text}"


def width_of(text: str) -> int:
    """How many columns a safe text takes."""
    if text.isascii():
        return len(text)
    return sum(map(_columns, text))


@lru_cache(maxsize=4096)
def _columns(character: str) -> int:
    if category(character) in ("Mn", "Me"):
        return 0
    if east_asian_width(character) in ("W", "F"):
        return 2
    return 1


def cut(text: str, width: int) -> str:
    """A safe text within `width` columns, ending in `…` if it had more."""
    if width_of(text) <= width:
        return text
    used, kept = 1, []
    for character in text:
        used += _columns(character)
        if used > width:
            break
        kept.append(character)
    return "".join(kept) + _ELLIPSIS
