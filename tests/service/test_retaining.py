"""Retention, once a day."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from tallystick import Recorder
from tallystick.journal.home import Home
from tallystick.journal.read import read_session
from tallystick.service import retaining
from tallystick.service.retaining import Retaining

DAY = 86_400


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path / "store")
    with Recorder(home.folder) as recorder:
        recorder.session("demo", "one").checkpoint("an old label")
    (home.folder / "run").mkdir(exist_ok=True)
    return home


def labels(home: Home) -> list[str | None]:
    return [
        step.text("content.label")
        for sid, _ in home.sessions()
        for step in read_session(home, sid)
        if step.type == "checkpoint"
    ]


class Clock:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.seconds = time.time()

    def __call__(self) -> float:
        return self.seconds


def test_it_is_due_once_a_day_from_one_recorder_to_the_next(home: Home) -> None:
    clock = Clock()
    dues = [Retaining(home, now=clock).is_due]
    first = Retaining(home, now=clock)
    first.work()
    dues += [first.is_due, Retaining(home, now=clock).is_due]
    clock.seconds += DAY + 1
    dues += [first.is_due, Retaining(home, now=clock).is_due]
    assert dues == [True, False, False, True, True]


def test_a_clock_that_was_ahead_does_not_stop_it_for_ever(home: Home) -> None:
    clock = Clock()
    Retaining(home, now=clock).work()
    os.utime(home.folder / "run" / "pruned", (clock.seconds + 400 * DAY,) * 2)
    again = Retaining(home, now=clock)
    clock.seconds += DAY + 1
    assert again.is_due


def test_what_is_old_is_dropped(home: Home) -> None:
    clock = Clock()
    Retaining(home, now=clock).work()
    assert labels(home) == ["an old label"]
    clock.seconds += 31 * DAY
    Retaining(home, now=clock).work()
    assert labels(home) == [None]


def test_of_very_much_a_part_is_dropped_and_soon_the_rest(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retaining, "_MOST_AT_ONCE", 2)
    with Recorder(home.folder) as recorder:
        for name in ("two", "three"):
            recorder.session("demo", name).checkpoint("an old label")
    clock = Clock()
    clock.seconds += 31 * DAY
    due = Retaining(home, now=clock)
    due.work()
    left = [sorted(map(str, labels(home)))]
    waits = [due.is_due]
    clock.seconds += 10
    waits.append(due.is_due)
    due.work()
    left.append(sorted(map(str, labels(home))))
    waits.append(due.is_due)
    assert left == [["None", "None", "an old label"], ["None"] * 3]
    assert waits == [False, True, False]


@pytest.mark.parametrize("damage", ["[checkpoints]\nenabled = 'off'\n", "[checkpoints\n"])
def test_a_store_where_it_cannot_be_seen_to_does_no_harm(home: Home, damage: str) -> None:
    home.config.write_text(damage)
    clock = Clock()
    due = Retaining(home, now=clock)
    clock.seconds += 31 * DAY
    due.work()
    assert not due.is_due
    assert labels(home) == ["an old label"]
