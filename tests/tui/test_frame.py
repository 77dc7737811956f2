"""Doing things beside the keys, and telling what went wrong."""

import asyncio

import pytest
from textual.pilot import Pilot

from tallystick.errors import NotFoundError
from tallystick.journal.home import Home
from tests.tui.conftest import app_of, lines, play, press, settled


def test_what_is_begun_again_takes_the_place_of_what_was_begun(store: Home) -> None:
    done: list[int] = []

    async def work(n: int) -> None:
        await asyncio.sleep(0.05)
        done.append(n)

    async def script(pilot: Pilot[None]) -> None:
        for n in range(5):
            app_of(pilot).begin("the same", work(n))
        app_of(pilot).begin("another", work(99))
        await settled(pilot)

    play(store, script)
    assert done == [4, 99]


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (NotFoundError("gone \x1b[31m", hint="look elsewhere"), "✕ gone ␛[31m → look elsewhere"),
        (PermissionError(13, "Permission denied", "/store/graph.db"), "✕ /store/graph.db: Permission denied"),
    ],
)
def test_an_error_is_told_with_what_to_do_and_nothing_ends(store: Home, error: Exception, said: str) -> None:
    async def fail() -> None:
        raise error

    async def script(pilot: Pilot[None]) -> tuple[str, int]:
        app_of(pilot).begin("fail", fail())
        await settled(pilot)
        told = " ".join(" ".join(lines(pilot)[-2:]).split())
        await press(pilot, "j")
        return told, app_of(pilot).timeline.row

    told, row = play(store, script)
    assert said in told
    assert row == 1


def test_a_fault_of_ours_is_told_in_one_line(store: Home) -> None:
    async def fail() -> None:
        raise ZeroDivisionError("by zero")

    async def script(pilot: Pilot[None]) -> str:
        app_of(pilot).begin("fail", fail())
        await settled(pilot)
        app_of(pilot).fault = None
        return lines(pilot)[-2]

    assert "✕ internal error: ZeroDivisionError: by zero" in play(store, script)


def test_progress_is_told_and_ends_with_the_screen(store: Home) -> None:
    async def script(pilot: Pilot[None]) -> str:
        app = app_of(pilot)
        told = app.progress(app.work_lane, "reading")
        told(2_500_000)
        await pilot.pause()
        return lines(pilot)[-2]

    assert "reading: 2.5 MB read" in play(store, script)


def test_tab_goes_from_pane_to_pane(store: Home) -> None:
    async def script(pilot: Pilot[None]) -> list[str | None]:
        await press(pilot, "enter")
        found = []
        for _ in range(4):
            found.append(app_of(pilot).focused)
            await press(pilot, "tab")
        return [widget.id if widget is not None else None for widget in found]

    assert play(store, script) == ["timeline", "detail", "tree", "timeline"]
