"""Lines of a timeline, as pieces of safe text that know what they are about.

Owns the tones (what a piece is, from which anyone who prints it takes its colour), and cutting and wrapping lines to a
width. Must not know colours, nor what any step means.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Iterator
from typing import NamedTuple, TypeAlias

from tallystick.display.text import cut, width_of


class Tone(enum.Enum):
    """What a piece of a line is. Meanings: specification of the headless agent's replay, 3.3, in a theme's own colours."""

    PLAIN = "flow and values"
    FAINT = "metadata and labels"
    TOOL = "tools"
    SUPERVISOR = "supervision of the work"
    SECURITY = "security checks"
    SECURITY_LOUD = "the security supervisor"
    COMMAND = "checks of commands"
    SUBAGENT = "sub-agents"
    GOOD = "success, allow, continue"
    BAD = "error, deny, pause"
    WARNING = "warnings, modify, reorient, unknown"
    HUMAN = "what people say"


class Piece(NamedTuple):
    """Some safe text of one tone."""

    text: str
    tone: Tone = Tone.PLAIN


Line: TypeAlias = list[Piece]


def cut_line(line: Line, width: int) -> Line:
    """A line within some columns, ending in `…` if it had more."""
    if width_of(text_of(line)) <= width:
        return line
    left, kept = width - 1, Line()  # the last column is for the ellipsis
    for piece in line:
        columns = width_of(piece.text)
        if columns > left:
            kept.append(Piece(cut(piece.text + " ", left + 1), piece.tone))
            break
        kept.append(piece)
        left -= columns
    return kept


def wrapped(text: str, width: int) -> Iterator[str]:
    """A safe line in pieces of at most some columns, broken behind a blank where there is one.

    Left to the terminal, what does not fit would begin the next line at its edge, where rows begin.
    """
    width = max(width, 2)
    while len(text) > width or width_of(text) > width:
        end = _break(text, width)
        yield text[:end]
        text = text[end:]
    yield text


def _break(text: str, width: int) -> int:
    """Where a line that is too long is broken."""
    end = min(width, len(text))
    while width_of(text[:end]) > width:
        end -= 1
    blank = text.rfind(" ", end // 2, end)
    if blank > 0:
        return blank + 1
    return max(end, 1)


def bad_or(tone: Tone, is_bad: bool) -> Tone:
    """The tone of what is bad, else another."""
    if is_bad:
        return Tone.BAD
    return tone


def text_of(line: Iterable[Piece]) -> str:
    """A line without its tones."""
    return "".join([piece.text for piece in line])
