"""Screens on top of the steps: a text, or a list of which one row is chosen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import Screen

from tallystick.tui.bars import Bar
from tallystick.tui.detail import Text
from tallystick.tui.rows import Rows
from tallystick.tui.theme import BOLD, DIM, Piece


class Page(Screen[None]):
    """A text that is read and left."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q,question_mark,v", "leave", show=False)]

    def __init__(self, title: str, text: Sequence[list[Piece]]) -> None:
        super().__init__()
        self._title = title
        self._text = text

    def compose(self) -> ComposeResult:
        """A title, the text, how to leave."""
        yield Bar(lambda _: [(f" {self._title}", BOLD)], id="page_title")
        yield Text(id="page_text")
        yield Bar(
            lambda _: [(" Esc", BOLD), (" back   ", DIM), ("j k PgDn PgUp", BOLD), (" move", DIM)], id="page_keys"
        )

    def on_mount(self) -> None:
        """The text has the keys."""
        text = self.query_one(Text)
        text.tell(self._text)
        text.focus()

    def action_leave(self) -> None:
        """Back to the steps."""
        self.dismiss()


class Lines(Rows):
    """Rows of pieces that are all there."""

    def __init__(self, lines: Sequence[list[Piece]], *, id: str, empty: str) -> None:
        super().__init__(id=id, empty=empty)
        self._lines = lines

    def on_mount(self) -> None:
        """They are there from the start."""
        self.show(len(self._lines))

    def pieces(self, row: int, width: int) -> list[Piece]:
        """One of them."""
        return self._lines[row]


class Choice(Screen[int | None]):
    """A list of which one row is chosen: its number is the answer, None if none was."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q,m", "leave", show=False)]

    def __init__(self, title: str, lines: Sequence[list[Piece]], *, empty: str) -> None:
        super().__init__()
        self._title = title
        self._lines = lines
        self._empty = empty

    def compose(self) -> ComposeResult:
        """A title, the rows, the keys."""
        yield Bar(lambda _: [(f" {self._title}", BOLD)], id="page_title")
        yield Lines(self._lines, id="choice", empty=self._empty)
        yield Bar(lambda _: [(" Enter", BOLD), (" go there   ", DIM), ("Esc", BOLD), (" back", DIM)], id="page_keys")

    def on_mount(self) -> None:
        """The rows have the keys."""
        self.query_one(Lines).focus()

    def on_rows_chosen(self, event: Rows.Chosen) -> None:
        """Enter."""
        self.dismiss(event.row)

    def action_leave(self) -> None:
        """None of them."""
        self.dismiss(None)
