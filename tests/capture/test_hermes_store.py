"""Hermes' own store, read by somebody else."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tallystick.capture.hermes_store import HermesStore, default_store
from tallystick.errors import SourceError
from tallystick.sessions.hermes_provenance import build_session_provenance
from tests.support.cases import cases

RECORDING = Path(__file__).parents[1] / "recordings" / "hermes" / "0.19.0" / ".hermes" / "state.db"
CHAIN = ("21511ee8-a8f0-4dbd-a825-da85930c520b", "20261121_203915_ae293e", "20261121_203918_639673")


def made(path: Path, *statements: str) -> Path:
    with closing(sqlite3.connect(path)) as database:
        for statement in statements:
            database.execute(statement)
        database.commit()
    return path


def change(path: Path, statement: str) -> None:
    made(path, statement)


def test_a_real_store_gives_rows_and_is_left_as_it_was() -> None:
    before = RECORDING.read_bytes()
    store = HermesStore(str(RECORDING))
    row = store.get_session(CHAIN[1])
    assert row is not None
    assert (row["parent_session_id"], row["end_reason"]) == (CHAIN[0], "compression")
    assert store.get_session("nobody") is None
    found = build_session_provenance(store, CHAIN[0], CHAIN[2], previous_hermes_session_id=CHAIN[1])
    assert found is not None
    assert (found["sessionKind"], found["compressionDepth"], found["rootHermesSessionId"]) == (
        "continuation",
        2,
        CHAIN[0],
    )
    assert RECORDING.read_bytes() == before
    assert {path.name for path in RECORDING.parent.iterdir()} == {"state.db"}


@pytest.mark.parametrize("mode", ["DELETE", "WAL"])
def test_what_changes_is_seen(tmp_path: Path, mode: str) -> None:
    path = made(
        tmp_path / "state.db",
        f"PRAGMA journal_mode = {mode}",
        "CREATE TABLE sessions (id TEXT, parent_session_id TEXT, end_reason TEXT)",
        "INSERT INTO sessions VALUES ('a', NULL, NULL)",
    )
    store = HermesStore(path)
    for reason in ("compression", "branched", "idle"):
        change(path, f"UPDATE sessions SET end_reason = '{reason}'")
        row = store.get_session("a")
        assert row is not None
        assert row["end_reason"] == reason
    change(path, "DELETE FROM sessions")
    assert store.get_session("a") is None


def test_a_writer_that_has_it_open_is_not_disturbed(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as hermes:
        hermes.execute("PRAGMA journal_mode = WAL")
        hermes.execute("CREATE TABLE sessions (id TEXT, parent_session_id TEXT, end_reason TEXT)")
        hermes.execute("INSERT INTO sessions VALUES ('a', NULL, NULL)")
        hermes.execute("BEGIN IMMEDIATE")
        hermes.execute("INSERT INTO sessions VALUES ('b', 'a', NULL)")
        store = HermesStore(path)
        assert store.get_session("b") is None
        hermes.execute("COMMIT")
        assert store.get_session("b") is not None


SCHEMAS = cases(__file__, "schemas", dict[str, tuple[str, str]])


@pytest.mark.parametrize(("columns", "values"), SCHEMAS.values(), ids=SCHEMAS)
def test_other_versions_are_read_as_far_as_they_go(tmp_path: Path, columns: str, values: str) -> None:
    path = made(tmp_path / "state.db", f"CREATE TABLE sessions ({columns})", f"INSERT INTO sessions VALUES ({values})")
    found = build_session_provenance(HermesStore(path), "b", "b")
    assert found is not None
    assert found["sessionKind"] == "root"


@pytest.mark.parametrize("content", [None, b"no database", b"SQLite format 3\0" + b"\xff" * 200])
def test_what_is_no_store_is_told_once_and_for_all_that_ask(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "state.db"
    if content is not None:
        path.write_bytes(content)
    store = HermesStore(path)
    for _ in range(2):
        with pytest.raises(SourceError):
            store.get_session("a")
    assert build_session_provenance(store, "a", "a") is None


def test_a_pipe_in_the_place_of_a_store_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "state.db")
    assert build_session_provenance(HermesStore(tmp_path / "state.db"), "a", "a") is None


def test_a_store_that_appears_later_is_read_then(tmp_path: Path) -> None:
    store = HermesStore(tmp_path / "state.db")
    with pytest.raises(SourceError):
        store.get_session("a")
    made(store.path, "CREATE TABLE sessions (id TEXT)", "INSERT INTO sessions VALUES ('a'), (7), (x'00')")
    assert store.get_session("a") == {"id": "a"}


def test_where_hermes_keeps_it(tmp_path: Path) -> None:
    assert default_store({}, tmp_path) == tmp_path / ".hermes" / "state.db"
    assert default_store({"HERMES_HOME": "/data/h"}, tmp_path) == Path("/data/h/state.db")
