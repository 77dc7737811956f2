"""Databases of Gensee Crate, as its published schema lays them out."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.agents import SourceFile, adapters
from tallystick.agents.gensee import transcript as gensee
from tallystick.capture.discover import Found, Refused, recognise
from tallystick.capture.sqlite_rows import read_rows
from tallystick.graph.alerts import AlertFilter, list_alerts
from tallystick.graph.graph import APPLICATION_ID
from tallystick.ingest.import_ import Importer
from tallystick.journal.archive import Archive
from tallystick.journal.home import Home
from tallystick.journal.read import read_session
from tallystick.model.step import Event, Loss, Opening, Ref, Step
from tallystick.trust.verify import verify_store
from tallystick.workspace.indexing import open_index

SCHEMA = """
PRAGMA user_version = 2;
CREATE TABLE sessions (session_id TEXT PRIMARY KEY, agent_id TEXT NOT NULL, root_pid INTEGER NOT NULL DEFAULT 0,
    first_event_at INTEGER NOT NULL, last_event_at INTEGER, flagged INTEGER DEFAULT 0);
CREATE TABLE requests (request_id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL, original_user_prompt TEXT,
    final_response TEXT, events TEXT, created_at INTEGER, completed_at INTEGER, total_tokens INTEGER);
CREATE TABLE agent_events (event_id INTEGER PRIMARY KEY AUTOINCREMENT, pid INTEGER NOT NULL, request_id INTEGER NOT NULL,
    ts INTEGER NOT NULL, source TEXT NOT NULL, type TEXT NOT NULL, cwd TEXT NOT NULL, permission_mode TEXT, tool_name TEXT,
    tool_input TEXT, tool_response TEXT, tool_use_id TEXT);
CREATE TABLE alerts (alert_id INTEGER PRIMARY KEY AUTOINCREMENT, request_id INTEGER, entity_kind TEXT, entity_id INTEGER,
    severity TEXT NOT NULL, action TEXT NOT NULL, rule_id TEXT NOT NULL, message TEXT NOT NULL, path TEXT, evidence TEXT,
    created_at INTEGER NOT NULL, prev_hash TEXT, entry_hash TEXT);
