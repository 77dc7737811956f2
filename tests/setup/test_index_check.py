"""What the doctor says of the index, and of the process that writes it."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tallystick.capture import recorder
from tallystick.capture.place import Place
from tallystick.journal.home import Home
from tallystick.recording.recorder import Recorder
from tallystick.setup import index_check
from tallystick.setup.check import Check, State
from tallystick.setup.index_check import index_checks
from tallystick.workspace import index_writer
from tallystick.workspace.indexing import open_index


@pytest.fixture
def home(tmp_path: Path) -> Home:
    found = Home(tmp_path / "store")
    with Recorder(found.folder) as recording:
        recording.session("demo").prompt("hello")
    return found


def check(home: Home) -> Check:
    (found,) = index_checks(home)
    return found


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What a recorder says of its indexer."""
    said: dict[str, Any] = {"pid": 4712, "state": "idle", "waiting": 0, "failures": 0, "problem": None}
    monkeypatch.setattr(recorder, "status", lambda _: {"indexer": said})
    return said


def test_without_a_store_nothing_is_checked(tmp_path: Path) -> None:
    assert list(index_checks(Home(tmp_path / "none"))) == []


def test_an_index_that_follows_the_record_is_well(home: Home, told: dict[str, Any]) -> None:
    assert check(home) == Check(name="index", state=State.OK, found="follows the record; process 4712 writes it")
    told["pid"] = None
    assert check(home).found == "follows the record"


STOPS = """
import os, signal, sys
from pathlib import Path
from tallystick.journal.home import Home
from tallystick.workspace.index_writer import claim
with claim(Home(Path(sys.argv[1]))):
    os.kill(os.getpid(), signal.SIGSTOP)
"""


def test_a_stopped_process_that_holds_the_claim_is_named_with_what_to_do(home: Home) -> None:
    Place(home.folder).run.mkdir(exist_ok=True)
    with subprocess.Popen([sys.executable, "-c", STOPS, str(home.folder)]) as process:
        try:
            os.waitid(os.P_PID, process.pid, os.WSTOPPED)
            found = check(home)
            assert (found.state, str(process.pid) in found.found) == (State.BAD, True)
            assert f"kill -CONT {process.pid}" in str(found.mend)
            process.send_signal(signal.SIGCONT)
            process.wait()
            assert check(home).state is State.OK
        finally:
            process.kill()


def test_a_damaged_index_is_said_to_be_so_while_it_is(home: Home) -> None:
    home.graph.write_bytes(b"no database at all" * 1000)
    found = check(home)
    assert (found.state, "damaged" in found.found) == (State.BAD, True)
    assert "tally rebuild" in str(found.mend)


def test_what_keeps_the_indexer_from_writing_is_named(home: Home, told: dict[str, Any]) -> None:
    told["problem"] = "graph.db is being written by another process"
    found = check(home)
    assert (found.state, found.found.endswith("is being written by another process")) == (State.WARN, True)


def test_an_index_that_a_stranger_has_locked_is_behind(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tallystick.graph.graph._PATIENCE_S", 0.01)
    monkeypatch.setattr(index_writer, "PATIENCE_S", 0.01)
    with open_index(home):
        pass
    with Recorder(home.folder) as recording:
        recording.session("demo").prompt("more")
    with closing(sqlite3.connect(home.graph, isolation_level=None)) as stranger:
        stranger.execute("BEGIN IMMEDIATE")
        assert check(home).found.startswith("the index is stale")


def test_an_index_that_others_do_not_see_as_it_is_said_to_be(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was once the case: its writer wrote a log that no one else could see."""
    monkeypatch.setattr(index_check, "is_current", lambda _: False)
    assert check(home).found == "it lacks what its writer says that it has"
