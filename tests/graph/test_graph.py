from __future__ import annotations

import os
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from tallystick.errors import UsageError
from tallystick.graph.graph import (
    APPLICATION_ID,
    SCHEMA,
    DamagedError,
    Graph,
    GraphError,
    Mode,
    empty_graph,
    remove_graph,
)
from tallystick.graph.project import project
from tallystick.graph.queries import indexed_sessions
from tests.graph.making import TABLES, Session


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "graph.db"


def filled(path: Path) -> None:
    session = Session()
    session.begin()
    session.prompt("hello")
    with Graph(path, Mode.WRITE) as graph:
        project(graph, [session.journal()])


def test_an_index_that_is_not_there_is_made_for_this_user_only(path: Path) -> None:
    with Graph(path, Mode.WRITE) as graph:
        assert [graph.rows(f"SELECT * FROM {table}") for table in TABLES] == [[]] * len(TABLES)
        assert graph.row("PRAGMA journal_mode") == ("wal",)
        assert graph.row("PRAGMA user_version") == (SCHEMA,)
        assert graph.row("PRAGMA application_id") == (APPLICATION_ID,)
        for file in path.parent.iterdir():
            assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_an_index_stays_as_it_is_when_it_is_opened_again(path: Path) -> None:
    filled(path)
    with Graph(path, Mode.WRITE) as graph:
        assert [row.size for row in indexed_sessions(graph)] == [2]


