"""Several programs with one session, in either kind of store: each writes what it changed, and reading writes nothing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tallystick.journal.headless import FileStore
from tallystick.recording.session_journal import JournalStore
from tallystick.recording.session_log import FileManager, SessionManager
from tallystick.sessions.session_log import Event


@pytest.fixture(params=["files", "journals"])
def manager(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    """A manager over either kind of store."""
    store = FileStore(tmp_path / "files") if request.param == "files" else JournalStore(tmp_path / "store")
    with SessionManager(store) as made:
        yield made


def test_one_who_has_changed_nothing_leaves_a_session_complete_that_another_has_ended(manager: SessionManager) -> None:
    session = manager.create("w")
    mine, stale = manager.get(session.id), manager.get(session.id)
    mine.status, mine.result, mine.outputs = "complete", "done", {"o": "1"}
    manager.update(mine)
    leaves: tuple[Callable[[], None], ...] = (lambda: manager.update(stale), stale.flush, stale.close)
    for leave in leaves:
        leave()
        found = manager.get(session.id)
        assert (found.status, found.result, found.outputs) == ("complete", "done", {"o": "1"})


def test_two_keep_what_each_has_changed(manager: SessionManager) -> None:
    session = manager.create("w", {"a": "1"})
    session.state = {"kept": 1, "gone": 1}
    manager.update(session)
    one, other = manager.get(session.id), manager.get(session.id)
    one.state["one"], other.state["other"] = 1, 2
    del other.state["gone"]
    other.error = "it broke"
    manager.update(one)
    manager.update(other)
    found = manager.get(session.id)
    assert (found.state, found.error, found.status) == ({"kept": 1, "one": 1, "other": 2}, "it broke", "running")
    assert found.inputs == {"a": "1"}


def test_a_session_that_went_on_ends_again_with_the_next_update(manager: SessionManager) -> None:
    session = manager.create("w")
    session.status = "complete"
    manager.update(session)
    session.add_event(Event(type="user"))
    manager.update(session)
    assert manager.get(session.id).status == "complete"
    again = manager.get(session.id)
    again.status = "running"
    manager.update(again)
    assert manager.get(session.id).status == "running"


def test_one_who_only_reads_writes_nothing(manager: SessionManager, tmp_path: Path) -> None:
    session = manager.create("w")
    session.add_event(Event(type="user"))
    session.close()
    manager.close()
    before = _state_of(tmp_path)
    with SessionManager(type(manager.store)(_place(manager))) as reading:  # type: ignore[call-arg]
        found = reading.get(session.id)
        assert len(found.events) == 1
        found.flush()
        reading.update(found)
        found.close()
    assert _state_of(tmp_path) == before


def _place(manager: SessionManager) -> Path:
    store = manager.store
    if isinstance(store, FileStore):
        return store.folder
    assert isinstance(store, JournalStore)
    return store.home.folder


def _state_of(folder: Path) -> dict[str, tuple[int, int]]:
    """Every file below a folder, by its time and its size."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path): (path.stat().st_mtime_ns, path.stat().st_size) for path in files}


def test_the_events_of_a_moment_stay_what_they_were(manager: SessionManager) -> None:
    session = manager.create("w")
    session.add_event(Event(type="user", content="a"))
    before = session.events
    session.add_event(Event(type="user", content="b"))
    assert ([event.content for event in before], len(session.events)) == (["a"], 2)
    assert session.events[1:] == [session.events[-1]]


def test_a_file_that_cannot_be_read_is_left_out_of_the_list_and_logged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with FileManager(tmp_path) as manager:
        session = manager.create("w")
        tmp_path.joinpath("notes.json").write_text("[1]")
        assert [found.id for found in manager.list()] == [session.id]
    assert "session notes is not listed" in caplog.text
