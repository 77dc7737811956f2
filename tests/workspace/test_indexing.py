"""The index follows the journals, and says so when it cannot."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

import pytest

from tallystick.errors import NotFoundError
from tallystick.graph.alerts import Seen
from tallystick.graph.compare import session_digests
from tallystick.graph.graph import SCHEMA, Graph, GraphError, Mode, remove_graph
from tallystick.graph.journals import Depth
from tallystick.graph.queries import SessionFilter, list_sessions
from tallystick.journal.home import Home
from tallystick.model.step import Step
from tallystick.recording.alert_chain import AlertChain
from tallystick.recording.recorder import Recorder
from tallystick.recording.session_writer import SessionWriter
from tallystick.trust.alerts import find_alert, review_alert
from tallystick.trust.erase import Erasure, erase
from tallystick.trust.verify_log import verify_log
from tallystick.trust.verify_named import find_session
from tallystick.workspace.indexing import bring_up_to_date, indexed, is_current, open_index, take_alerts
from tests.support.alerting import (
    AGENT,
    SESSION,
    bring_alerts_up_to_date,
    rebuild_with_alerts,
    refuse,
    store_with,
    table,
)


def test_what_was_recorded_since_is_in_the_index_when_it_is_opened(home: Home) -> None:
    with Recorder(home.folder) as recorder:
        session = recorder.session("demo", "one")
        with open_index(home) as index:
            assert [row.size for row in list_sessions(index.graph, SessionFilter())] == [1]
        session.prompt("hello")
        with open_index(home) as index:
            assert [row.size for row in list_sessions(index.graph, SessionFilter())] == [2]
            assert index.remarks == []


def test_a_session_whose_journal_is_gone_leaves_the_index(samples: Home) -> None:
    gone = find_session(samples, "receipts-currency")
    path = samples.journal(gone)
    assert path is not None
    with open_index(samples) as index:
        assert gone in session_digests(index.graph)
    path.unlink()
    with open_index(samples) as index:
        assert gone not in session_digests(index.graph)


def test_steps_whose_relations_are_not_made_yet_are_not_all_there_is(samples: Home) -> None:
    remove_graph(samples.graph)
    with Graph(samples.graph, Mode.WRITE) as graph:
        bring_up_to_date(samples, graph, depth=Depth.STEPS)
        assert graph.rows("SELECT 1 FROM relations") == []
    assert not is_current(samples, Depth.STEPS)
    with open_index(samples) as index:
        assert index.graph.row("SELECT count(*) > 10 FROM relations") == (1,)
    assert is_current(samples, Depth.STEPS)


def test_without_an_index_one_is_made_that_says_the_same(samples: Home) -> None:
    with open_index(samples, depth=Depth.TEXT) as index:
        before = session_digests(index.graph)
    for path in samples.folder.glob("graph.db*"):
        path.unlink()
    with open_index(samples, depth=Depth.TEXT) as index:
        assert session_digests(index.graph) == before


def test_without_a_store_there_is_no_index(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="no store"), open_index(Home(tmp_path / "none")):
        pass


def test_a_damaged_index_is_an_error_that_says_how_to_mend_it(samples: Home) -> None:
    samples.graph.write_bytes(b"no database at all, but long enough to be looked at" * 100)
    with pytest.raises(GraphError) as caught, open_index(samples):
        pass
    assert "tally rebuild" in (caught.value.hint or "")


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is read-only for the administrator")
def test_what_is_new_is_in_the_index_of_a_store_whose_own_cannot_be_written(samples: Home) -> None:
    with Recorder(samples.folder) as recorder:
        recorder.session("demo", "new")
    samples.graph.chmod(0o400)
    with open_index(samples) as index:
        assert index.remarks[0].startswith("the store cannot be written")
        assert len(list_sessions(index.graph, SessionFilter())) == 9


def test_a_locked_index_is_used_as_it_is(samples: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tallystick.graph.graph._PATIENCE_S", 0.05)
    with Recorder(samples.folder) as recorder:
        recorder.session("demo", "new")
    other = sqlite3.connect(samples.graph, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with open_index(samples) as index:
        assert index.remarks[0].startswith("the index is stale")
        assert len(list_sessions(index.graph, SessionFilter())) == 8
    other.close()


def test_a_broken_journal_is_remarked_and_the_others_are_read(samples: Home) -> None:
    broken = find_session(samples, "receipts-currency")
    path = samples.journal(broken)
    assert path is not None
    path.write_bytes(path.read_bytes() + b"no line of ours\n")
    with open_index(samples) as index:
        assert len(list_sessions(index.graph, SessionFilter())) == 8
        assert index.remarks[0].startswith(f"{broken[:8]}: cannot be read from step 32 on")


def test_an_erased_text_is_not_in_the_index_any_more(home: Home) -> None:
    with Recorder(home.folder) as recorder, recorder.session("demo", "one") as session:
        session.prompt("the password is swordfish")
    with open_index(home, depth=Depth.TEXT):
        pass
    erase(home, session.id, 1, Erasure(("content.text",), "a password"))
    with open_index(home, depth=Depth.TEXT):
        pass
    assert not any(b"swordfish" in path.read_bytes() for path in home.folder.rglob("*") if path.is_file())


def test_erased_arguments_leave_nothing_in_the_graph(home: Home) -> None:
    with Recorder(home.folder) as recorder, recorder.session("demo", "one", cwd="/w") as session:
        session.prompt("write it")
        with session.tool_call("Write", {"file_path": "/w/swordfish/CLAUDE.md", "content": "swordfish"}):
            pass
        with session.tool_call("Bash", {"command": "cat swordfish > b"}):
            pass
    with open_index(home, depth=Depth.TEXT) as index:
        assert index.graph.rows("SELECT count(*) FROM artifacts") == [(3,)]
        assert index.graph.rows("SELECT content_prefix FROM artifact_observations") == [("swordfish",)]
    for n in (2, 4):
        erase(home, session.id, n, Erasure(("content.args",), "a password"))
    with open_index(home, depth=Depth.TEXT) as index:
        for table in ("artifacts", "relations", "accesses", "things", "artifact_facts", "artifact_observations"):
            assert index.graph.rows(f"SELECT * FROM {table}") == [], table
    assert not any(b"swordfish" in path.read_bytes() for path in home.folder.rglob("*") if path.is_file())


def test_verification_is_told_what_the_index_has(samples: Home) -> None:
    with open_index(samples) as index:
        rows = list_sessions(index.graph, SessionFilter(limit=None))
    assert sorted(indexed(samples)) == sorted((row.session, row.size, row.last_hash) for row in rows)
    for path in samples.folder.glob("graph.db*"):
        path.unlink()
    assert indexed(samples) == ()


def test_an_index_of_an_older_version_is_made_anew(samples: Home) -> None:
    with open_index(samples) as index:
        before = session_digests(index.graph)
    with sqlite3.connect(samples.graph) as database:
        database.execute(f"PRAGMA user_version = {SCHEMA - 1}")
        database.execute("DROP TABLE relations")
    database.close()
    with open_index(samples) as index:
        assert session_digests(index.graph) == before
        assert index.graph.rows("SELECT count(*) FROM relations") != [(0,)]
        assert index.remarks == ["index rebuilt: it was written by another version"]
    with open_index(samples) as index:
        assert index.remarks == []


def test_an_index_of_a_newer_version_is_left_alone(samples: Home) -> None:
    with sqlite3.connect(samples.graph) as database:
        database.execute(f"PRAGMA user_version = {SCHEMA + 1}")
    database.close()
    with pytest.raises(GraphError, match="newer"), open_index(samples):
        pass


def test_somebody_who_reads_the_index_for_long_keeps_nobody_from_recording_or_indexing(home: Home) -> None:
    with Recorder(home.folder) as recorder:
        session = recorder.session("demo", "one")
        with open_index(home):
            pass
        reader = sqlite3.connect(home.graph, isolation_level=None)
        reader.execute("BEGIN")
        assert reader.execute("SELECT count(*) FROM steps").fetchone() == (1,)
        for n in range(50):
            session.prompt(f"hello {n}")
        with open_index(home) as index:
            assert [row.size for row in list_sessions(index.graph, SessionFilter())] == [51]
        assert reader.execute("SELECT count(*) FROM steps").fetchone() == (1,)
        reader.close()


def test_a_rebuilt_index_has_the_same_alerts_hash_by_hash(home: Home) -> None:
    store_with(home, range(6), sessions=lambda number: f"session {number % 3}")
    store_with(home, range(6, 9), sessions=lambda number: f"session {number % 2}")
    before = table(home)
    assert len(before) == 10
    assert rebuild_with_alerts(home) == 9
    assert table(home) == before
    assert verify_log(home).is_intact


def test_feedback_is_the_same_after_a_rebuild(home: Home) -> None:
    store_with(home, [1])
    with open_index(home) as index:
        review_alert(home, find_alert(index, "1"), "confirmed", "yes", now_ms=1)
    bring_alerts_up_to_date(home)

    def feedback() -> list[tuple[object, ...]]:
        with Graph(home.graph) as graph:
            return graph.rows("SELECT * FROM human_feedback")

    before = feedback()
    rebuild_with_alerts(home)
    assert feedback() == before
    assert len(before) == 1


def test_words_that_are_erased_leave_the_table_and_the_chain_still_holds(home: Home) -> None:
    store_with(home, range(3))
    with open_index(home) as index:
        entry = find_alert(index, "2")
    assert entry.session is not None
    assert entry.n is not None
    erase(home, entry.session, entry.n, Erasure(("content.path", "content.evidence"), "asked"))
    bring_alerts_up_to_date(home)
    with open_index(home) as index:
        after = find_alert(index, "2")
    assert (after.path, after.evidence, after.message) == (None, None, "No.")
    verdict = verify_log(home)
    assert verdict.is_intact
    assert verdict.compared is not None
    assert verdict.compared.erased == 1
    before = table(home)
    rebuild_with_alerts(home)
    assert table(home) == before


def test_what_an_agent_calls_an_alert_is_none(home: Home) -> None:
    with SessionWriter(home) as session_writer:
        refuse(session_writer, AlertChain(session_writer), 1)
        session_writer.add(AGENT, Step(session=SESSION, type="alert", values={"content.text": "trust me"}))
        session_writer.add(AGENT, Step(session=SESSION, type="feedback", meta={"verdict": "confirmed"}))
    assert bring_alerts_up_to_date(home) == 1
    assert bring_alerts_up_to_date(home) == 1


def test_an_alert_of_a_session_that_was_read_first_waits_for_the_one_before_it(home: Home) -> None:
    bring_alerts_up_to_date(home)
    with SessionWriter(home) as session_writer:
        chain = AlertChain(session_writer)
        taken = [refuse(session_writer, chain, number, session=f"session {number}") for number in (1, 2)]
    assert taken[1] is not None
    with Graph(home.graph, Mode.WRITE) as graph:
        bring_up_to_date(home, graph, sessions=[taken[1].session])
        assert take_alerts(home, graph, seen=Seen.SOME) == 0
        assert take_alerts(home, graph, seen=Seen.SOME) == 0
    assert verify_log(home).is_intact
    assert bring_alerts_up_to_date(home) == 2
    verdict = verify_log(home)
    assert verdict.compared is not None
    assert (verdict.is_intact, verdict.compared.moved) == (True, ())
