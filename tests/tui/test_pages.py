"""Screens on top: read, chosen from, left."""

import asyncio

from textual.app import App

from tallystick.tui.pages import Choice, Page
from tallystick.tui.theme import PLAIN
from tests.support.cases import each

LINES = [[(f"line {n}", PLAIN)] for n in range(100)]


def chosen(*keys: str, lines: list[list[tuple[str, object]]] | None = None) -> list[int | None]:
    async def run() -> list[int | None]:
        app, found = App[None](), list[int | None]()
        async with app.run_test(size=(40, 10)) as pilot:
            app.push_screen(Choice("title", LINES if lines is None else [], empty="nothing"), found.append)
            await pilot.pause()
            for key in keys:
                await pilot.press(key)
            await pilot.pause()
        return found

    return asyncio.run(run())


@each(
    "keys, row",
    [(("enter",), 0), (("j", "j", "enter"), 2), (("G", "enter"), 99), (("escape",), None), (("j", "q"), None)],
)
def test_a_row_is_chosen_or_none_is(keys: tuple[str, ...], row: int | None) -> None:
    assert chosen(*keys) == [row]


def test_of_no_rows_none_is_chosen() -> None:
    assert chosen("enter", "escape", lines=[]) == [None]


def test_a_text_is_scrolled_to_its_end_and_no_further() -> None:
    async def run() -> tuple[int, int]:
        app = App[None]()
        async with app.run_test(size=(40, 10)) as pilot:
            page = Page("title", LINES)
            app.push_screen(page)
            await pilot.pause()
            await pilot.press("G", "j", "pagedown")
            await pilot.pause()
            text = page.query_one("#page_text")
            return text.scroll_offset.y, text.size.height

    top, seen = asyncio.run(run())
    assert top + seen == 100
