"""The index made anew says the same, and says when the old one did not."""

import sqlite3
from pathlib import Path

import pytest

from tallystick.errors import NotFoundError
from tallystick.graph.queries import SessionFilter, list_sessions
from tallystick.journal.home import Home
from tallystick.recording.recorder import Recorder
from tallystick.trust.rebuild import rebuild
from tallystick.trust.verify_named import find_session
from tallystick.workspace.indexing import open_index


def test_the_new_index_says_what_the_old_one_said(samples: Home) -> None:
    done = rebuild(samples)
    assert (done.sessions, done.was, done.differing, done.failures) == (8, 8, (), ())
    assert done.steps == 289


def test_an_old_index_that_was_behind_is_no_difference(samples: Home) -> None:
    with Recorder(samples.folder) as recorder, recorder.session("demo", "new") as session:
        session.prompt("hello")
    done = rebuild(samples)
    assert (done.sessions, done.was, done.differing) == (9, 9, ())


def test_a_row_that_somebody_changed_is_a_difference_and_is_mended(samples: Home) -> None:
    with open_index(samples):  # it is a copy, whose files are others than those that were indexed
        pass
    database = sqlite3.connect(samples.graph)
    with database:
        database.execute("UPDATE steps SET success = 1 WHERE success = 0 AND tool = 'Bash'")
        database.execute("UPDATE sessions SET title = 'harmless' WHERE source_session = 'receipts-currency'")
    database.close()
    done = rebuild(samples)
    assert {find_session(samples, name) for name in ("a42b3437", "c70cf123", "receipts-currency")} <= set(
        done.differing
    )
    assert len(done.differing) < done.sessions
    assert rebuild(samples).differing == ()


def test_an_edge_that_somebody_made_up_is_a_difference_and_goes(samples: Home) -> None:
    with open_index(samples) as index:
        before = index.graph.rows("SELECT * FROM relations ORDER BY relation_id")
    with sqlite3.connect(samples.graph) as database:
        database.execute("INSERT INTO relations VALUES (1, 'request', 2, 'artifact', 3, 'produced', 1, '{}', 4)")
    database.close()
    assert rebuild(samples).tables == ("relations",)
    assert rebuild(samples).tables == ()
    with open_index(samples) as index:
        assert index.graph.rows("SELECT * FROM relations ORDER BY relation_id") == before


@pytest.mark.parametrize("content", [None, b"", b"damaged " * 1000])
def test_whatever_lies_there_is_replaced(samples: Home, content: bytes | None) -> None:
    for path in samples.folder.glob("graph.db*"):
        path.unlink()
    if content is not None:
        samples.graph.write_bytes(content)
    done = rebuild(samples)
    assert (done.sessions, done.differing) == (8, ())
    with open_index(samples) as index:
        assert len(list_sessions(index.graph, SessionFilter())) == 8


def test_a_journal_that_cannot_be_read_to_its_end_is_named(samples: Home) -> None:
    sid = find_session(samples, "receipts-currency")
    path = samples.journal(sid)
    assert path is not None
    path.write_bytes(path.read_bytes() + b"{}\n")
    done = rebuild(samples)
    assert [(failure.session, failure.n) for failure in done.failures] == [(sid, 32)]
    assert done.sessions == 8


def test_without_a_store_there_is_nothing_to_rebuild(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError):
        rebuild(Home(tmp_path / "none"))
