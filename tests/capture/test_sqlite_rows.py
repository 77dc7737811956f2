from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tallystick.agents.kit.reading import loads
from tallystick.agents.kit.tables import Table, Tables
from tallystick.capture.sqlite_rows import read_rows
from tallystick.errors import SourceError
from tests.support.laws import examples

TABLES: Tables = (
    Table(name="sqlite_master"),
    Table(
        name="sessions",
        order_by=("began", "id"),
        below=(Table(name="messages", link="session_id", order_by=("id",)),),
    ),
)


def made(path: Path, *statements: str) -> Path:
    with closing(sqlite3.connect(path)) as database:
        for statement in statements:
            database.execute(statement)
        database.commit()
    return path


SCHEMA = (
    "CREATE TABLE sessions (id TEXT PRIMARY KEY, began REAL, title TEXT)",
    "CREATE TABLE messages (id INTEGER PRIMARY KEY, session_id TEXT, content)",
)
TWO_SESSIONS = (
    *SCHEMA,
    "INSERT INTO sessions VALUES ('b', 2.5, 'second'), ('a', 1.5, 'first')",
    "INSERT INTO messages VALUES (3, 'a', 'three'), (1, 'b', 'one'), (2, 'a', 'two')",
)


def read(path: Path, tables: Tables = TABLES[1:]) -> list[tuple[str, dict[str, Any]]]:
    found = [(json.loads(text), ordinal) for text, ordinal in read_rows(path, tables)]
    assert [ordinal for _, ordinal in found] == list(range(len(found)))
    return [(value["table"], value["row"]) for value, _ in found]


def test_each_row_is_followed_by_the_rows_that_belong_to_it(tmp_path: Path) -> None:
    rows = read(made(tmp_path / "a.db", *TWO_SESSIONS))
    assert [(table, row["id"]) for table, row in rows] == [
        ("sessions", "a"),
        ("messages", 2),
        ("messages", 3),
        ("sessions", "b"),
        ("messages", 1),
    ]
    assert rows[0][1] == {"id": "a", "began": 1.5, "title": "first"}


def test_rows_without_an_owner_come_last_and_are_not_lost(tmp_path: Path) -> None:
    path = made(tmp_path / "a.db", *TWO_SESSIONS, "INSERT INTO messages VALUES (9, 'gone', 'x'), (8, NULL, 'y')")
    assert [row["id"] for table, row in read(path) if table == "messages"] == [2, 3, 1, 8, 9]


def test_the_table_above_may_be_missing(tmp_path: Path) -> None:
    path = made(tmp_path / "a.db", SCHEMA[1], "INSERT INTO messages VALUES (1, 'a', 'x')")
    assert read(path) == [("messages", {"id": 1, "session_id": "a", "content": "x"})]


def test_an_owner_without_a_key_owns_nothing(tmp_path: Path) -> None:
    path = made(
        tmp_path / "a.db", "CREATE TABLE sessions (began)", "INSERT INTO sessions VALUES (1)", SCHEMA[1],
        "INSERT INTO messages VALUES (1, 'a', 'x')",
    )  # fmt: skip
    assert [table for table, _ in read(path)] == ["sessions", "messages"]


def test_missing_and_new_columns_are_no_matter(tmp_path: Path) -> None:
    path = made(tmp_path / "a.db", 'CREATE TABLE sessions (id, "odd "" name")', "INSERT INTO sessions VALUES ('s', 7)")
    assert read(path) == [("sessions", {"id": "s", 'odd " name': 7})]


def test_only_the_columns_that_were_asked_for_are_read(tmp_path: Path) -> None:
    path = made(tmp_path / "a.db", *TWO_SESSIONS)
    assert read(path, (Table(name="sessions", columns=("began",), order_by=("began",)),)) == [
        ("sessions", {"id": "a", "began": 1.5}),
        ("sessions", {"id": "b", "began": 2.5}),
    ]


