"""How rows of cells and long lines fit a terminal.

Owns the widths that columns get: the widest text gives way first, ids and numbers never; what then still does not fit
stands on a further line of the same row. Must not know what the cells say.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import click
import msgspec

from tallystick.display.text import cut, width_of

_GAP = "  "
_INDENT = "    "


class Shape(msgspec.Struct, frozen=True, kw_only=True):
    """How the columns of some rows are laid out.

    Attributes:
        width: The columns of the terminal; None: rows have any width.
        right: The numbers of the columns to right-align.
        gives: The columns whose text may be shortened, each with the width below which its text says too little. None
            of them has styled cells.
    """

    width: int | None
    right: frozenset[int]
    gives: Mapping[int, int]


def fitted(rows: Sequence[tuple[str, ...]], shape: Shape) -> Iterator[str]:
    """One text a row, of as many lines as it needs. Cells must be safe to print."""
    sizes = [[_shown_width(cell) for cell in row] for row in rows]
    widths = [max(column) for column in zip(*sizes, strict=True)]
    groups = _groups(widths, shape)
    for group in groups:
        _shorten(widths, group, shape)
    for row, taken in zip(rows, sizes, strict=True):
        drawn = (_line(row, taken, widths, shape, group) for group in groups)
        yield "\n".join(line for number, line in enumerate(drawn) if line.strip() or not number)


def wrapped(text: str, width: int) -> Iterator[str]:
    """The lines of a text that is safe to print, none wider than `width`, broken at blanks where there are any."""
    line = ""
    for word in text.split(" "):
        if line and _shown_width(line) + 1 + _shown_width(word) > width:
            yield line
            line = word
        else:
            line = f"{line} {word}" if line else word
        while "\x1b" not in line and width_of(line) > width:
            start = cut(line, width + 1).removesuffix("…") if width_of(line) > width + 1 else cut(line, width)[:-1]
            yield start
            line = line[len(start) :]
    yield line


def _shown_width(cell: str) -> int:
    if "\x1b" in cell:
        return width_of(click.unstyle(cell))
    return width_of(cell)


def _groups(widths: list[int], shape: Shape) -> list[list[int]]:
    """The columns that stand on one line each: all of them where their least widths fit."""
    groups: list[list[int]] = [[]]
    used = 0
    for number, wanted in enumerate(widths):
        least = min(wanted, shape.gives.get(number, wanted))
        needed = least + len(_GAP) * bool(groups[-1])
        if groups[-1] and shape.width is not None and used + needed > shape.width:
            groups.append([])
            used, needed = len(_INDENT), least
        groups[-1].append(number)
        used += needed
    return groups


def _shorten(widths: list[int], group: list[int], shape: Shape) -> None:
    """Take columns of the terminal from the widest text of a line, until the line fits."""
    if shape.width is None:
        return
    room = shape.width - len(_GAP) * (len(group) - 1) - len(_INDENT) * (group[0] > 0)
    while (over := sum(widths[number] for number in group) - room) > 0:
        giving = [number for number in group if widths[number] > shape.gives.get(number, widths[number])]
        if not giving:  # a single id that is wider than the terminal
            widths[group[0]] = max(widths[group[0]] - over, 1)
            return
        giving.sort(key=lambda number: widths[number])
        widest = giving[-1]
        next_width = max((widths[number] for number in giving[:-1]), default=0)
        least = max(shape.gives[widest], widths[widest] - over)
        widths[widest] = max(least, min(next_width, widths[widest] - 1))


def _line(row: tuple[str, ...], taken: list[int], widths: list[int], shape: Shape, group: list[int]) -> str:
    cells = []
    for number in group:
        cell, size = row[number], taken[number]
        if size > widths[number]:
            cell = cut(click.unstyle(cell), widths[number])
            size = width_of(cell)
        gap = " " * (widths[number] - size)
        cells.append(gap + cell if number in shape.right else cell + gap)
    return (_INDENT * (group[0] > 0) + _GAP.join(cells)).rstrip()
