"""How text gets onto the screen: the few styles there are, and the gate that every piece of text passes.

Owns that nothing which a terminal would obey reaches it, and that no style says anything by its colour alone: where colours
are off, words and signs say the same. Must not know what is shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeAlias

from rich.cells import cell_len, chop_cells
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from tallystick.display.text import one_line

PLAIN = Style()
DIM = Style(dim=True)
BOLD = Style(bold=True)
BAD = Style(color="red", bold=True)
GOOD = Style(color="green")
NOTE = Style(color="yellow")
LINK = Style(color="cyan")
HIT = Style(bold=True, underline=True)
CHOSEN = Style(reverse=True)
"""The line that the keys act on, in the pane that has them."""
KEPT = Style(reverse=True, dim=True)
"""The same line in another pane."""

Piece: TypeAlias = tuple[str, Style]
"""Some text and how it looks."""


def strip_of(pieces: Iterable[Piece], width: int, style: Style | None = None) -> Strip:
    """One line of the screen, exactly `width` columns wide. Whatever the pieces hold, no control character is in it.

    Args:
        style: how all of it looks, in place of what the pieces say.
    """
    strip = Strip([Segment(one_line(text), style or look) for text, look in pieces if text])
    return strip.adjust_cell_length(width, style)


def fitted(text: str, width: int) -> str:
    """A safe text in exactly `width` columns: cut with `…`, or filled up."""
    taken = cell_len(text)
    if taken <= width:
        return text + " " * (width - taken)
    kept = ""
    if width > 1:
        kept = chop_cells(text, max(width - 1, 1))[0]
    if width > 0:
        return fitted(f"{kept}…", width)
    return ""


def wrapped(pieces: list[Piece], width: int) -> Iterator[list[Piece]]:
    """A line as the lines of a pane: what does not fit goes on below.

    It goes on two columns further in than the line itself, or, where that begins with a name, under what follows the name.
    """
    if sum(cell_len(text) for text, _ in pieces) <= width:
        yield pieces
        return
    first = pieces[0][0]
    is_named = len(pieces) > 1 and first.startswith("  ")
    indent = len(first) - len(first.lstrip(" ")) + 2
    if is_named:
        indent = cell_len(first)
    indent = min(indent, width // 2)
    line: list[Piece] = []
    room = width
    for text, style in pieces:
        rest = text
        while cell_len(rest) > room:
            head = ""
            if room > 1:
                head = _head(rest, room)
            yield [*line, (head, style)]
            rest, line, room = rest[len(head) :], [(" " * indent, PLAIN)], max(width - indent, 2)
        line.append((rest, style))
        room -= cell_len(rest)
    yield line


def _head(text: str, room: int) -> str:
    """What of a text goes into the line: up to a blank, unless that would leave half of the line empty."""
    head = chop_cells(text, room)[0]
    blank = head.rfind(" ") + 1
    if blank > len(head) // 2 and text[len(head)] != " ":
        return head[:blank]
    return head


def bad_or(style: Style, is_bad: bool) -> Style:
    """The style of what is bad, else another."""
    if is_bad:
        return BAD
    return style