def test_the_tables_that_are_there_can_be_listed(tmp_path: Path) -> None:
    rows = read(made(tmp_path / "a.db", *SCHEMA, "CREATE VIEW v AS SELECT 1"), TABLES[:1])
    assert {"type": "table", "name": "messages"} in [row for _, row in rows]
    assert {"type": "view", "name": "v"} in [row for _, row in rows]


def test_a_view_is_no_table(tmp_path: Path) -> None:
    endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x AS id FROM n"
    assert read(made(tmp_path / "a.db", f"CREATE VIEW sessions AS {endless}")) == []


def test_a_table_without_row_ids_is_read(tmp_path: Path) -> None:
    path = made(
        tmp_path / "a.db",
        "CREATE TABLE sessions (id TEXT PRIMARY KEY) WITHOUT ROWID",
        "INSERT INTO sessions VALUES ('b'), ('a')",
    )
    assert [row["id"] for _, row in read(path, (Table(name="sessions"),))] == ["a", "b"]


@settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.one_of(
        st.none(),
        st.integers(-(2**63), 2**63 - 1),
        st.floats(allow_nan=False),
        st.text(st.characters(exclude_categories=["Cs"])),
        st.binary(),
    )
)
def test_a_value_arrives_as_it_is_kept(tmp_path: Path, value: int | float | str | bytes | None) -> None:
    path = tmp_path / "a.db"
    path.unlink(missing_ok=True)
    made(path, "CREATE TABLE sessions (id INTEGER PRIMARY KEY, value)")
    with closing(sqlite3.connect(path)) as database:
        database.execute("INSERT INTO sessions VALUES (1, ?)", (value,))
        database.commit()
    [(_, row)] = read(path)
    if isinstance(value, bytes):
        assert list(row["value"]) == ["base64"]
    else:
        assert row["value"] == value
        assert type(row["value"]) is type(value)


def test_text_that_is_not_utf8_survives(tmp_path: Path) -> None:
    path = made(tmp_path / "a.db", *SCHEMA, "INSERT INTO messages VALUES (1, 'a', CAST(x'41ff42' AS TEXT))")
    [(text, _)] = list(read_rows(path, TABLES[1:]))
    assert json.loads(text)["row"]["content"] == "A\udcffB"
    assert loads(text).value["row"]["content"] == "A\udcffB"


def test_bytes_come_as_base64(tmp_path: Path) -> None:
    path = made(tmp_path / "a.db", *SCHEMA, "INSERT INTO messages VALUES (1, 'a', x'00ff')")
    assert read(path)[0][1]["content"] == {"base64": "AP8="}


