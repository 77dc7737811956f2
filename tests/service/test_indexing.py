"""The recorder's side of the indexer, with real indexers: what is due is indexed, whatever happens to them or to the file."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from tallystick.graph.graph import Graph, GraphError
from tallystick.journal.home import Home
from tallystick.recording.recorder import Recorder
from tallystick.service.indexing import Indexing, Limits, start_indexer
from tallystick.trust.rebuild import rebuild
from tallystick.trust.verify_log import verify_log
from tallystick.workspace.index_writer import Reply, Request, claimed
from tests.service.faults import steps, wait_for
from tests.support.alerting import store_with


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path / "store")
    record(home, 3)
    home.graph.parent.joinpath("run").mkdir()
    return home


@pytest.fixture
def indexing(home: Home) -> Iterator[Indexing]:
    found = Indexing(home, limits=Limits(silence=5.0, first_pause=0.01))  # a busy machine takes seconds to start one
    yield found
    found.close()


def record(home: Home, number: int) -> list[str]:
    """So many sessions more."""
    with Recorder(home.folder) as recorder:
        return [recorder.session("demo").id for _ in range(number)]


def known(home: Home) -> int:
    """How many sessions a new reader of the index sees; 0 where it cannot be read."""
    try:
        with Graph(home.graph, patience_s=0.0) as graph:
            return int(graph.rows("SELECT count(*) FROM sessions")[0][0])
    except GraphError:
        return 0


def work(indexing: Indexing, true: Callable[[], object]) -> None:
    """Do what the recorder does, until something is true."""

    def ticked() -> object:
        indexing.tick()
        return true()

    wait_for(ticked)


def settled(indexing: Indexing) -> bool:
    told = indexing.told()
    return told["state"] in ("idle", "ended") and not told["waiting"]


def warnings(home: Home) -> list[str]:
    """What was found broken before the index was rebuilt."""
    return [step.text("content.text") or "" for step in steps(home, "tallystick") if step.type == "warning"]


def pid(indexing: Indexing) -> int:
    return int(indexing.told()["pid"])


def is_as_rebuilt(home: Home) -> bool:
    done = rebuild(home)
    return (done.was, done.differing, done.tables, done.failures) == (done.sessions, (), (), ())


def test_what_was_sealed_is_indexed_by_another_process(home: Home, indexing: Indexing) -> None:
    indexing.tick()
    assert indexing.told() == {"pid": None, "state": "ended", "waiting": 0, "failures": 0, "problem": None}
    indexing.note(record(home, 1))
    work(indexing, lambda: settled(indexing))
    assert known(home) == 4  # the first time also what was there
    first = pid(indexing)
    assert first != os.getpid()
    indexing.note(record(home, 1))
    work(indexing, lambda: known(home) == 5)
    assert pid(indexing) == first
    indexing.close()
    assert is_as_rebuilt(home)


def test_an_indexer_that_no_one_asks_ends_and_another_one_is_started(home: Home) -> None:
    ends_soon = (
        "from tallystick.service.indexer import run; import socket, sys; run(sys.argv[1], socket.socket(fileno=0)"
    )

    def start(home: Home) -> tuple[subprocess.Popen[bytes], socket.socket]:
        ours, its = socket.socketpair()
        words = [sys.executable, "-c", f"{ends_soon}, idle_seconds=0.2)", str(home.folder)]
        process = subprocess.Popen(words, stdin=its.fileno())
        its.close()
        ours.setblocking(False)
        return process, ours

    indexing = Indexing(home, start=start)
    for number in (4, 5):
        indexing.note(record(home, 1))
        work(indexing, lambda: settled(indexing))
        assert known(home) == number
        work(indexing, lambda: indexing.told()["state"] == "ended")
    for _ in range(20):
        indexing.tick()
    assert indexing.told() == {"pid": None, "state": "ended", "waiting": 0, "failures": 0, "problem": None}


def test_a_session_that_is_not_there_does_no_harm(home: Home, indexing: Indexing) -> None:
    indexing.note(["0" * 32])
    work(indexing, lambda: settled(indexing))
    indexing.note(["0" * 32])
    work(indexing, lambda: settled(indexing))
    assert known(home) == 3


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
def test_an_indexer_that_dies_or_hangs_is_followed_by_another_one(
    home: Home, indexing: Indexing, number: signal.Signals
) -> None:
    indexing.note(record(home, 1))
    work(indexing, lambda: settled(indexing))
    first = pid(indexing)
    os.kill(first, number)
    indexing.note(record(home, 1))
    work(indexing, lambda: indexing.problem is not None)
    assert ("ended with -9" if number == signal.SIGKILL else "said nothing") in str(indexing.problem)
    work(indexing, lambda: settled(indexing) and known(home) == 5)
    assert pid(indexing) != first
    assert indexing.told()["failures"] == 0


def delete(path: Path) -> None:
    path.unlink()


def replace(path: Path) -> None:
    other = path.with_name("other.db")
    with closing(sqlite3.connect(other)) as database:
        database.execute("CREATE TABLE sessions (title TEXT)")
    other.rename(path)


def replace_by_an_older_one(path: Path) -> None:
    older = path.with_name("older.db")
    shutil.copyfile(path, older)
    older.rename(path)


def corrupt(path: Path) -> None:
    with path.open("r+b") as file:
        file.write(b"no database " * (path.stat().st_size // 12))


def cut(path: Path) -> None:
    os.truncate(path, 0)


SPOILED = (delete, replace, replace_by_an_older_one, corrupt, cut)


@pytest.mark.parametrize("spoil", SPOILED)
def test_whatever_becomes_of_the_file_the_index_is_made_again(
    home: Home, indexing: Indexing, spoil: Callable[[Path], None]
) -> None:
    indexing.note(record(home, 1))
    work(indexing, lambda: settled(indexing))
    spoil(home.graph)
    indexing.note(record(home, 1))
    work(indexing, lambda: settled(indexing) and known(home) == 5)
    indexing.close()
    assert is_as_rebuilt(home)


def test_what_shows_in_a_replaced_file_only_is_sealed_before_it_is_gone(home: Home, indexing: Indexing) -> None:
    store_with(home, [1, 2])
    indexing.note(record(home, 1))
    work(indexing, lambda: settled(indexing))
    other = home.graph.with_name("other.db")
    with closing(sqlite3.connect(home.graph)) as database, closing(sqlite3.connect(other)) as copy:
        database.backup(copy)
        copy.execute("DELETE FROM alerts WHERE alert_id = 2")
        copy.commit()
    other.rename(home.graph)
    work(indexing, lambda: warnings(home))
    work(indexing, lambda: settled(indexing))
    assert "the chain of alerts broke" in warnings(home)[0]
    indexing.close()
    assert is_as_rebuilt(home)
    assert verify_log(home).is_intact


def test_a_row_that_someone_changed_in_place_stays_for_a_person_to_find(home: Home, indexing: Indexing) -> None:
    store_with(home, [1])
    indexing.note(record(home, 1))
    work(indexing, lambda: settled(indexing))
    with closing(sqlite3.connect(home.graph)) as database:
        database.execute("UPDATE alerts SET message = 'nothing'")
        database.commit()
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    indexing.note(record(home, 1))
    work(indexing, lambda: settled(indexing) and known(home) == 6)
    assert not verify_log(home).is_intact


def test_a_file_that_is_removed_is_made_again_though_nothing_is_recorded(home: Home, indexing: Indexing) -> None:
    indexing.note(record(home, 1))
    work(indexing, lambda: settled(indexing))
    home.graph.unlink()
    work(indexing, lambda: known(home) == 4)


def test_a_file_that_a_stranger_has_locked_is_waited_for(home: Home, indexing: Indexing) -> None:
    indexing.note(record(home, 1))
    work(indexing, lambda: settled(indexing))
    with closing(sqlite3.connect(home.graph, isolation_level=None)) as stranger:
        stranger.execute("BEGIN IMMEDIATE")
        indexing.note(record(home, 1))
        work(indexing, lambda: indexing.problem is not None)
    work(indexing, lambda: settled(indexing) and known(home) == 5)
    indexing.close()
    assert is_as_rebuilt(home)


def test_the_event_loop_does_not_wait_for_an_index_that_knows_all(home: Home, indexing: Indexing) -> None:
    async def asked() -> None:
        indexing.refresh()

    asyncio.run(asked())
    work(indexing, lambda: settled(indexing) and known(home) == 3)


def test_a_thread_waits_for_an_index_that_knows_all(home: Home, indexing: Indexing) -> None:
    waiting = threading.Thread(target=indexing.refresh)
    waiting.start()
    work(indexing, lambda: not waiting.is_alive())
    assert known(home) == 3


def test_only_what_was_sealed_is_asked_for(home: Home) -> None:
    ours, its = socket.socketpair()
    ours.setblocking(False)
    process = subprocess.Popen(["sleep", "300"])
    indexing = Indexing(home, start=lambda _: (process, ours))
    with its, its.makefile("rb") as asked:
        try:
            indexing.note(["a"])
            indexing.note(["b", "a"])
            indexing.tick()
            assert msgspec.json.decode(asked.readline(), type=Request) == Request(sessions=("a", "b"))
        finally:
            process.kill()
            indexing.close()


def test_an_indexer_that_waits_for_another_writer_says_that_it_lives(home: Home) -> None:
    with claimed(home):
        process, ours = start_indexer(home)
        with ours, ours.makefile("rb") as said:
            ours.settimeout(120)
            assert msgspec.json.decode(said.readline(), type=Reply) == Reply()
    process.wait(120)
