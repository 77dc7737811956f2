"""The pane of steps: one line each, of a session that may have a million of them.

Owns which steps are held in memory (the blocks around what is seen, no more), how a step looks in a line, and staying
at the end while a session grows. Must not know where steps come from: `Blocks` asks anyone who opened it.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence

import msgspec
from rich.cells import cell_len
from rich.style import Style

from tallystick.display import outcome
from tallystick.display.text import cut, one_line
from tallystick.graph.steps import from_index
from tallystick.review.browse import Line
from tallystick.tui.rows import Rows
from tallystick.tui.theme import BAD, BOLD, DIM, HIT, LINK, PLAIN, Piece, fitted

BLOCK = 64
"""Steps that are read at once."""

_MOST_BLOCKS = 40
_OUTCOME = 240
_QUIET = frozenset(("system", "model_call", "usage", "sighting", "session_start", "session_end"))
_NARROW = 70
_TIMES_FROM = 64


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """A step as a line shows it: texts that are safe, and what it is."""

    n: int
    hash: str
    type: str
    name: str
    when: str
    took: str
    said: str
    is_bad: bool
    is_prompt: bool
    is_quiet: bool
    is_lost: bool
    sessions: tuple[str, ...]

    def holds(self, words: str) -> bool:
        """Whether the line shows some text, in whatever case."""
        return words in f"{self.type} {self.name} {self.said}".lower()


def row_of(line: Line) -> Row:
    """The row of a step. Of one that is not in the journal where the index says: what the index knows."""
    step = line.step or from_index(line.entry)
    return Row(
        n=line.entry.n,
        hash=line.entry.hash,
        type=one_line(step.type),
        name=outcome.name_of(step),
        when=_clock(outcome.when_of(step)),
        took=outcome.duration_of(step),
        said=outcome.outcome_of(step, _OUTCOME)
        if line.step is not None
        else "cannot be read at the place that the index names",
        is_bad=outcome.is_failed(step) or outcome.is_refused(step),
        is_prompt=step.type == "user" and "origin" not in step.meta,
        is_quiet=step.type in _QUIET,
        is_lost=line.step is None,
        sessions=line.sessions,
    )


def _clock(when: str) -> str:
    """The time of day. `[03:04]` is when it was recorded, of steps whose source says no time."""
    if when.startswith("["):
        return f"[{when[12:17]}]"
    return when[11:19]


class Timeline(Rows):
    """The pane of steps. `wants` is called with the number of a block that is to be drawn and is not there."""

    def __init__(self, wants: Callable[[int], None]) -> None:
        super().__init__(id="timeline", empty="loading…")
        self.session: str | None = None
        self.numbers: array[int] | None = None
        """The numbers of the steps that are shown; None: all of the session."""
        self.hits: array[int] = array("L")
        """The numbers of the steps that hold what was searched for."""
        self.words = ""
        self._hit_set: frozenset[int] = frozenset()
        self._wants = wants
        self._blocks: OrderedDict[int, Sequence[Row]] = OrderedDict()
        self._asked: set[int] = set()

    # What is shown --------------------------------------------------------------------------------------------------

    def open(self, session: str | None, size: int, *, numbers: array[int] | None = None, row: int = 0) -> None:
        """Show a session from a row on: all of its `size` steps, or those with some numbers."""
        self.session, self.numbers = session, numbers
        self._blocks.clear()
        self._asked.clear()
        self.show(size if numbers is None else len(numbers), row=row)

    def grow(self, size: int, *, numbers: array[int] | None = None) -> None:
        """The session has more steps now. Who is at the end stays there."""
        at_end = self.row >= self.count - 1
        if numbers is None:
            count = size
        else:
            count = len(numbers)
        self.numbers = numbers
        if count == self.count:
            return
        last = max(self.count - 1, 0) // BLOCK
        for block in [block for block in self._blocks if block >= last]:
            del self._blocks[block]
        self._asked -= {block for block in self._asked if block >= last}
        self.show(count, row=count - 1 if at_end else self.row)
        if at_end:
            self.go(count - 1)

    def number(self, row: int) -> int:
        """The number of the step in a row."""
        if self.numbers is not None and row < len(self.numbers):
            return self.numbers[row]
        return row

    def row_of(self, n: int) -> int | None:
        """The row of a step, by its number; None: it is not among those that are shown."""
        if self.numbers is None:
            if 0 <= n < self.count:
                return n
            return None
        row = bisect_left(self.numbers, n)
        if row < len(self.numbers) and self.numbers[row] == n:
            return row
        return None

    @property
    def step(self) -> int | None:
        """The number of the chosen step."""
        if self.count:
            return self.number(self.row)
        return None

    def numbers_of(self, block: int) -> Sequence[int]:
        """The numbers of the steps in a block."""
        last = min((block + 1) * BLOCK, self.count)
        rows = range(block * BLOCK, last)
        if self.numbers is None:
            return rows
        return self.numbers[block * BLOCK : last]

    def take(self, block: int, rows: Sequence[Row]) -> None:
        """Rows that were wanted."""
        self._asked.discard(block)
        self._blocks[block] = rows
        while len(self._blocks) > _MOST_BLOCKS:
            self._blocks.popitem(last=False)
        self.refresh()

    def give_up(self, block: int) -> None:
        """They cannot be had; they are asked for again when they are drawn again."""
        self._asked.discard(block)

    def get(self, row: int) -> Row | None:
        """A row, if it is there. If it is not, it is asked for."""
        block, place = divmod(row, BLOCK)
        rows = self._blocks.get(block)
        if rows is None:
            if block not in self._asked:
                self._asked.add(block)
                self._wants(block)
            return None
        self._blocks.move_to_end(block)
        if place < len(rows):
            return rows[place]
        return None

    def look_ahead(self) -> None:
        """Ask for what comes before and after what is seen."""
        top, last = self.scroll_offset.y, max(self.count - 1, 0)
        for ahead in (1, 2, 3):
            self.get(min(top + ahead * self.lines, last))
        self.get(max(top - self.lines, 0))

    # Searching ------------------------------------------------------------------------------------------------------

    def seek(self, words: str, hits: Iterable[int] = ()) -> None:
        """Mark the steps that hold some words: those of `hits`, and what is loaded and shows them."""
        self.words = words.lower()
        found = set(hits)
        if self.words:
            found.update(row.n for rows in self._blocks.values() for row in rows if row.holds(self.words))
        self.hits, self._hit_set = array("L", sorted(found)), frozenset(found)
        self.refresh()

    def next_hit(self, by: int) -> int | None:
        """The number of the next hit after (1) or before (-1) the chosen step, going round, or None."""
        shown = [n for n in self.hits if self.numbers is None or self.row_of(n) is not None]
        here = self.step
        if not shown or here is None:
            return None
        after = [n for n in shown if (n > here if by > 0 else n < here)]
        if by > 0:
            if after:
                return after[0]
            return shown[0]
        if after:
            return after[-1]
        return shown[-1]

    # How it looks ---------------------------------------------------------------------------------------------------

    def pieces(self, row: int, width: int) -> list[Piece]:
        """Number, sign, time, type, name, what came of it, how long it took."""
        n = self.number(row)
        digits = max(len(str(self.number(max(self.count - 1, 0)))), 3)
        found = self.get(row)
        if found is None:
            return [(f"{n:>{digits}} ", DIM), ("…", DIM)]
        style = self._look(found)
        is_hit = n in self._hit_set
        when = ""
        if width >= _TIMES_FROM:
            when = f"{found.when:<8} "
        kind_width, took, hit = 14, "", (" ", PLAIN)
        if width < _NARROW:
            kind_width = 13
        if is_hit:
            hit = ("»", HIT)
        if found.took and width >= _NARROW:
            took = f" {found.took}"
        before: list[Piece] = [
            (f"{n:>{digits}}", DIM),
            hit,
            (_sign(found), _sign_style(found)),
            (f" {when}", DIM),
            (f"{fitted(found.type, kind_width)} ", style),
            _name_piece(found),
        ]
        room = width - len(took) - sum(cell_len(text) for text, _ in before)
        return [*before, *self._outcome_pieces(found, style, room), (took, DIM)]

    def _outcome_pieces(self, row: Row, style: Style, room: int) -> list[Piece]:
        said = fitted(row.said, max(room, 4))
        if self.words:
            at = said.lower().find(self.words)
        else:
            at = -1
        if at < 0 or len(said.lower()) != len(said):
            return [(said, style)]
        end = at + len(self.words)
        return [(said[:at], style), (said[at:end], HIT), (said[end:], style)]

    @staticmethod
    def _look(row: Row) -> Style:
        if row.is_bad or row.is_lost:
            return BAD
        if row.is_prompt:
            return BOLD
        if row.is_quiet:
            return DIM
        return PLAIN


def _sign_style(row: Row) -> Style:
    if row.is_bad:
        return BAD
    if row.sessions:
        return LINK
    return PLAIN


def _name_piece(row: Row) -> Piece:
    name, style = "", BOLD
    if row.name:
        name = f"{cut(row.name, 16)} "
    if row.is_quiet:
        style = DIM
    return name, style


def _sign(row: Row) -> str:
    """What a row is, in one column: where colours are off, this says it."""
    if row.is_lost:
        return "?"
    if row.is_bad:
        return "✕"
    if row.sessions:
        return "↳"
    if row.is_prompt:
        return "›"
    return " "