def test_two_that_make_an_index_at_once_make_one(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path.touch()
    begin = Graph.begin

    def begin_second(graph: Graph) -> None:
        monkeypatch.setattr(Graph, "begin", begin)
        filled(path)
        graph.begin()

    monkeypatch.setattr(Graph, "begin", begin_second)
    with Graph(path, Mode.WRITE) as graph:
        assert [row.size for row in indexed_sessions(graph)] == [2]


def test_a_reader_does_not_make_an_index(path: Path) -> None:
    with pytest.raises(GraphError, match="no index") as error:
        Graph(path)
    assert "tally rebuild" in str(error.value.hint)
    assert not path.exists()


def test_a_reader_cannot_write(path: Path) -> None:
    filled(path)
    with Graph(path) as graph, pytest.raises(GraphError, match="readonly"):
        graph.change("DELETE FROM sessions")


def test_a_reader_of_a_store_that_cannot_be_written_makes_no_files(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    filled(path)
    monkeypatch.setattr("os.access", lambda *_: False)
    before = set(path.parent.iterdir())
    with Graph(path) as graph:
        assert [row.size for row in indexed_sessions(graph)] == [2]
        assert set(path.parent.iterdir()) == before


@pytest.mark.parametrize(("version", "age"), [(SCHEMA + 1, "newer"), (SCHEMA - 1, "older")])
@pytest.mark.parametrize("mode", [Mode.READ, Mode.WRITE])
def test_an_index_of_another_version_is_refused(path: Path, version: int, age: str, mode: Mode) -> None:
    filled(path)
    with closing(sqlite3.connect(path)) as database:
        database.execute(f"PRAGMA user_version = {version}")
    with pytest.raises(GraphError, match=f"an? {age} Tallystick: version {version}") as error:
        Graph(path, mode)
    assert "tally rebuild" in str(error.value.hint)


def test_an_index_that_could_not_be_filled_is_said_to_be_empty(path: Path) -> None:
    path.touch()
    with pytest.raises(GraphError, match="is empty"):
        Graph(path, Mode.READ)


@pytest.mark.parametrize("mode", [Mode.READ, Mode.WRITE])
def test_a_database_of_something_else_is_refused(path: Path, mode: Mode) -> None:
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE cookies (name TEXT)")
    with pytest.raises(GraphError, match="no index of ours"):
        Graph(path, mode)


@pytest.mark.parametrize("mode", [Mode.READ, Mode.WRITE])
def test_a_file_that_is_no_database_is_called_damaged(path: Path, mode: Mode) -> None:
    path.write_bytes(b"no database at all, but long enough to be taken for one" * 100)
    with pytest.raises(DamagedError, match="damaged") as error:
        Graph(path, mode)
    assert "tally rebuild" in str(error.value.hint)


def test_damage_that_shows_late_is_called_damage_too(path: Path) -> None:
    filled(path)
    with Graph(path) as graph:
        (page,) = graph.row("SELECT rootpage FROM sqlite_master WHERE name = 'steps'") or (0,)
        (page_bytes,) = graph.row("PRAGMA page_size") or (0,)
    data = bytearray(path.read_bytes())
    data[(page - 1) * page_bytes : page * page_bytes] = os.urandom(page_bytes)
    path.write_bytes(data)
    with Graph(path) as graph, pytest.raises(DamagedError):
        graph.rows("SELECT * FROM steps")


def test_a_mistake_of_ours_is_not_called_damage(path: Path) -> None:
    with Graph(path, Mode.WRITE) as graph, pytest.raises(sqlite3.ProgrammingError):
        graph.rows("SELECT ?", (1, 2))


@pytest.mark.parametrize("value", ["\udcff", 1 << 70])
def test_a_value_that_sqlite_cannot_hold_is_refused_in_words(path: Path, value: object) -> None:
    with Graph(path, Mode.WRITE) as graph, pytest.raises(UsageError):
        graph.rows("SELECT * FROM steps WHERE tool = ?", (value,))


def test_a_folder_that_is_not_there_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(GraphError, match="cannot write"):
        Graph(tmp_path / "nowhere" / "graph.db", Mode.WRITE)


def test_an_index_that_is_being_written_is_not_called_damaged(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tallystick.graph.graph._PATIENCE_S", 0.01)
    filled(path)
    with Graph(path, Mode.WRITE) as writing, Graph(path, Mode.WRITE) as waiting:
        writing.begin()
        with pytest.raises(GraphError, match="being written") as error:
            waiting.begin()
        assert not isinstance(error.value, DamagedError)
        assert [row.size for row in indexed_sessions(waiting)] == [2]  # reading goes on meanwhile
        with pytest.raises(GraphError, match="being written"):
            empty_graph(path)
        writing.roll_back()
        assert [row.size for row in indexed_sessions(waiting)] == [2]


@pytest.mark.parametrize("what", ["an index", "another version", "another database", "no database", "nothing"])
def test_whatever_is_there_can_be_replaced_by_an_empty_index(path: Path, what: str) -> None:
    if what in ("an index", "another version"):
        filled(path)
    if what == "no database":
        path.write_bytes(b"?" * 10_000)
    if what in ("another version", "another database"):
        with closing(sqlite3.connect(path)) as database:
            database.execute('CREATE TABLE "odd ""name" (name TEXT)')
            database.execute("PRAGMA user_version = 77")
    with empty_graph(path) as graph:
        assert [graph.rows(f"SELECT * FROM {table}") for table in TABLES] == [[]] * len(TABLES)
        assert graph.rows("SELECT rowid FROM search WHERE search MATCH 'hello'") == []
    filled(path)


def test_a_removed_index_leaves_no_file(path: Path) -> None:
    graph = Graph(path, Mode.WRITE)
    assert len(list(path.parent.iterdir())) > 1
    remove_graph(path)
    assert list(path.parent.iterdir()) == []
    graph.close()


def test_rolling_back_without_a_transaction_does_nothing(path: Path) -> None:
    with Graph(path, Mode.WRITE) as graph:
        graph.roll_back()
        graph.begin()
        graph.change("INSERT INTO session_edges VALUES ('s', 0, 0, 'fork', NULL, NULL, NULL, NULL)")
        graph.roll_back()
        assert not graph.in_transaction
        assert graph.rows("SELECT * FROM session_edges") == []


HOLDING = """
import sys
from pathlib import Path
from tallystick.graph.graph import Graph, Mode
path = Path(sys.argv[1])
reader = Graph(path)
reader.rows("SELECT count(*) FROM sessions")
with Graph(path, Mode.WRITE):
    pass
print("open", flush=True)
for table in sys.stdin:
    with Graph(path, Mode.WRITE) as graph:
        graph.change(f"CREATE TABLE {table.strip()} (x)")
    print("written", flush=True)
"""
LOOKING = "import sqlite3, sys; print(sqlite3.connect(sys.argv[1]).execute(sys.argv[2]).fetchall())"


def test_an_index_that_one_process_opens_twice_is_written_for_all(path: Path) -> None:
    """Closing any descriptor of the file drops all locks of the process: another one would then remove the log under it."""
    filled(path)
    tables = "SELECT count(*) FROM sqlite_master WHERE name LIKE 'made_%'"
    words = [sys.executable, "-c", HOLDING, str(path)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holding:
        assert holding.stdin is not None
        assert holding.stdout is not None
        assert holding.stdout.readline() == "open\n"
        for number in range(3):
            looking = [sys.executable, "-c", LOOKING, str(path), tables]
            looked = subprocess.run(looking, stdout=subprocess.PIPE, text=True, check=True)  # it opens, and exits
            assert looked.stdout == f"[({number},)]\n"
            holding.stdin.write(f"made_{number}\n")
            holding.stdin.flush()
            assert holding.stdout.readline() == "written\n"
        holding.stdin.close()


def test_an_index_that_was_replaced_says_so_to_those_who_have_it_open(path: Path) -> None:
    filled(path)
    with Graph(path) as graph:
        seen = [graph.is_moved]
        remove_graph(path)
        seen.append(graph.is_moved)
        filled(path)
        seen.append(graph.is_moved)
        with Graph(path) as other:
            seen.append(other.is_moved)
    assert seen == [False, True, True, False]


def test_a_reader_whose_locks_are_gone_notices_that_the_log_is_another_one(path: Path) -> None:
    """A program that opens a file that an agent named may open this one, and close it."""
    filled(path)
    with Graph(path) as graph:
        graph.rows("SELECT count(*) FROM sessions")
        path.open("rb").close()
        other = f"import sqlite3; sqlite3.connect({str(path)!r}).execute('CREATE TABLE other (x)')"
        subprocess.run([sys.executable, "-c", other], check=True)
        assert graph.is_moved
    with Graph(path) as graph:
        assert graph.rows("SELECT count(*) FROM other") == [(0,)]


def test_damage_is_found_by_reading_all(path: Path) -> None:
    filled(path)
    with Graph(path) as graph:
        graph.check()
        (page,) = graph.row("SELECT rootpage FROM sqlite_master WHERE name = 'steps'") or (0,)
        (page_bytes,) = graph.row("PRAGMA page_size") or (0,)
    with path.open("r+b") as file:
        file.seek((page - 1) * page_bytes)
        file.write(b"x" * page_bytes)
    with Graph(path) as graph, pytest.raises(DamagedError):
        graph.check()


def test_an_index_beside_the_log_of_another_one_is_made_without_it(path: Path) -> None:
    filled(path)
    with Graph(path) as graph:  # which keeps its log on disk
        path.unlink()
        with Graph(path, Mode.WRITE) as other:
            assert indexed_sessions(other) == ()
        assert [row.size for row in indexed_sessions(graph)] == [2]
