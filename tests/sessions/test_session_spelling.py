from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from tallystick.sessions.session_log import Event, EventMeta, JSONLRecord, Log, event_from, refuse_misspelt
from tallystick.sessions.session_spelling import as_read
from tallystick.sessions.session_words import EventType, RecordType, Status


@pytest.mark.parametrize(
    ("struct", "members", "message"),
    [
        (Event, {"type": "user", "conten": "x"}, r"Event has no member 'conten'; did you mean 'content'\?"),
        (EventMeta, {"verdct": "ALLOW"}, r"EventMeta has no member 'verdct'; did you mean 'verdict'\?"),
        (Log, {"workflow": "w"}, r"Log has no member 'workflow'; did you mean 'workflow_name'\?"),
    ],
)
def test_a_misspelt_member_is_an_error_that_suggests_the_right_one(
    struct: Any, members: dict[str, Any], message: str
) -> None:
    with pytest.raises(TypeError, match=message):
        struct(**members)


@pytest.mark.parametrize(
    ("struct", "members", "message"),
    [
        (Event, {"type": "usr"}, r"'usr' is not a type of event; did you mean 'user'\?"),
        (Event, {"type": "zzz"}, "'zzz' is not a type of event: it is one of system, user, assistant"),
        (Event, {"type": 5}, "'5' is not a type of event"),
        (Log, {"status": "completed"}, r"'completed' is not a status of a session; did you mean 'complete'\?"),
        (JSONLRecord, {"record_type": "heder"}, r"'heder' is not a type of record; did you mean 'header'\?"),
    ],
)
def test_a_misspelt_type_or_status_is_an_error_that_suggests_the_right_one(
    struct: Any, members: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        struct(**members)


def test_types_of_records_and_statuses_are_constants() -> None:
    assert list(RecordType) == ["header", "event", "footer"]
    assert JSONLRecord(record_type=RecordType.FOOTER, status=Status.FAILED).status == "failed"
    assert Event(type=EventType.USER).type == "user"


def test_a_reader_accepts_what_a_program_may_not_write() -> None:
    found = event_from({"type": "usr", "timestamp": "2026-02-31T00:00:00Z", "success": "yes", "conten": "x"})
    assert found is not None
    assert (found.type, found.timestamp, found.success) == ("usr", "2026-02-31T00:00:00Z", None)
    assert found.extra == {"success": "yes", "conten": "x"}
    assert as_read(Log, {"status": "paused"}).status == "paused"


def test_an_exception_as_the_error_of_an_event_is_kept_by_type_and_message() -> None:
    assert Event(type="tool_result", error=ValueError("no such file")).error == "ValueError: no such file"  # type: ignore[arg-type]


@pytest.mark.parametrize("success", ["yes", 1, 0.0, [True]])
def test_a_success_that_is_not_true_false_or_none_is_refused(success: Any) -> None:
    with pytest.raises(ValueError, match="success is True, False or None"):
        Event(type="tool_result", success=success)


@pytest.mark.parametrize("time", ["2026-02-31T09:00:00Z", "2026-03-25T25:00:00Z", "yesterday", 5])
def test_a_time_that_cannot_be_is_refused(time: Any) -> None:
    with pytest.raises(ValueError, match="is not a time: RFC 3339"):
        Event(type="user", timestamp=time)


def test_times_of_every_spelling_are_accepted() -> None:
    for time in ("", "2026-02-28T09:00:00.123456789Z", "2026-02-28 09:00:00+01:00", datetime(2026, 2, 28, tzinfo=UTC)):
        assert Event(type="user", timestamp=time).timestamp == time  # type: ignore[arg-type]


def test_members_in_jsons_names_are_refused_only_where_they_are_nearly_known() -> None:
    refuse_misspelt({"type": "observation", "host": "h", "Content": "x", "_type": "event", "meta": {"pass": True}})
    with pytest.raises(TypeError, match="did you mean 'content'"):
        refuse_misspelt({"type": "user", "contnt": "x"})
    with pytest.raises(TypeError, match="EventMeta has no member 'verdct'"):
        refuse_misspelt({"type": "user", "meta": {"verdct": "ALLOW"}})
    with pytest.raises(ValueError, match="did you mean 'user'"):
        refuse_misspelt({"type": "usr"})
