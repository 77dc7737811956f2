"""The indexer beside a recorder, as real processes: one answers, one writes the index, and commands come and go."""

from __future__ import annotations

import contextlib
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import psutil
import pytest

from tallystick.capture import recorder
from tallystick.graph.journals import Depth, Projected
from tallystick.journal.home import Home
from tallystick.service.indexer import joined
from tallystick.setup.check import State
from tallystick.setup.index_check import index_checks
from tallystick.trust.rebuild import rebuild
from tallystick.workspace import index_writer
from tallystick.workspace.index_writer import Request, ask, claim, claimed
from tallystick.workspace.indexing import open_index
from tests.service.faults import before, send, wait_for
from tests.service.test_indexing import SPOILED
from tests.support import recorders


def seen(home: Home, question: str) -> list[tuple[Any, ...]]:
    """What a process reads that opens the index now and brings nothing up to date; nothing where it cannot be read."""
    with contextlib.suppress(sqlite3.Error), closing(sqlite3.connect(home.graph.as_uri() + "?mode=ro", uri=True)) as it:
        return it.execute(question).fetchall()
    return []


def is_call_seen(home: Home, number: int) -> bool:
    return seen(home, f"SELECT 1 FROM steps WHERE corr = 'call_{number:05}'") != []


def tally(home: Home, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-I", "-m", "tallystick", "--home", str(home.folder), *words],
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": os.environ["PATH"], "HOME": str(home.folder.parent)},
    )


def indexer(home: Home) -> dict[str, Any]:
    """What the recorder says of its indexer."""
    found = (recorder.status(home.folder) or {}).get("indexer", {})
    assert isinstance(found, dict)
    return found


def is_idle(home: Home) -> bool:
    told = indexer(home)
    return bool(told) and told["state"] in ("idle", "ended") and not told["waiting"]


def deliver(home: Home, number: int, command: str = "echo hi") -> None:
    assert send(home, before("claude-code", number, command=command)) == b"0 0 0\n"


def test_the_index_follows_whatever_commands_come_and_go(home: Home) -> None:
    """A command that opened the index used to drop the recorder's locks, and its end the log that the recorder wrote."""
    recorders.start(home.folder)
    deliver(home, 1)
    wait_for(lambda: is_call_seen(home, 1))
    for number in (2, 3):
        deliver(home, number, "sh /home/dev/project/run.sh")  # who wrote it is asked in the index, which stays open
        assert f'"corr":"call_{number:05}"' in tally(home, "log", "--json").stdout.replace(" ", "")
        wait_for(partial(is_call_seen, home, number))
    first = indexer(home)["pid"]
    assert psutil.Process(first).nice() > psutil.Process().nice()
    assert recorder.stop(home.folder)
    assert not psutil.pid_exists(first)
    done = rebuild(home)
    assert (done.differing, done.tables) == ((), ())


def test_an_alert_is_answered_at_once_and_its_row_follows(home: Home) -> None:
    recorders.start(home.folder)
    assert b"deny" in send(home, before("claude-code", 1, command=f"rm -rf {home.folder}"))
    wait_for(lambda: seen(home, "SELECT action FROM alerts") == [("block",)])


def test_a_killed_indexer_and_an_index_that_is_gone_are_made_good(home: Home) -> None:
    recorders.start(home.folder)
    deliver(home, 1)
    wait_for(lambda: is_call_seen(home, 1) and is_idle(home))
    first = indexer(home)["pid"]
    os.kill(first, signal.SIGKILL)
    home.graph.unlink()
    deliver(home, 2)
    wait_for(lambda: is_call_seen(home, 2) and is_call_seen(home, 1) and is_idle(home))
    assert indexer(home)["pid"] != first
    recorder.stop(home.folder)
    done = rebuild(home)
    assert (done.differing, done.tables) == ((), ())


