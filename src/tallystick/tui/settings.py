"""The screen of settings: what each is, what it means, and changing it.

Owns how they are shown and typed. What a setting may be says workspace.settings, which checks before anything is written.
"""

from __future__ import annotations

import asyncio
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import Screen
from textual.widgets import Input

from tallystick.display.text import one_line
from tallystick.errors import TallystickError
from tallystick.journal.home import Home
from tallystick.tui.bars import Bar, Prompt
from tallystick.tui.rows import Rows
from tallystick.tui.theme import BAD, BOLD, DIM, GOOD, PLAIN, Piece, fitted, wrapped
from tallystick.workspace import settings
from tallystick.workspace.settings import Set, Value

_MEANING_LINES = 3


def value_text(value: Value) -> str:
    """A value as it is shown, and typed."""
    if isinstance(value, tuple):
        return one_line(", ".join(value))
    return one_line(str(value))


def _typed(value: Value) -> str:
    """The value to begin typing with: none that would not be the same when it is typed."""
    if isinstance(value, tuple):
        plain = ", ".join(value)
    else:
        plain = str(value)
    if value_text(value) == plain:
        return plain
    return ""


class SettingRows(Rows):
    """All settings."""

    def __init__(self) -> None:
        super().__init__(id="setting_rows", empty="no settings")
        self.found: list[Set] = []

    def pieces(self, row: int, width: int) -> list[Piece]:
        """Key, value, whether it was set."""
        item = self.found[row]
        widest = max(len(one.setting.key) for one in self.found)
        value = value_text(item.value) or "(none)"
        note = ""
        if not item.is_default:
            note = f"  set; the default is {value_text(item.setting.default) or '(none)'}"
        return [
            (f" {item.setting.key:<{widest}}  ", PLAIN),
            (fitted(value, max(12, min(30, width - widest - 6))), DIM if item.is_default else BOLD),
            (note, DIM),
        ]


class Settings(Screen[None]):
    """All settings of a store."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,s", "leave", show=False),
        Binding("u", "unset", show=False),
    ]

    def __init__(self, home: Home) -> None:
        super().__init__()
        self._home = home
        self._said: Piece = ("", PLAIN)
        self._advice = ""

    def compose(self) -> ComposeResult:
        """Title, rows, what the chosen one means, what was said, the line that is typed in, keys."""
        yield Bar(lambda _: [(f" Settings of {one_line(str(self._home.config))}", BOLD)], id="page_title")
        yield SettingRows()
        for number in range(_MEANING_LINES):
            yield Bar(lambda width, number=number: self._meaning(width, number), id=f"meaning{number}")  # type: ignore[misc]
        yield Bar(lambda _: [self._said], id="setting_said")
        yield Bar(lambda _: [(f"   {self._advice}", PLAIN)], id="setting_advice")
        yield Prompt()
        yield Bar(
            lambda _: [
                *((" Enter", BOLD), (" change   ", DIM), ("u", BOLD), (" back to the default   ", DIM)),
                *(("Esc", BOLD), (" leave", DIM)),
            ],
            id="page_keys",
        )

    @property
    def _rows(self) -> SettingRows:
        return self.query_one(SettingRows)

    @property
    def _chosen(self) -> Set | None:
        rows = self._rows
        if rows.row < len(rows.found):
            return rows.found[rows.row]
        return None

    def on_mount(self) -> None:
        """Read them."""
        self.query_one(Prompt).end()
        self._read()
        self._rows.focus()

    def _read(self) -> None:
        try:
            self._rows.found, unknown = settings.read_settings(self._home)
        except (TallystickError, OSError) as error:
            self._tell_error(error)
            return
        self._rows.show(len(self._rows.found))
        if unknown:
            self._report(f"unknown setting {', '.join(map(one_line, unknown))}", bad=True)

    def _meaning(self, width: int, number: int) -> list[Piece]:
        item = self._chosen
        if item is None:
            return []
        lines = list(wrapped([(f" {item.setting.does} Values: {item.setting.takes}.", DIM)], width))
        if number < len(lines):
            return lines[number]
        return []

    def _report(self, text: str, *, bad: bool = False, advice: str = "") -> None:
        self._said = (f" ✔ {one_line(text)}", GOOD)
        if bad:
            self._said = (f" ✕ {one_line(text)}", BAD)
        self._advice = one_line(advice)
        self._redraw()

    def _tell_error(self, error: Exception) -> None:
        self._report(str(error), bad=True, advice=getattr(error, "hint", None) or "")

    def _redraw(self) -> None:
        for bar in self.query(Bar):
            bar.refresh()

    # Changing -------------------------------------------------------------------------------------------------------

    def on_rows_moved(self) -> None:
        """Another one: what it means."""
        self._said, self._advice = ("", PLAIN), ""
        self._redraw()

    def on_rows_chosen(self) -> None:
        """Enter: type a value."""
        item = self._chosen
        if item is not None:
            self.query_one(Prompt).begin("setting", _typed(item.value), item.setting.takes, chosen=True)

    async def on_input_submitted(self, event: Input.Submitted) -> None:
        """Enter in the line: change it, if it may have that value. Else the line stays, with the reason."""
        item = self._chosen
        if item is None:
            return
        from tallystick.setup import change_setting  # it brings the recorder along

        try:
            changed = await asyncio.to_thread(
                change_setting.set_setting, self._home, item.setting.key, event.value.strip()
            )
        except (TallystickError, OSError) as error:
            self._tell_error(error)
            return
        self._done(f"{changed.setting.key} = {value_text(changed.value) or '(none)'}")

    async def action_unset(self) -> None:
        """Back to the default."""
        item = self._chosen
        if item is None:
            return
        from tallystick.setup import change_setting

        try:
            changed = await asyncio.to_thread(change_setting.unset_setting, self._home, item.setting.key)
        except (TallystickError, OSError) as error:
            self._tell_error(error)
            return
        self._done(f"{changed.setting.key} = {value_text(changed.value) or '(none)'}, the default")

    def _done(self, text: str) -> None:
        self.on_prompt_left()
        self._read()
        self._report(text)

    def on_prompt_left(self) -> None:
        """The line is not needed any more."""
        self.query_one(Prompt).end()
        self._rows.focus()

    def action_leave(self) -> None:
        """Back to the steps."""
        self.dismiss()
