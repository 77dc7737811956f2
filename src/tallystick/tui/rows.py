"""A pane of rows: one of them chosen, any number of them, drawn line by line.

Owns moving through rows and drawing only those that are seen: how many there are costs nothing. Must not know what a row is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.style import Style
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from tallystick.tui.theme import CHOSEN, DIM, KEPT, Piece, strip_of


class Rows(ScrollView, can_focus=True):
    """A pane of rows."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,j", "move(1)", show=False),
        Binding("up,k", "move(-1)", show=False),
        Binding("pagedown,space", "page(1)", show=False),
        Binding("pageup,b", "page(-1)", show=False),
        Binding("home,g", "first", show=False),
        Binding("end,G", "last", show=False),
        Binding("enter", "choose", show=False),
    ]

    class Moved(Message):
        """Another row was chosen."""

        def __init__(self, rows: Rows, row: int) -> None:
            super().__init__()
            self.rows = rows
            self.row = row

        @property
        def control(self) -> Rows:
            """The pane."""
            return self.rows

    class Chosen(Moved):
        """Enter was pressed on a row."""

    def __init__(self, *, id: str, empty: str = "") -> None:
        super().__init__(id=id)
        self.row = 0
        self.count = 0
        self.empty = empty
        """What the pane says that has no rows."""

    # What is shown --------------------------------------------------------------------------------------------------

    def pieces(self, row: int, width: int) -> Sequence[Piece]:
        """What is drawn for a row. For the kinds of panes to say."""
        raise NotImplementedError

    @property
    def columns(self) -> int:
        """How many columns there are for a row."""
        return max(self.scrollable_content_region.width, 1)

    @property
    def lines(self) -> int:
        """How many rows are seen at once."""
        return max(self.scrollable_content_region.height, 1)

    def show(self, count: int, *, row: int | None = None) -> None:
        """Say how many rows there are now, and which one is chosen."""
        self.count = count
        self.virtual_size = Size(1, count)
        self.go(self.row if row is None else row, tell=False)
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """One line of the pane."""
        row, width = self.scroll_offset.y + y, self.columns
        if row >= self.count:
            return strip_of([(self.empty, DIM)] if y == 0 and not self.count else [], width)
        return strip_of(self.pieces(row, width), width, self.style_of(row))

    def style_of(self, row: int) -> Style | None:
        """How a whole row looks; None: as its pieces say."""
        if row != self.row:
            return None
        if self.has_focus:
            return CHOSEN
        return KEPT

    # Moving ---------------------------------------------------------------------------------------------------------

    def go(self, row: int, *, tell: bool = True) -> None:
        """Choose a row, and scroll no further than it takes to see it."""
        before, self.row = self.row, min(max(row, 0), max(self.count - 1, 0))
        top = self.scroll_offset.y
        if self.row < top:
            top = self.row
        elif self.row >= top + self.lines:
            top = self.row - self.lines + 1
        if top != self.scroll_offset.y:
            self.scroll_to(y=top, animate=False, force=True)
        if self.row != before:
            self.refresh_lines(before)
            self.refresh_lines(self.row)
        if tell:
            self.post_message(self.Moved(self, self.row))

    def on_resize(self) -> None:
        """The chosen row stays in sight."""
        self.go(self.row, tell=False)

    def on_focus(self) -> None:
        """The chosen row looks otherwise in the pane that has the keys."""
        self.refresh()

    def on_blur(self) -> None:
        """Likewise."""
        self.refresh()

    def action_move(self, by: int) -> None:
        """One row further."""
        self.go(self.row + by)

    def action_page(self, by: int) -> None:
        """One page further; the last row of the page before stays in sight."""
        step = max(self.lines - 1, 1) * by
        if self.count > self.lines:
            top = min(max(self.scroll_offset.y + step, 0), self.count - self.lines)
            self.scroll_to(y=top, animate=False, force=True)
        self.go(self.row + step)

    def action_first(self) -> None:
        """The first row."""
        self.go(0)

    def action_last(self) -> None:
        """The last row."""
        self.go(self.count - 1)

    def action_choose(self) -> None:
        """What Enter does on a row."""
        if self.count:
            self.post_message(self.Chosen(self, self.row))
