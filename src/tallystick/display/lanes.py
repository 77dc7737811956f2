"""Lanes: a graph of steps drawn beside their lines, newest first, as version control draws its history.

Owns which lane a step is in, and the characters that join lanes. Must not know what a step is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec

_UP, _DOWN, _LEFT, _RIGHT = 1, 2, 4, 8
_CHARACTERS = {
    0: " ",
    _UP: "╵",
    _DOWN: "╷",
    _UP | _DOWN: "│",
    _LEFT: "─",
    _RIGHT: "─",
    _LEFT | _RIGHT: "─",
    _UP | _LEFT: "╯",
    _UP | _RIGHT: "╰",
    _DOWN | _LEFT: "╮",
    _DOWN | _RIGHT: "╭",
    _UP | _DOWN | _RIGHT: "├",
    _UP | _DOWN | _LEFT: "┤",
    _UP | _LEFT | _RIGHT: "┴",
    _DOWN | _LEFT | _RIGHT: "┬",
    _UP | _DOWN | _LEFT | _RIGHT: "┼",
}
NODE = "●"
MOST_LANES = 16


class Node(msgspec.Struct, frozen=True):
    """Something with a name, and the names of what it follows from, the main one first."""

    name: str
    parents: tuple[str, ...]


class Drawn(msgspec.Struct, frozen=True, kw_only=True):
    """A node in its lane.

    `joins` are the lanes that end in it: others that follow from it. `parents` are the lanes in which what it follows from
    comes below, the main one first; `open` the lanes that go on below it. `above`, `line` and `below` are what is drawn.
    """

    lane: int
    joins: tuple[int, ...]
    parents: tuple[int, ...]
    open: tuple[int, ...]
    above: tuple[str, ...]
    line: str
    below: tuple[str, ...]


def drawn(nodes: Sequence[Node], *, most: int = MOST_LANES) -> Iterator[Drawn]:
    """The nodes in lanes. Each must stand before what it follows from; parents that are not among them are not drawn.

    Args:
        most: lanes that are drawn. What lies further right is hinted at by `…`, and has its number all the same.
    """
    known = {node.name for node in nodes}
    lanes = _Lanes(most)
    for node in nodes:
        parents = tuple(dict.fromkeys(name for name in node.parents if name in known and name != node.name))
        yield lanes.take(node.name, parents)


class _Lanes:
    """The lanes at some place: of each the name of what comes below in it."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._lanes: list[str | None] = []
        self._where: dict[str, list[int]] = {}
        """By name the lanes in which it is awaited."""

    def take(self, name: str, parents: tuple[str, ...]) -> Drawn:
        awaited = sorted(self._where.pop(name, ()))
        if awaited:
            lane = awaited[0]
        else:
            lane = self._free()
        joins = tuple(awaited[1:])
        if joins:
            above = self._connector(lane, ends=joins)
        else:
            above = ()
        for other in joins:
            self._lanes[other] = None
        self._lanes[lane] = name
        line = self._row(lane)
        first, *others = parents or (None,)
        self._put(lane, first)
        targets: list[int] = []
        if first is not None:
            targets = [lane]
        begun: list[int] = []
        for parent in others:
            known = self._where.get(parent or "")
            if known:
                target = known[0]
            else:
                target = self._free()
                self._put(target, parent)
                begun.append(target)
            targets.append(target)
        extra = [target for target in targets if target != lane]
        if extra:
            below = self._connector(lane, begins=begun, meets=[target for target in extra if target not in begun])
        else:
            below = ()
        while self._lanes and self._lanes[-1] is None:
            self._lanes.pop()
        open_ = tuple(number for number, awaiting in enumerate(self._lanes) if awaiting is not None)
        return Drawn(lane=lane, joins=joins, parents=tuple(targets), open=open_, above=above, line=line, below=below)

    def _put(self, lane: int, name: str | None) -> None:
        self._lanes[lane] = name
        if name is not None:
            self._where.setdefault(name, []).append(lane)

    def _free(self) -> int:
        """The first lane in which nothing is awaited."""
        for number, name in enumerate(self._lanes):
            if name is None:
                return number
        self._lanes.append(None)
        return len(self._lanes) - 1

    # Drawing --------------------------------------------------------------------------------------------------------

    def _running(self) -> list[int]:
        """The lanes as they go on from one line to the next."""
        return [(name is not None) * (_UP | _DOWN) for name in self._lanes]

    def _row(self, lane: int) -> str:
        cells = self._running()
        return self._line_text(cells, node=lane).rstrip() + " "

    def _connector(
        self, lane: int, *, ends: Iterable[int] = (), begins: Iterable[int] = (), meets: Iterable[int] = ()
    ) -> tuple[str, ...]:
        """One line on which lanes end in a lane, or begin from it, or are met by it."""
        ends, begins, meets = set(ends), set(begins), set(meets)
        cells = self._running()
        for number in begins:
            cells[number] = _DOWN
        for number in ends:
            cells[number] = _UP
        cells[lane] |= _UP
        if not (begins or meets):
            cells[lane] |= _DOWN
        reached = ends | begins | meets
        low, high = min(lane, *reached), max(lane, *reached)
        for number in range(low, high + 1):
            cells[number] |= (number > low) * _LEFT | (number < high) * _RIGHT
        return (self._line_text(cells).rstrip(),)

    def _line_text(self, cells: list[int], *, node: int | None = None) -> str:
        most, parts = self._most, list[str]()
        for number, cell in enumerate(cells[:most]):
            if number == node:
                parts.append(NODE)
            else:
                parts.append(_CHARACTERS[cell])
            if cell & _RIGHT:
                parts.append("─")
            else:
                parts.append(" ")
        if node is not None and node >= most:
            parts.append("…" + NODE)
        elif any(cells[most:]):
            parts.append("…")
        return "".join(parts)