def test_reading_makes_no_file_beside_the_database(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    made(path, "PRAGMA journal_mode = wal", *TWO_SESSIONS)
    assert len(read(path)) == 5
    assert list(tmp_path.iterdir()) == [path]


def test_a_write_ahead_log_is_read_even_if_its_index_is_gone(tmp_path: Path) -> None:
    path = crashed_in_wal_mode(tmp_path)
    path.with_name("a.db-shm").unlink()
    before = sorted(tmp_path.iterdir())
    assert [row["id"] for _, row in read(path)] == ["late"]
    assert sorted(tmp_path.iterdir()) == before


def test_a_write_ahead_log_is_read_while_its_writer_runs(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with closing(sqlite3.connect(path)) as writer:
        writer.execute("PRAGMA journal_mode = wal")
        writer.execute(SCHEMA[0])
        writer.execute("INSERT INTO sessions VALUES ('s', 1, '')")
        writer.commit()
        writer.execute("INSERT INTO sessions VALUES ('uncommitted', 2, '')")
        assert [row["id"] for _, row in read(path)] == ["s"]


def crashed_in_wal_mode(folder: Path) -> Path:
    """A database whose only row is in the write-ahead log, as a killed writer leaves it."""
    live = folder / "live"
    live.mkdir()
    path = made(live / "a.db", "PRAGMA journal_mode = wal", SCHEMA[0])
    with closing(sqlite3.connect(path)) as writer:
        writer.execute("INSERT INTO sessions VALUES ('late', 1, '')")
        writer.commit()
        for ending in ("", "-wal", "-shm"):
            source = path.with_name(path.name + ending)
            folder.joinpath(source.name).write_bytes(source.read_bytes())
    for file in live.iterdir():
        file.unlink()
    live.rmdir()
    return folder / "a.db"


def test_what_is_read_is_one_state_though_others_write(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with closing(sqlite3.connect(path)) as writer:
        writer.execute("PRAGMA journal_mode = wal")
        for statement in TWO_SESSIONS:
            writer.execute(statement)
        writer.commit()
        rows = read_rows(path, TABLES[1:])
        next(rows)
        writer.execute("DELETE FROM messages")
        writer.execute("DELETE FROM sessions")
        writer.commit()
        assert len(list(rows)) == 4


def test_a_database_locked_by_its_writer_is_read_from_a_copy(tmp_path: Path) -> None:
    path = made(tmp_path / "a.db", *TWO_SESSIONS)
    with closing(sqlite3.connect(path, isolation_level=None)) as writer:
        writer.execute("BEGIN EXCLUSIVE")
        writer.execute("DELETE FROM messages")
        assert len(read(path)) == 5
        writer.execute("ROLLBACK")


def test_a_database_that_changes_all_the_time_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = made(tmp_path / "a.db", "PRAGMA journal_mode = wal", *TWO_SESSIONS)
    import shutil

    real = shutil.copyfile

    def copy_and_change(source: Path, target: Path) -> object:
        copied = real(source, target)
        with path.open("ab") as file:
            file.write(b"\0")
        return copied

    monkeypatch.setattr(shutil, "copyfile", copy_and_change)
    with pytest.raises(SourceError, match="is being written all the time"):
        read(path)


@pytest.mark.parametrize(
    ("content", "why"),
    [(b"not a database, and long enough", "is not an SQLite database"), (b"SQLite format 3\0" + b"\xff" * 200, "a.db")],
)
def test_what_is_no_database_is_said_so(tmp_path: Path, content: bytes, why: str) -> None:
    path = tmp_path / "a.db"
    path.write_bytes(content)
    with pytest.raises(SourceError, match=why):
        read(path)


def test_an_empty_file_is_an_empty_database(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    path.touch()
    assert read(path) == []


def test_a_folder_is_no_database(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="is not a file"):
        read(tmp_path)


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.db")
    with pytest.raises(SourceError, match="is not a file"):
        read(tmp_path / "a.db")


def test_a_missing_file_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="No such file"):
        read(tmp_path / "a.db")


def test_a_link_to_itself_is_said_so(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    path.symlink_to(path)
    with pytest.raises(SourceError, match=r"a\.db: cannot be read"):
        read(path)


@pytest.mark.skipif(os.geteuid() == 0, reason="the administrator may read everything")
def test_a_database_that_may_not_be_read_is_said_so(tmp_path: Path) -> None:
    path = made(tmp_path / "a.db", *SCHEMA)
    path.chmod(0)
    with pytest.raises(SourceError, match="Permission denied"):
        read(path)


def test_a_damaged_table_does_not_hide_the_ones_after_it(tmp_path: Path) -> None:
    path = made(tmp_path / "a.db", "PRAGMA page_size = 512", "CREATE TABLE first (id)", "CREATE TABLE second (id)")
    with closing(sqlite3.connect(path)) as database:
        database.executemany("INSERT INTO first VALUES (?)", [("x" * 100,) for _ in range(50)])
        database.execute("INSERT INTO second VALUES ('whole')")
        database.commit()
        [(root,)] = database.execute("SELECT rootpage FROM sqlite_master WHERE name = 'first'")
    with path.open("r+b") as file:
        file.seek((root - 1) * 512)
        file.write(b"\xff" * 512)
    rows: list[bytes] = []

    def keep() -> Iterator[None]:
        for text, _ in read_rows(path, (Table(name="first"), Table(name="second"))):
            rows.append(text)
            yield

    with pytest.raises(SourceError, match=r"a\.db: cannot be read"):
        list(keep())
    assert b"whole" in rows[-1]