CREATE TABLE alert_chain_head (id INTEGER PRIMARY KEY, head_hash TEXT NOT NULL, count INTEGER NOT NULL);
CREATE TABLE session_token_usage (session_id TEXT PRIMARY KEY, last_cumulative_tokens INTEGER NOT NULL);
"""
NOON = 1_795_300_000_000
ROWS = (
    ("sessions", {"session_id": "s1", "agent_id": "claude-code", "first_event_at": NOON}),
    (
        "requests",
        {
            "request_id": 1,
            "session_id": "s1",
            "original_user_prompt": "Read the key.",
            "final_response": "I may not.",
            "created_at": NOON,
            "completed_at": NOON + 9000,
            "total_tokens": 70,
        },
    ),
    ("requests", {"request_id": 2, "session_id": "s1", "created_at": NOON + 10_000}),
)
EVENTS = (
    (1, 1, 1000, "PreToolUse", '{"tool_use_id": "c1", "command": "cat ~/.ssh/id_rsa"}', None, "c1"),
    (2, 1, 1001, "file_intent", '{"path": "/home/dev/.ssh/id_rsa"}', None, "c1"),
    (3, 1, 2000, "PostToolUse", None, '{"stdout": "x", "interrupted": false}', "c1"),
    (4, 1, 3000, "PermissionRequest", '{"command": "ls"}', None, None),
    (5, 2, 11_000, "PostToolUse", None, '{"stdout": "", "interrupted": true}', "c9"),
    (6, 2, 12_000, "Surprise", None, None, None),
)


def database(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path)) as file:
        file.executescript(SCHEMA)
        for table, row in ROWS:
            file.execute(
                f"INSERT INTO {table} ({', '.join(row)}) VALUES ({', '.join('?' * len(row))})", [*row.values()]
            )
        file.executemany(
            "INSERT INTO agent_events (event_id, pid, request_id, ts, source, type, cwd, tool_name, tool_input,"
            " tool_response, tool_use_id) VALUES (?, 7, ?, ?, 'hook', ?, '/home/dev/p', 'Bash', ?, ?, ?)",
            [(key, request, NOON + at, *rest) for key, request, at, *rest in EVENTS],
        )
        alert = "INSERT INTO alerts (request_id, severity, action, rule_id, message, path, evidence, created_at, entry_hash)"
        file.execute(f"{alert} VALUES (1, 'high', 'block', 'policy_secret', 'No.', '/k', '{{\"a\": 1}}', {NOON}, 'ab')")
        file.execute(f"{alert} VALUES (NULL, 'low', 'warn', 'odd', 'Hm.', NULL, NULL, {NOON}, NULL)")
        file.commit()
    return path


@pytest.fixture
def events(tmp_path: Path) -> list[Event]:
    return list(read(database(tmp_path / "x.db")))


def read(path: Path) -> Iterator[Event]:
    reader = gensee.reader(SourceFile(str(path)))
    for row, ordinal in read_rows(path, gensee.TABLES):
        yield from reader.feed(row, ordinal)
    yield from reader.finish()


def steps(events: list[Event]) -> dict[str | None, Step]:
    return {event.source_id: event for event in events if isinstance(event, Step)}


def test_a_session_is_told_in_its_order(events: list[Event]) -> None:
    told = [(step.session, step.type, step.source_id) for step in events if isinstance(step, Step)]
    assert told == [
        ("s1", "user", "r1"),
        ("s1", "tool_call", "e1"),
        ("s1", "tool_result", "e3"),
        ("s1", "permission", "e4"),
        ("s1", "warning", "a1"),
        ("s1", "assistant", "r1/answer"),
        ("s1", "tool_result", "e5"),
        ("unknown", "warning", "a2"),
    ]
    assert [(event.session, event.agent) for event in events if isinstance(event, Opening)] == [
        ("s1", "gensee"),
        ("unknown", "gensee"),
    ]


def test_calls_have_their_arguments_and_results(events: list[Event]) -> None:
    found = steps(events)
    assert found["e1"].values["content.args"] == {"command": "cat ~/.ssh/id_rsa"}
    assert (found["e1"].meta["corr"], found["e3"].meta["corr"]) == ("c1", "c1")
    assert found["e3"].within == Ref("e1")
    assert (found["e3"].meta["success"], found["e5"].meta["success"]) == (True, False)
    assert found["e5"].within is None


def test_an_alert_is_history_with_its_rule_and_hash(events: list[Event]) -> None:
    alert = steps(events)["a1"]
    assert alert.meta == {"reason": "alert", "severity": "high", "effect": "deny", "rule": "policy_secret"}
    assert alert.values["content.evidence"] == {"a": 1}
    assert alert.values["content.chain"] == {"entry_hash": "ab"}


def test_what_is_not_read_is_counted(events: list[Event]) -> None:
    lost = Counter(event.kind for event in events if isinstance(event, Loss))
    assert lost == {"file_intent": 1, "unknown_event": 1}


def test_it_is_imported_once_and_is_no_alert_of_ours(tmp_path: Path) -> None:
    path, home = database(tmp_path / ".gensee" / "gensee.db"), Home(tmp_path / "store")
    Archive.make(home)
    for expected in (8, 0):
        archive = Archive(home)
        report = Importer(archive, adapters(), UTC).run(recognise([path], adapters()), again=True)
        archive.close()
        assert (report.recorded, report.has_errors) == (expected, False)
    assert {step.type for sid, _ in home.sessions() for step in read_session(home, sid)} >= {"user", "warning"}
    assert verify_store(home).exit_code == 0
    with open_index(home) as index:
        assert list_alerts(index.graph, AlertFilter()) == ()


def test_a_database_is_known_by_its_tables_and_ours_is_not_taken_for_one(tmp_path: Path) -> None:
    path = database(tmp_path / "copy.db")
    assert gensee.recognises(str(path), path.read_bytes()[:65536])
    with closing(sqlite3.connect(path)) as file:
        file.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    assert not gensee.recognises(str(path), path.read_bytes()[:65536])
    assert not gensee.recognises(str(path), b"SQLite format 3\0" + b"\0" * 200)


def test_an_encrypted_one_is_named_as_such(tmp_path: Path) -> None:
    path = tmp_path / "gensee.db"
    path.write_bytes(bytes(range(256)) * 16)
    (found,) = recognise([path], adapters())
    assert isinstance(found, Refused)
    assert "encrypted" in found.why
    plain = database(tmp_path / "plain.db")
    assert [item.agent for item in recognise([plain], adapters()) if isinstance(item, Found)] == ["gensee"]


CELLS = st.one_of(st.none(), st.integers(), st.floats(), st.text(max_size=8), st.just('{"a": [1]}'), st.just("{"))
COLUMNS = ("session_id", "request_id", "event_id", "alert_id", "type", "ts", "tool_input", "tool_use_id", "created_at")
ROW = st.fixed_dictionaries(
    {
        "table": st.sampled_from(("sqlite_master", "sessions", "requests", "agent_events", "alerts", "zz")),
        "row": st.dictionaries(st.sampled_from(COLUMNS), CELLS),
    }
)


@given(st.lists(ROW, max_size=12))
def test_any_rows_are_read(rows: list[dict[str, Any]]) -> None:
    reader = gensee.reader(SourceFile("x.db"))
    told = [event for n, row in enumerate(rows) for event in reader.feed(json.dumps(row).encode(), n)]
    told += reader.finish()
    opened = {event.session for event in told if isinstance(event, Opening)}
    assert {event.session for event in told if isinstance(event, Step)} <= opened
