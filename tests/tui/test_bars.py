"""The lines that stand still, and the one that is typed in."""

import asyncio
import re

from textual.app import App, ComposeResult

from tallystick.tui.bars import Bar, Prompt, hint_pieces
from tallystick.tui.theme import PLAIN


class Host(App[None]):
    def __init__(self) -> None:
        super().__init__()
        self.left = 0
        self.meant: list[str] = []

    def compose(self) -> ComposeResult:
        yield Bar(lambda width: [(f"{width} columns \x1b[31m", PLAIN)], id="bar")
        yield Prompt()

    def on_prompt_left(self) -> None:
        self.left += 1

    def on_input_submitted(self, event: Prompt.Submitted) -> None:
        self.meant.append(event.value)


def typed(*keys: str, text: str = "", chosen: bool = False) -> Host:
    async def run() -> Host:
        app = Host()
        async with app.run_test(size=(60, 10)) as pilot:
            prompt = app.query_one(Prompt)
            prompt.begin("search", text, "", chosen=chosen)
            await pilot.pause()
            for key in keys:
                await pilot.press(key)
            await pilot.pause()
        return app

    return asyncio.run(run())


def test_a_line_is_asked_with_its_width_and_shows_what_it_is_told() -> None:
    async def run() -> str:
        app = Host()
        async with app.run_test(size=(60, 10)) as pilot:
            await pilot.pause()
            return app.query_one(Bar).render_line(0).text

    assert re.match(r"\d+ columns ␛\[31m *$", asyncio.run(run()))


def test_what_is_typed_is_meant_on_enter_and_not_on_escape() -> None:
    assert typed("a", "b", "enter").meant == ["ab"]
    left = typed("a", "escape")
    assert (left.meant, left.left) == ([], 1)


def test_what_it_begins_with_is_gone_on_from_or_replaced() -> None:
    assert typed("x", "enter", text="on").meant == ["onx"]
    assert typed("x", "enter", text="on", chosen=True).meant == ["x"]


def test_the_hints_begin_with_how_to_leave() -> None:
    assert "".join(text for text, _ in hint_pieces(80)).startswith("q quit  ? help")
