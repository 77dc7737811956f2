from __future__ import annotations

from tallystick.ingest.shared_events import Place, SharedEvents
from tallystick.model.ids import SessionId

A, B = SessionId("a" * 32), SessionId("b" * 32)


def place(session: SessionId, n: int) -> Place:
    return Place(session, n, f"{n:064x}")


def test_an_event_is_found_once_its_file_was_read_and_where_it_was_recorded_first() -> None:
    events = SharedEvents()
    events.begin(A, 0)
    events.begin(B, 7)
    events.add("claude-code", "u1", place(A, 3))
    assert events.find("claude-code", "u1") is None
    events.publish()
    events.add("claude-code", "u1", place(B, 9))
    events.add("claude-code", "u2", place(B, 8))
    events.publish()
    assert events.find("claude-code", "u1") == place(A, 3)
    assert events.find("claude-code", "u2") == place(B, 8)
    assert events.find("another", "u1") is None


def test_what_was_there_before_is_not_of_this_import() -> None:
    events = SharedEvents()
    events.begin(B, 7)
    events.begin(B, 12)
    assert [events.is_new(one) for one in (place(B, 6), place(B, 7), place(A, 9))] == [False, True, False]
