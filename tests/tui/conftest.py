"""The full screen, played: a real store, real keys, and what is then seen.

The store is made of the sample sessions with a clock and seeds that count up, so that ids and times are alike everywhere.
"""

from __future__ import annotations

import asyncio
import itertools
import shutil
import time
from collections.abc import Awaitable, Callable, Iterator
from datetime import UTC
from pathlib import Path
from typing import Any, TypeVar

import pytest
from textual.events import Key
from textual.keys import _character_to_key
from textual.pilot import Pilot
from textual.widgets import Input

from tallystick.ingest.adapters import adapters
from tallystick.ingest.histories import Reading, find_histories, import_histories
from tallystick.journal.archive import Archive
from tallystick.journal.home import Home
from tallystick.review import browse_upkeep
from tallystick.setup.demo import lay_out_samples
from tallystick.tui import app as screen
from tallystick.tui import model
from tallystick.tui.app import Browser
from tests.support.made_once import made_once

_T = TypeVar("_T")
Script = Callable[[Pilot[None]], Awaitable[_T]]

VERIFYING = "verify"
SMALL = (80, 24)
LARGE = (120, 40)
_ROUNDS = 8
"""How often in a row all messages are taken before a screen is called settled: a message gives others, a few times over."""


@pytest.fixture(scope="session")
def steady_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with the sample sessions. Not to be changed: see `store`."""
    return made_once(tmp_path_factory, "steady", _make_steady_store) / ".tally"


def _make_steady_store(folder: Path) -> None:
    lay_out_samples(folder)
    with counting():
        done = import_histories(
            Home(folder / ".tally"), find_histories(folder, (), adapters()), adapters(), Reading(UTC)
        )
    assert not done.report.has_errors


@pytest.fixture
def store(steady_store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    """The store, for one test alone, under a name that is the same everywhere."""
    shutil.copytree(steady_store, tmp_path / "store")
    monkeypatch.chdir(tmp_path)
    return Home(Path("store"))


class counting:  # noqa: N801 - it reads as a sentence
    """Every archive that is opened within has the same clock and seeds."""

    def __enter__(self) -> None:
        ticks, seeds = itertools.count(), itertools.count(1)
        new = {
            "clock": lambda: "2026-11-22T09:{:02}:{:02}.{:03}000Z".format(*_clock(next(ticks))),
            "seeds": lambda: (next(seeds) * 0x9E3779B97F4A7C15F39CC0605CEDC8341082276BF3A27251F86C6A11D0C18E95 % 2**256)
            .to_bytes(32, "big"),
        }  # fmt: skip
        self._before: list[tuple[dict[str, Any], dict[str, Any]]] = []
        for defaults in _defaults():
            self._before.append((defaults, dict(defaults)))
            defaults.update(new)

    def __exit__(self, *_: object) -> None:
        for defaults, before in self._before:
            defaults.update(before)


def _clock(tick: int) -> tuple[int, int, int]:
    return tick // 60_000 % 60, tick // 1000 % 60, tick % 1000


def _defaults() -> Iterator[dict[str, Any]]:
    yield Archive.__init__.__kwdefaults__ or {}
    yield Archive.make.__func__.__kwdefaults__  # type: ignore[attr-defined]


# Playing --------------------------------------------------------------------------------------------------------------


def play(home: Home, script: Script[_T], *, size: tuple[int, int] = SMALL, asked: str | None = None) -> _T:
    """What a script makes of the full screen. A fault of ours ends it."""

    async def run() -> _T:
        app = Browser(home, asked)
        async with app.run_test(size=size) as pilot:
            await settled(pilot, VERIFYING)
            found = await script(pilot)
        if app.fault is not None:
            raise app.fault
        return found

    return asyncio.run(run())


async def settled(pilot: Pilot[Any], *besides: str) -> None:
    """Wait until nothing is being done any more, but what is named, and all messages, with those they gave, are taken.

    Pilot's own pause takes a process that is not given the processor for one that has nothing to do.
    """
    app = pilot.app
    assert isinstance(app, Browser)
    rounds = 0
    for _ in range(20_000):
        if not app.is_settled(*besides):
            rounds = 0
            await asyncio.sleep(0.005)
        elif rounds == _ROUNDS:
            return
        else:
            rounds += 1
            await pilot.pause(0)
    raise AssertionError("it does not come to rest")


async def press(pilot: Pilot[Any], *keys: str) -> None:
    """Press keys; wait after each until it is done, but for the verdict."""
    for key in keys:
        await pilot.press(key)
        await settled(pilot, VERIFYING)


async def write(pilot: Pilot[Any], text: str) -> None:
    """Type a text in one go; wait when it is typed."""
    for character in text:
        pilot.app.post_message(Key(_character_to_key(character), character))
    await pilot.pause()
    await settled(pilot, VERIFYING)


def lines(pilot: Pilot[Any]) -> list[str]:
    """The lines of the screen, as a person sees them."""
    return ["".join(segment.text for segment in strip) for strip in pilot.app.screen._compositor.render_strips()]


def seen(pilot: Pilot[Any]) -> str:
    """All of the screen."""
    return "\n".join(lines(pilot))


def app_of(pilot: Pilot[Any]) -> Browser:
    """What is played."""
    assert isinstance(pilot.app, Browser)
    return pilot.app


@pytest.fixture(autouse=True)
def _threads_of_other_tests_do_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """Textual waits after each key until the process is idle, all threads of it: those of the loop alone are meant."""
    monkeypatch.setattr("textual._wait.process_time", time.thread_time)


@pytest.fixture(autouse=True)
def _nobody_waits_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """What waits until no one moves any more waits shortly; a verdict is reached here, where it would be in a process."""
    monkeypatch.setattr(model, "_SETTLED_S", 0.01)
    monkeypatch.setattr(model, "_GROWN_S", 0.05)
    monkeypatch.setattr(screen, "_EVERY_S", 0.1)
    monkeypatch.setattr(
        browse_upkeep, "in_processes", lambda _, jobs, __: ((n, browse_upkeep.check(job)) for n, job in enumerate(jobs))
    )


@pytest.fixture(autouse=True)
def _no_cursor_blinks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Or a picture depends on how long it took: half a second after the last key there is no cursor in it."""
    monkeypatch.setattr(Input, "_toggle_cursor", lambda _: None)


@pytest.fixture
def snap(snap_compare: Any) -> Callable[..., None]:
    """`snap(home, *keys, size=…)`: what is seen after some keys is what was seen, and looked at, before."""

    def compare(home: Home, *keys: str, size: tuple[int, int] = SMALL, asked: str | None = None) -> None:
        async def run_before(pilot: Pilot[Any]) -> None:
            await settled(pilot)
            for key in keys:
                await (write(pilot, key[1:]) if key.startswith("=") else press(pilot, key))
            await settled(pilot)

        assert snap_compare(Browser(home, asked), terminal_size=size, run_before=run_before)

    return compare