@pytest.mark.skipif(sys.platform != "linux", reason="only there a stopped process is told that its parent has ended")
def test_a_stopped_indexer_whose_recorder_is_killed_frees_the_claim(home: Home) -> None:
    recorders.start(home.folder)
    deliver(home, 1)
    wait_for(lambda: is_call_seen(home, 1) and is_idle(home))
    pid, front = indexer(home)["pid"], (recorder.status(home.folder) or {})["pid"]
    assert index_writer.writer_of(home) == pid
    os.kill(pid, signal.SIGSTOP)
    try:
        os.kill(front, signal.SIGKILL)
        wait_for(lambda: index_writer.writer_of(home) is None)
        recorders.start(home.folder)
        deliver(home, 2)
        wait_for(lambda: is_call_seen(home, 2))
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


@pytest.mark.soak
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
def test_an_indexer_that_is_hit_again_and_again_holds_up_no_answer(home: Home, number: signal.Signals) -> None:
    recorders.start(home.folder)
    for call in range(1, 400):
        began = time.monotonic()
        deliver(home, call)
        assert time.monotonic() - began < 2.0
        pid = indexer(home).get("pid")
        if pid is not None and call % 20 == 0:
            os.kill(pid, number)
        time.sleep(0.05)
    wait_for(lambda: is_idle(home) and is_call_seen(home, 399))
    recorder.stop(home.folder)
    done = rebuild(home)
    assert (done.differing, done.tables) == ((), ())


@pytest.mark.soak
def test_no_answer_waits_for_an_index_that_a_stranger_holds(home: Home) -> None:
    recorders.start(home.folder)
    deliver(home, 1, "sh /home/dev/project/run.sh")
    wait_for(lambda: is_call_seen(home, 1) and is_idle(home))
    with closing(sqlite3.connect(home.graph, isolation_level=None)) as stranger:
        stranger.execute("BEGIN EXCLUSIVE")
        for number in range(2, 12):
            deliver(home, number, f"sh /home/dev/project/run{number}.sh")
        wait_for(lambda: indexer(home)["state"] == "failed")
        (check,) = index_checks(home)
        assert (check.state, check.found.endswith("is being written by another process")) == (State.WARN, True)
    wait_for(lambda: is_idle(home) and is_call_seen(home, 11))
    recorder.stop(home.folder)
    done = rebuild(home)
    assert (done.differing, done.tables) == ((), ())


@pytest.mark.soak
@pytest.mark.parametrize("spoil", SPOILED)
def test_whatever_becomes_of_the_index_under_load_it_is_the_same_in_the_end(
    home: Home, spoil: Callable[[Path], None]
) -> None:
    recorders.start(home.folder)
    for number in range(1, 200):
        began = time.monotonic()
        deliver(home, number)
        assert time.monotonic() - began < 2.0
        if number % 60 == 0:
            with contextlib.suppress(FileNotFoundError):  # it is being made
                spoil(home.graph)
        time.sleep(0.05)
    wait_for(lambda: is_idle(home) and is_call_seen(home, 1) and is_call_seen(home, 199))
    recorder.stop(home.folder)
    done = rebuild(home)
    assert (done.differing, done.tables) == ((), ())


def test_a_command_asks_the_indexer_and_one_that_must_write_sends_it_away(home: Home) -> None:
    recorders.start(home.folder)
    deliver(home, 1)
    wait_for(lambda: is_idle(home) and indexer(home)["pid"] is not None)
    first = indexer(home)["pid"]
    with claim(home) as is_mine:
        assert not is_mine
    assert ask(home, Request()) == Projected(sessions=0, steps=0, failures=(), unsearchable=1)
    deliver(home, 2)
    with open_index(home) as index:
        assert index.remarks == []
        assert index.graph.rows("SELECT count(*) FROM steps WHERE type = 'tool_call'") == [(2,)]
    with claimed(home):
        wait_for(lambda: not psutil.pid_exists(first))
        assert ask(home, Request()) is None
    deliver(home, 3)
    wait_for(lambda: is_call_seen(home, 3))


