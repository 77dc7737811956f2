from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tallystick.capture import watch_holders
from tallystick.capture.watch_holders import Holders

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only there are processes named")
HOLD = "import sys; file = open(sys.argv[1], sys.argv[2]); print('open', flush=True); sys.stdin.read()"


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


@contextmanager
def holding(path: Path, mode: str) -> Iterator[int]:
    """A child process that has a file open; its number."""
    command = [sys.executable, "-c", HOLD, str(path), mode]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"open\n"
        yield process.pid


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_a_child_that_writes_is_named(tmp_path: Path, clock: Clock) -> None:
    holders = Holders(os.getpid(), clock=clock)
    with holding(tmp_path / "a", "w") as pid:
        holders.stir()
        found = holders.of(str(tmp_path / "a"))
        assert found is not None
        assert found.pid == pid
        assert found.name.startswith("python")
        assert holders.of(str(tmp_path / "b")) is None


def test_who_only_reads_is_not_named(tmp_path: Path, clock: Clock) -> None:
    (tmp_path / "a").touch()
    holders = Holders(os.getpid(), clock=clock)
    with holding(tmp_path / "a", "r"):
        holders.stir()
        assert holders.of(str(tmp_path / "a")) is None


def test_who_does_not_descend_from_the_process_is_not_named(tmp_path: Path, clock: Clock) -> None:
    with holding(tmp_path / "other", "w") as other, holding(tmp_path / "a", "w"):
        holders = Holders(other, clock=clock)
        holders.stir()
        assert holders.of(str(tmp_path / "a")) is None
        assert holders.of(str(tmp_path / "other")) is not None


def test_this_process_itself_is_not_named(tmp_path: Path, clock: Clock) -> None:
    holders = Holders(os.getpid(), clock=clock)
    with (tmp_path / "a").open("w"):
        holders.stir()
        assert holders.of(str(tmp_path / "a")) is None


def test_a_name_is_forgotten_after_two_seconds(tmp_path: Path, clock: Clock) -> None:
    holders = Holders(os.getpid(), clock=clock)
    with holding(tmp_path / "a", "w"):
        holders.stir()
    clock.now += 1.9
    assert holders.of(str(tmp_path / "a")) is not None
    clock.now += 0.2
    assert holders.of(str(tmp_path / "a")) is None


def test_there_is_sampling_only_for_a_while_after_effects(tmp_path: Path, clock: Clock) -> None:
    holders = Holders(os.getpid(), clock=clock)
    with holding(tmp_path / "a", "w"):
        holders.tick()
        assert holders.of(str(tmp_path / "a")) is None
        holders.stir()
    with holding(tmp_path / "b", "w"):
        clock.now += 0.5
        holders.tick()
        assert holders.of(str(tmp_path / "b")) is not None
    with holding(tmp_path / "c", "w"):
        clock.now += 5
        holders.tick()
        assert holders.of(str(tmp_path / "c")) is None


def test_sampling_takes_a_small_share_of_the_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    holders = Holders(os.getpid(), clock=clock)
    samples = []

    def slow(now: float) -> None:
        samples.append(now)
        clock.now += 0.1

    monkeypatch.setattr(holders, "_sample", slow)
    for _ in range(300):
        holders.stir()
        clock.now += 0.02
    assert 0 < len(samples) * 0.1 / (clock.now - 100.0) < 0.07


def test_a_process_that_is_gone_has_nothing_open(clock: Clock) -> None:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    holders = Holders(process.pid, clock=clock)
    holders.stir()
    assert holders.of("/dev/null") is None


def test_more_paths_than_are_remembered_are_forgotten(
    tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch_holders, "_MOST_PATHS", 0)
    holders = Holders(os.getpid(), clock=clock)
    with holding(tmp_path / "a", "w"):
        holders.stir()
    clock.now += 0.5
    with holding(tmp_path / "b", "w"):
        holders.tick()
    assert holders.of(str(tmp_path / "a")) is None
    assert holders.of(str(tmp_path / "b")) is not None
