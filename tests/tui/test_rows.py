"""Moving through rows, however many there are."""

import asyncio
from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st
from textual.app import App, ComposeResult
from textual.events import Key

from tallystick.tui.rows import Rows
from tallystick.tui.theme import PLAIN, Piece
from tests.support.cases import each
from tests.support.laws import examples

MANY = 1_000_000


class Numbers(Rows):
    def __init__(self) -> None:
        super().__init__(id="numbers", empty="none")
        self.drawn: set[int] = set()

    def pieces(self, row: int, width: int) -> Sequence[Piece]:
        self.drawn.add(row)
        return [(str(row), PLAIN)]


class Host(App[None]):
    def compose(self) -> ComposeResult:
        yield Numbers()


def after(*keys: str, count: int = MANY, waits: bool = False) -> tuple[int, int, set[int]]:
    """The chosen row, the first one that is seen, and those that were drawn; `waits`: after each key, until all is drawn."""

    async def run() -> tuple[int, int, set[int]]:
        app = Host()
        async with app.run_test(size=(40, 10)) as pilot:
            rows = app.query_one(Numbers)
            rows.show(count)
            rows.focus()
            await pilot.pause()
            for key in keys:
                app.post_message(Key(key, key))
                if waits:
                    await pilot.pause()
            await pilot.pause()
            await pilot.pause()
            return rows.row, rows.scroll_offset.y, rows.drawn

    return asyncio.run(run())


@each(
    "keys, row, top",
    [
        ((), 0, 0),
        (("j",), 1, 0),
        (("down", "j", "k", "up"), 0, 0),
        (("k",), 0, 0),
        (("G",), MANY - 1, MANY - 10),
        (("end", "k"), MANY - 2, MANY - 10),
        (("end", "j"), MANY - 1, MANY - 10),
        (("end", "home"), 0, 0),
        (("pagedown",), 9, 9),
        (("pagedown", "space"), 18, 18),
        (("pagedown", "b"), 0, 0),
        (("j",) * 12, 12, 3),
    ],
)
def test_keys_move_and_the_chosen_row_is_in_sight(keys: tuple[str, ...], row: int, top: int) -> None:
    assert after(*keys)[:2] == (row, top)


def test_of_a_million_rows_only_those_are_drawn_that_are_seen() -> None:
    assert len(after("G", "g", "pagedown", waits=True)[2]) <= 5 * 10


def test_no_rows_are_no_trouble() -> None:
    assert after("j", "G", "pagedown", "enter", count=0)[:2] == (0, 0)


def test_fewer_rows_than_before_leave_the_last_one_chosen() -> None:
    async def run() -> int:
        app = Host()
        async with app.run_test(size=(40, 10)) as pilot:
            rows = app.query_one(Numbers)
            rows.show(100)
            rows.go(99)
            await pilot.pause()
            rows.show(5)
            await pilot.pause()
            return rows.row

    assert asyncio.run(run()) == 4


@settings(max_examples=examples(20))
@given(st.lists(st.sampled_from(("j", "k", "pagedown", "pageup", "G", "g")), max_size=6), st.integers(1, 40))
def test_wherever_keys_lead_the_chosen_row_is_there_and_in_sight(keys: list[str], count: int) -> None:
    row, top, _ = after(*keys, count=count)
    assert 0 <= row < count
    assert top <= row < top + 10