def test_an_indexer_that_does_not_answer_leaves_a_command_with_the_index_as_it_is(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_writer, "SILENCE_S", 0.2)
    recorders.start(home.folder)
    deliver(home, 1)
    wait_for(lambda: is_call_seen(home, 1) and is_idle(home))
    process = psutil.Process(indexer(home)["pid"])
    process.suspend()
    deliver(home, 2)
    with open_index(home) as index:
        assert index.remarks[0].startswith("the index is stale: the indexer")
    process.resume()
    wait_for(lambda: is_call_seen(home, 2))


def test_an_indexer_whose_recorder_was_killed_ends(home: Home) -> None:
    front = recorders.start(home.folder)
    deliver(home, 1)
    wait_for(lambda: indexer(home).get("pid") is not None)
    pid = indexer(home)["pid"]
    os.kill(front, signal.SIGKILL)
    wait_for(lambda: not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE)
    recorders.start(home.folder)
    deliver(home, 2)
    wait_for(lambda: is_call_seen(home, 2))


def test_requests_are_joined_into_one_that_does_what_all_ask_for() -> None:
    assert joined([Request(sessions=("a", "b")), Request(sessions=("b", "c"))]) == Request(sessions=("a", "b", "c"))
    assert joined([Request(sessions=("a",)), Request(), Request(sessions=("b",))]) == Request()
    assert [
        joined([Request(depth=depth) for depth in depths]).depth
        for depths in ((Depth.STEPS, Depth.STEPS), (Depth.STEPS, Depth.ROWS), (Depth.ROWS, Depth.ROWS))
    ] == [Depth.STEPS, Depth.TEXT, Depth.ROWS]
    assert joined([Request(depth=Depth.TEXT), Request(sessions=(), again=True)]) == Request(
        depth=Depth.TEXT, again=True
    )


# Who opens the file ---------------------------------------------------------------------------------------------------

_AUDITED = """
import os, sys
store, log = sys.argv[1], open(sys.argv[2], "a", buffering=1)
def heard(event, values):
    if event == "open" and isinstance(values[0], (str, bytes)):
        name = os.path.basename(os.fsdecode(values[0]))
        if name.startswith("graph.db") and name != "graph.db-new":
            log.write(f"{sys.argv[3:]} {values}\\n")
    if event == "sqlite3.connect" and sys.argv[3:] == ["recorder"] and "graph.db?mode=ro" not in str(values[0]):
        log.write(f"written by the recorder: {values}\\n")
sys.addaudithook(heard)
"""
_COMMAND = """
from click.testing import CliRunner
from tallystick.cli import main
for words in sys.argv[3].split(";"):
    CliRunner().invoke(main, ["--home", store, *words.split()])
    log.write(f"ran {words}\\n")
"""
_COMMANDS = "status;log;search hi;sql SELECT/**/1;verify-log;rebuild;alerts;retention prune --yes;doctor"


def test_nothing_but_sqlite_opens_the_index(home: Home, tmp_path: Path) -> None:
    """Closing a file drops all locks that a process holds on it: then another process removes the log under this one."""
    log = tmp_path / "opened"
    service = "from tallystick.service.start import run; sys.exit(run(store))"
    process = subprocess.Popen([sys.executable, "-c", _AUDITED + service, str(home.folder), str(log), "recorder"])
    try:
        wait_for(lambda: recorder.status(home.folder) is not None)
        deliver(home, 1, f"cat {home.graph}")
        assert b"deny" in send(home, before("claude-code", 2, command=f"rm -rf {home.folder}"))
        wait_for(lambda: is_idle(home) and seen(home, "SELECT action FROM alerts") == [("block",)])
        words = [sys.executable, "-c", _AUDITED + _COMMAND, str(home.folder), str(log), _COMMANDS]
        subprocess.run(words, check=True, env={"PATH": os.environ["PATH"], "HOME": str(tmp_path)})
    finally:
        recorder.stop(home.folder)
        process.wait(60)
    lines = log.read_text("utf-8").splitlines()
    assert [line for line in lines if not line.startswith("ran ")] == []
    assert len(lines) == len(_COMMANDS.split(";"))
