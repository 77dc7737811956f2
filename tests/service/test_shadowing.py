"""Sessions that have ended, handed to a process that compares them while no one waits."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tallystick.journal.home import Home
from tallystick.service.shadowing import Shadowing

KEEPS = "import sys; open(sys.argv[1], 'ab').write(sys.stdin.buffer.read())"
HANGS = "import time; time.sleep(600)"


class Recorder:
    """A recorder of which sessions end, and the process that is told of them."""

    def __init__(self, folder: Path) -> None:
        self.told = folder / "told"
        self.ended = [("codex", "one"), ("codex", "two")]
        self.is_indexed = True
        self.now = 0.0
        self.code = KEEPS
        self.processes: list[subprocess.Popen[bytes]] = []
        self.shadowing = Shadowing(
            Home(folder / "store"),
            lambda: self.ended.pop(0) if self.ended else None,
            lambda: self.is_indexed,
            start=self.start,
            monotonic=lambda: self.now,
        )

    def start(self, _: Home) -> subprocess.Popen[bytes]:
        """A process in place of the real one."""
        words = [sys.executable, "-c", self.code, str(self.told)]
        self.processes.append(subprocess.Popen(words, stdin=subprocess.PIPE, bufsize=0))
        return self.processes[-1]

    def is_due(self) -> bool:
        """Whether something waits."""
        return self.shadowing.is_due

    def settle(self) -> None:
        """Let what has ended be seen, and some seconds pass."""
        assert not self.is_due()
        self.now += 5

    def work(self) -> None:
        """What a recorder does in a quiet moment."""
        assert self.is_due()
        self.shadowing.work()


@pytest.fixture
def recorder(tmp_path: Path) -> Iterator[Recorder]:
    made = Recorder(tmp_path)
    with closing(made.shadowing):
        yield made


def test_sessions_that_ended_are_told_once_and_all_at_once(recorder: Recorder) -> None:
    recorder.settle()
    recorder.work()
    recorder.processes[0].wait()
    assert recorder.told.read_bytes() == b'[["codex","one"],["codex","two"]]'
    assert not recorder.shadowing.is_at_work
    assert not recorder.is_due()


def test_it_is_named_while_it_is_at_work(recorder: Recorder) -> None:
    assert recorder.shadowing.told() == {"pid": None, "waiting": 0, "problem": None}
    recorder.code = HANGS
    recorder.settle()
    assert recorder.shadowing.told()["waiting"] == 2
    recorder.work()
    assert recorder.shadowing.told() == {"pid": recorder.processes[0].pid, "waiting": 0, "problem": None}


def test_one_that_fails_is_reported_until_another_one_does_not(recorder: Recorder) -> None:
    recorder.code = "import sys; sys.stdin.buffer.read(); sys.exit(3)"
    recorder.settle()
    recorder.work()
    recorder.processes[0].wait()
    assert not recorder.shadowing.is_at_work
    assert "ended with 3" in recorder.shadowing.told()["problem"]
    recorder.code = KEEPS
    recorder.ended.append(("codex", "three"))
    recorder.settle()
    recorder.work()
    recorder.processes[1].wait()
    assert not recorder.shadowing.is_at_work
    assert recorder.shadowing.told()["problem"] is None


def test_nothing_is_compared_before_it_is_in_the_index(recorder: Recorder) -> None:
    recorder.is_indexed = False
    recorder.settle()
    assert not recorder.is_due()
    recorder.is_indexed = True
    assert recorder.is_due()


def test_one_process_is_at_it_at_a_time_and_one_that_takes_too_long_is_killed(recorder: Recorder) -> None:
    recorder.code = HANGS
    recorder.settle()
    recorder.work()
    recorder.ended.append(("codex", "three"))
    recorder.settle()
    assert recorder.shadowing.is_at_work
    assert not recorder.is_due()
    recorder.now += 600
    assert recorder.is_due()
    assert recorder.processes[0].returncode is not None
    assert recorder.shadowing.told()["problem"] == "sessions could not be compared with their transcripts in 300 s"


def test_a_process_that_does_not_listen_or_cannot_be_started_harms_no_one(
    recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> subprocess.Popen[bytes]:
        raise OSError("no memory")

    recorder.settle()
    monkeypatch.setattr(recorder.shadowing, "_start", fail)
    recorder.work()
    assert not recorder.shadowing.is_at_work
    assert "no memory" in recorder.shadowing.told()["problem"]
