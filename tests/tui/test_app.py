"""What is seen, compared with pictures that were looked at; and the keys that belong to no other module."""

import asyncio
import base64
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from textual.binding import Binding
from textual.pilot import Pilot

from tallystick.journal.home import Home
from tallystick.recording.recorder import Recorder
from tallystick.tui.app import help_text
from tallystick.tui.keys import PANES, SIGNS, bindings
from tallystick.tui.pages import Page
from tallystick.workspace import settings
from tests.tui.conftest import LARGE, SMALL, VERIFYING, app_of, counting, lines, play, press, seen, settled
from tests.tui.hostile import make_hostile

Snap = Callable[..., None]
HEADLESS = "78dde6e5"


both_sizes = pytest.mark.parametrize("size", [pytest.param(SMALL, id="80x24"), pytest.param(LARGE, id="120x40")])
small_first = pytest.mark.parametrize(
    "size", [pytest.param(SMALL, id="80x24"), pytest.param(LARGE, id="120x40", marks=pytest.mark.soak)]
)


@both_sizes
def test_opened(store: Home, snap: Snap, size: tuple[int, int]) -> None:
    snap(store, size=size)


@both_sizes
def test_a_failure_with_its_detail(store: Home, snap: Snap, size: tuple[int, int]) -> None:
    snap(store, "e", *(["enter"] if size == SMALL else []), size=size)


@small_first
def test_a_filter(store: Home, snap: Snap, size: tuple[int, int]) -> None:
    snap(store, "f", "=type:tool_call tool:exec_command", "enter", size=size)


@small_first
def test_a_search(store: Home, snap: Snap, size: tuple[int, int]) -> None:
    snap(store, "slash", "=python", "enter", "n", size=size)


@small_first
def test_help(store: Home, snap: Snap, size: tuple[int, int]) -> None:
    snap(store, "question_mark", size=size)


@small_first
def test_settings_refuse_a_bad_value(
    store: Home, snap: Snap, size: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    few = tuple(one for one in settings.SETTINGS if one.key in ("journal.fsync", "output.limit", "policy.hosts"))
    monkeypatch.setattr(settings, "SETTINGS", few)  # whatever other settings there are
    snap(store, "s", "enter", "=perhaps", "enter", size=size)


@small_first
def test_the_verdict_on_what_was_tampered_with(store: Home, snap: Snap, size: tuple[int, int]) -> None:
    path = store.journal("b9f45679" + _rest(store, "b9f45679"))
    assert path is not None
    path.write_bytes(path.read_bytes().replace(b"CSV export", b"TSV export", 1))
    snap(store, "v", size=size, asked="b9f45679")


def test_a_store_with_nothing_in_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, snap: Snap) -> None:
    monkeypatch.chdir(tmp_path)
    with Recorder(Path("store")):
        pass
    snap(Home(Path("store")))


def test_one_session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, snap: Snap) -> None:
    monkeypatch.chdir(tmp_path)
    with counting(), Recorder(Path("store")) as recorder, recorder.session("demo", "only") as session:
        session.prompt("Say hello.")
    snap(Home(Path("store")))


def test_no_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, snap: Snap) -> None:
    monkeypatch.chdir(tmp_path)
    snap(Home(Path("store")))


def test_checkpoints(store: Home, snap: Snap) -> None:
    snap(store, "m", asked=HEADLESS)


def _rest(store: Home, beginning: str) -> str:
    return next(sid for sid, _ in store.sessions() if sid.startswith(beginning))[len(beginning) :]


# Following ------------------------------------------------------------------------------------------------------------


def test_what_is_recorded_now_is_seen_now_by_who_is_at_the_end(tmp_path: Path) -> None:
    with Recorder(tmp_path / "store") as recorder:
        session = recorder.session("demo", "live")
        session.prompt("first")

        async def script(pilot: Pilot[None]) -> tuple[int, int, str]:
            await press(pilot, "F")
            for n in range(30):
                session.prompt(f"told later {n}")
            await until(pilot, lambda: app_of(pilot).timeline.count >= 32)
            at_end = app_of(pilot).timeline.row
            await press(pilot, "g")
            session.prompt("and another")
            await until(pilot, lambda: app_of(pilot).timeline.count >= 33)
            return at_end, app_of(pilot).timeline.row, seen(pilot)

        at_end, after, text = play(Home(tmp_path / "store"), script)
    assert at_end == 31
    assert after == 0, "who scrolled up stays there"
    assert "following" in text


def test_sessions_that_begin_while_one_follows_come_into_the_list(tmp_path: Path) -> None:
    with Recorder(tmp_path / "store") as recorder:
        recorder.session("demo", "one").prompt("first")

        async def script(pilot: Pilot[None]) -> int:
            await press(pilot, "F")
            recorder.session("demo", "two").prompt("second")
            await until(pilot, lambda: app_of(pilot).sessions.count == 2)
            await press(pilot, "F")
            return app_of(pilot).sessions.count

        assert play(Home(tmp_path / "store"), script) == 2


