"""Boxes and arrows, before anyone knows where they stand; and text made fit for a picture.

Owns the values that all drawings are made of. Must not know the graph that they show, nor any format.
"""

from __future__ import annotations

import enum

import msgspec


class Look(enum.StrEnum):
    """What a box stands for, which a format may show by its colour and form."""

    ARTIFACT = "artifact"
    STEP = "step"
    REQUEST = "request"
    SESSION = "session"
    MISSING = "missing"


class Box(msgspec.Struct, frozen=True, kw_only=True):
    """A box with one or more lines of text, the first one its name. `about` is all of it, for those who ask."""

    look: Look
    lines: tuple[str, ...]
    about: str = ""
    is_start: bool = False
    is_cut: bool = False
    """There is more beyond it, which is not drawn."""


class Arrow(msgspec.Struct, frozen=True, kw_only=True):
    """An arrow between two boxes, by their positions. Less than sure is drawn fainter."""

    source: int
    target: int
    label: str = ""
    confidence: float = 1.0


class Picture(msgspec.Struct, frozen=True):
    """All of it."""

    boxes: tuple[Box, ...]
    arrows: tuple[Arrow, ...]


_BLANK = frozenset(" \t\n\r\v\f")


def plain(text: str, most: int) -> str:
    """Text on one line, at most so many characters, with whatever cannot be seen written as an escape.

    What agents wrote may hold escapes, characters that run backwards, and such as no XML file may hold.
    """
    cut = text[: most * 2 + 16]
    shown = "".join(_visible(character) for character in " ".join(cut.split()))
    if len(shown) <= most and len(cut) == len(text):
        return shown
    return shown[: most - 1].rstrip() + "…"


def _visible(character: str) -> str:
    if character in _BLANK or character.isprintable():
        return character
    code = ord(character)
    if code < 0x100:
        return f"\\x{code:02x}"
    if code < 0x10000:
        return f"\\u{code:04x}"
    return f"\\U{code:08x}"
