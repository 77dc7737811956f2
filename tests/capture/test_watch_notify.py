from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tallystick.capture.watch_notify import ADDED, DELETED, Notify, Stopping, Told, is_watchable
from tests.capture.watching import wait_for

GO_ON = Stopping(lambda: False)
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the roots are watched with all below them")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a").mkdir()
    return tmp_path


@pytest.fixture
def notify(folder: Path) -> Iterator[Notify]:
    notify = Notify([str(folder)])
    yield notify
    notify.close()


def gathered(notify: Notify, path: Path) -> dict[str, set[int]]:
    """What is told until something is said of `path`."""
    found: dict[str, set[int]] = {}

    def is_there() -> bool:
        for name, said in notify.take(0.1, GO_ON).paths.items():
            found.setdefault(name, set()).update(said)
        return str(path) in found

    wait_for(is_there)
    return found


def test_each_folder_is_watched_by_itself(notify: Notify, folder: Path) -> None:
    notify.start([str(folder)])
    (folder / "a" / "inside").touch()
    (folder / "outside").touch()
    assert gathered(notify, folder / "outside") == {str(folder / "outside"): {ADDED}}


def test_a_start_anew_tells_what_was_not_yet_told(notify: Notify, folder: Path) -> None:
    notify.start([str(folder)])
    found: dict[str, set[int]] = {}

    def is_told() -> bool:
        (folder / "b").touch()
        (folder / "b").unlink()
        time.sleep(0.05)
        found.update(notify.start([str(folder), str(folder / "a")]).paths)
        return str(folder / "b") in found

    wait_for(is_told)
    assert found[str(folder / "b")] == {ADDED, DELETED}
    (folder / "a" / "c").touch()
    gathered(notify, folder / "a" / "c")


def test_nothing_is_told_when_nothing_happens_or_nothing_is_watched(notify: Notify, folder: Path) -> None:
    assert notify.take(0.01, GO_ON) == Told({})
    notify.start([str(folder)])
    assert notify.take(0.05, GO_ON) == Told({})


def test_waiting_ends_when_it_is_to_stop(notify: Notify, folder: Path) -> None:
    notify.start([str(folder)])
    asked = []

    def tick() -> None:
        asked.append(time.monotonic())

    assert notify.take(60.0, Stopping(lambda: len(asked) > 3, tick)) == Told({})
    assert len(asked) == 4


def test_after_a_name_that_is_no_text_it_is_broken_until_it_is_started_anew(notify: Notify, folder: Path) -> None:
    notify.start([str(folder)])
    Path(os.fsdecode(os.fsencode(folder) + b"/\xff")).touch()
    faults: list[str] = []

    def has_failed() -> bool:
        fault = notify.take(0.1, GO_ON).fault
        faults.extend([fault] if fault is not None else [])
        return notify.is_broken

    wait_for(has_failed)
    assert "decode" in faults[0]
    assert notify.take(0.01, GO_ON) == Told({})
    notify.start([str(folder)])
    assert not notify.is_broken
    (folder / "b").touch()
    gathered(notify, folder / "b")


def test_folders_that_are_gone_or_have_no_text_as_name_are_passed_over(notify: Notify, folder: Path) -> None:
    notify.start([str(folder / "gone"), str(folder), f"{folder}/\udcff"])
    (folder / "b").touch()
    gathered(notify, folder / "b")
    assert is_watchable(str(folder))
    assert not is_watchable("/\udcff")


def test_starting_takes_a_small_share_of_the_time(folder: Path) -> None:
    now = 100.0

    def clock() -> float:
        nonlocal now
        now += 0.5
        return now

    notify = Notify([str(folder)], clock=clock)
    notify.start([str(folder)])
    notify.close()
    assert notify.wait_s > 4
    now += 100
    assert notify.wait_s == 0
