"""Lines that stand still: what is open, its verdict, what was just said, what the keys do; and the line that is typed in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from typing import ClassVar
from weakref import WeakSet

from textual.binding import BindingType
from textual.events import Key
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Input
from textual.widgets.input import Selection

from tallystick.tui.keys import hints
from tallystick.tui.theme import BOLD, DIM, Piece, strip_of


class Bar(Widget):
    """One line. What it says is asked for when it is drawn, with how many columns there are."""

    def __init__(self, says: Callable[[int], Sequence[Piece]], *, id: str) -> None:
        super().__init__(id=id)
        self._says = says

    def render_line(self, y: int) -> Strip:
        """The line."""
        width = self.size.width
        return strip_of(self._says(width) if y == 0 else [], width)


def hint_pieces(_: int) -> list[Piece]:
    """The keys that are used most."""
    pieces: list[Piece] = []
    for key, word in hints():
        pieces += [(key, BOLD), (f" {word}  ", DIM)]
    return pieces


class Prompt(Input):
    """The line that is typed in; it is there only while someone types."""

    BINDINGS: ClassVar[list[BindingType]] = [("escape", "leave", "")]

    def __init__(self) -> None:
        super().__init__(id="prompt", compact=True, select_on_focus=False)
        self.purpose = ""
        self._had: WeakSet[Key] = WeakSet()

    def begin(self, purpose: str, text: str, placeholder: str, *, chosen: bool = False) -> None:
        """Ask for something, beginning with a text. `chosen`: what is typed takes its place, unless one moves in it first."""
        self.purpose = purpose
        self.placeholder = placeholder
        self.value = text
        self.selection = Selection(0 if chosen else len(text), len(text))
        self.display = True
        self.screen.set_focus(self)  # at once: the next key may be here already

    def end(self) -> None:
        """Stop asking."""
        self.purpose = ""
        self.display = False

    def on_key(self, event: Key) -> None:
        """A key that was meant for the line."""
        self._had.add(event)

    def takes_late(self, event: Key) -> bool:
        """Whether a key that came to another pane was typed behind the one that began this line: then it has it now."""
        if not self.purpose or event in self._had:
            return False
        self.post_message(copy(event).stop(False))
        return True

    def action_leave(self) -> None:
        """Escape: nothing was meant."""
        self.post_message(self.Left())

    class Left(Message):
        """Escape was pressed."""