def test_a_session_that_goes_on_while_one_follows_is_shown_as_it_is_now(tmp_path: Path) -> None:
    with Recorder(tmp_path / "store") as recorder:
        recorder.session("demo", "one").prompt("first")

        async def script(pilot: Pilot[None]) -> list[str]:
            await press(pilot, "F")
            other = recorder.session("demo", "two")
            await until(pilot, lambda: app_of(pilot).sessions.count == 2)
            other.prompt("second")
            other.close()
            await until(pilot, lambda: "completed" in {line.session.status for line in app_of(pilot).sessions.all})
            await press(pilot, "F")
            return sorted(f"{line.session.status} {line.session.title}" for line in app_of(pilot).sessions.all)

        assert play(Home(tmp_path / "store"), script) == ["active first", "completed second"]


async def until(pilot: Pilot[Any], holds: Callable[[], bool]) -> None:
    for _ in range(2000):
        if holds():
            await settled(pilot)
            return
        await asyncio.sleep(0.01)
    raise AssertionError("it did not come")


# The rest -------------------------------------------------------------------------------------------------------------


def test_copying_a_step_goes_to_the_terminal_and_onto_the_screen(store: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    async def script(pilot: Pilot[None]) -> tuple[str, str, list[str]]:
        written: list[str] = []
        driver = app_of(pilot)._driver
        assert driver is not None
        monkeypatch.setattr(driver, "write", written.append)
        await press(pilot, "y")
        row = app_of(pilot).timeline.get(0)
        assert row is not None
        return row.hash, lines(pilot)[-2], written

    digest, status, written = play(store, script)
    assert f"copied {digest}" in status
    assert f"\x1b]52;c;{base64.b64encode(digest.encode()).decode()}\a" in written


def test_the_list_of_sessions_can_give_its_columns_to_the_steps(store: Home) -> None:
    async def script(pilot: Pilot[None]) -> tuple[int, int]:
        narrow = app_of(pilot).timeline.columns
        await press(pilot, "t")
        return narrow, app_of(pilot).timeline.columns

    narrow, wide = play(store, script)
    assert narrow < 60 <= wide


@pytest.mark.parametrize("key", ["q", "ctrl+c"])
def test_it_is_left_by(store: Home, key: str) -> None:
    async def script(pilot: Pilot[None]) -> object:
        await pilot.press(key)
        await pilot.pause()
        return app_of(pilot)._exit

    assert play(store, script) is True


@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.soak) for seed in (0, 2))])
def test_whatever_is_pressed_at_whatever_size_nothing_breaks(tmp_path: Path, seed: int) -> None:
    make_hostile(tmp_path / "store")
    chance = random.Random(seed)
    bound = [key for binding in bindings() if isinstance(binding, Binding) for key in binding.key.split(",")]
    keys = [*(key for key in bound if key != "q"), *"jkgGab12u", "tab", "enter", "escape", "pagedown", "left", "right"]

    async def script(pilot: Pilot[None]) -> None:
        for _ in range(50):
            await pilot.press(chance.choice(keys))
            if chance.random() < 0.05:
                await pilot.resize_terminal(chance.randint(5, 140), chance.randint(3, 50))
        await settled(pilot, VERIFYING)

    play(Home(tmp_path / "store"), script)


def test_without_colour_the_screen_says_the_same(store: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    async def script(pilot: Pilot[None]) -> tuple[str, set[str]]:
        await press(pilot, "e")
        await settled(pilot)
        colors: set[str] = set()
        for strip in pilot.app.screen._compositor.render_strips():
            segments = list(strip)
            for one in pilot.app.get_line_filters():
                segments = one.apply(segments, pilot.app.screen.background_colors[1])
            styles = [segment.style for segment in segments if segment.style is not None]
            colors |= {str(look.color) for look in styles if look.color is not None and not look.color.is_default}
        return seen(pilot), colors

    with_color, some = play(store, script)
    monkeypatch.setenv("NO_COLOR", "1")
    without, none = play(store, script)
    assert without == with_color
    assert some != set()
    assert none == set()
    assert "✕" in without


def test_every_key_and_every_sign_is_in_it() -> None:
    text = "\n".join("".join(part for part, _ in line) for line in help_text())
    for _, keys in PANES:
        for key in keys:
            assert key.shown in text
            assert key.does in text
    for signs, meaning in SIGNS:
        assert signs in text
        assert meaning in text


def test_it_is_left_by_the_same_keys_as_every_page(store: Home) -> None:
    async def script(pilot: Pilot[None]) -> list[bool]:
        found = []
        for key in ("escape", "q", "question_mark"):
            await press(pilot, "question_mark")
            found.append(isinstance(app_of(pilot).screen, Page))
            await press(pilot, key)
            found.append(isinstance(app_of(pilot).screen, Page))
        return found

    assert play(store, script) == [True, False] * 3
