from __future__ import annotations

from tallystick.lineage.access import Access
from tallystick.lineage.facts import FactRow, facts_of
from tallystick.lineage.things import file_thing
from tallystick.lineage.versions import history
from tests.lineage.making import THING, access, effect


def facts(*accesses: Access, sessions: dict[int, str] | None = None) -> FactRow:
    return facts_of(file_thing("/w/run.sh"), history(THING, accesses), sessions or {})


def test_a_file_that_was_only_read_was_modified_by_nobody() -> None:
    row = facts(access("read", 1))
    assert (row.last_modified_at, row.last_modified_source, row.is_agent_authored) == (None, None, 0)
    assert (row.last_seen_at, row.last_agent_event_id, row.is_executable) == (1000, 10, 1)


def test_the_last_modifier_is_named_with_its_session() -> None:
    row = facts(access("write", 1, request=4), access("read", 2, request=5), sessions={10: "one"})
    assert (row.last_modified_source, row.last_modified_request_id, row.last_modified_session_id) == ("agent", 4, "one")
    assert (row.last_modified_at, row.last_seen_at) == (1000, 2000)


def test_a_change_from_outside_is_told() -> None:
    row = facts(access("write", 1), effect("modify", 60))
    assert (row.last_modified_source, row.is_unmatched_modified, row.recent_unmatched_effect_count) == ("outside", 1, 1)
    assert row.is_agent_authored == 1


def test_an_effect_that_shows_a_call_is_no_change_from_outside() -> None:
    row = facts(access("write", 1), effect("modify", 1.1))
    assert (row.last_modified_source, row.is_unmatched_modified) == ("agent", 0)


def test_after_a_day_a_change_is_recent_no_more() -> None:
    row = facts(effect("modify", 1), access("read", 25 * 3600))
    assert (row.recent_unmatched_effect_count, row.is_unmatched_modified) == (0, 0)


def test_writes_that_take_turns_between_sessions_are_counted() -> None:
    row = facts(access("write", 1), access("write", 2), access("write", 3), sessions={10: "a", 20: "b", 30: "a"})
    assert row.recent_cross_session_write_count == 2


def test_the_current_version_and_its_digest_are_told() -> None:
    row = facts(access("write", 1, digest="sha256:a"), access("write", 2, digest="sha256:b"))
    assert row.current_digest == "sha256:b"
