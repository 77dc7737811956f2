from __future__ import annotations

import json

from tallystick.model.step import Loss, Ref, SessionKind
from tests.agents.claude_lines import (
    assistant,
    call,
    ids,
    one,
    openings,
    read,
    result,
    said,
    user,
)
from tests.agents.mutations import losses_of, steps_of


def test_lines_without_any_id_are_named_by_their_place() -> None:
    line = user("u", None, "one")
    del line["uuid"]
    events = read(line, line)
    assert ids(events) == ["s/@0", f"s/@{len(json.dumps(line)) + 1}"]


def test_an_id_that_stands_twice_is_two_events() -> None:
    events = read(
        assistant("a", None, call("c1")), result("r", "a", "c1", "one"), result("q", "a", "c1", "two", is_error=True)
    )
    assert [step.source_id for step in steps_of(events, "tool_result")] == ["c1/result", "q"]


def test_a_line_that_stands_twice_counts_once() -> None:
    events = read(user("u", None, "one"), user("u", None, "one"), user("v", "u", "two"))
    assert ids(events) == ["u", "v"]
    assert losses_of(events) == {"duplicate_line": 1}


def test_history_that_a_resumed_session_repeats_leads_on_to_it() -> None:
    events = read(user("u", None, "one"), assistant("a", "u", "yes"), user("v", "a", "two", sessionId="t"))
    assert openings(events)["t"].kind is SessionKind.FORK
    assert openings(events)["t"].parent == Ref("a", "s")
    assert one(events, "v").session == "t"


def test_a_summary_without_a_boundary_is_a_compaction_all_the_same() -> None:
    events = read(
        user("u", None, "one"),
        assistant("a", "u", "yes"),
        user("k", None, "Summary: one, yes", isCompactSummary=True),
        user("v", "k", "two"),
    )
    assert ids(events, "s") == ["u", "m1/usage", "a", "k/compaction", "k/compaction/end"]
    assert ids(events, "s~1") == ["k", "v"]
    assert openings(events)["s~1"].parent == Ref("k/compaction", "s")


def test_a_conversation_rewound_beyond_its_compaction_hangs_on_the_old_session() -> None:
    boundary = said("system", "k", None, subtype="compact_boundary", content="Conversation compacted")
    events = read(user("u", None, "one"), assistant("a", "u", "yes"), boundary, user("v", "a", "two"))
    assert one(events, "v").session == "s~1"
    assert one(read(*[user("u", None, "one"), boundary, user("v", "k", "x"), user("w", "u", "y")]), "w").after == (
        Ref("u", "s"),
    )


def test_names_of_a_session_count_as_they_stand_at_the_end() -> None:
    name = {"type": "custom-title", "sessionId": "s"}
    events = read(
        {**name, "customTitle": "first"},
        user("u", None, "one"),
        {"type": "summary", "summary": "Here", "leafUuid": "u"},
        {"type": "summary", "summary": "Elsewhere", "leafUuid": "other"},
        {**name, "customTitle": "second"},
    )
    assert one(events, "s/custom-title").values == {"content.title": "second"}
    assert one(events, "s/summary/u").values == {"content.title": "Here"}
    assert one(events, "s/summary/other").values == {"content.text": "Elsewhere"}
    assert losses_of(events) == {"custom-title_again": 1}


def test_summaries_alone_make_no_session() -> None:
    events = read({"type": "summary", "summary": "Elsewhere", "leafUuid": "other"})
    assert events == [Loss(kind="summary", detail="names no conversation of this file")]


def test_what_is_not_understood_is_counted() -> None:
    events = read(b"{", b"[1]", b'{"type": 3}', {"type": "brand-new"}, {"type": "user", "uuid": "u", "sessionId": "s"})
    assert losses_of(events) == {
        "bad_line": 1,
        "unknown_line": 2,
        "unknown_brand-new": 1,
        "empty_message": 1,
    }
    assert [event.fault for event in events if isinstance(event, Loss)].count(True) == 1


def test_padding_before_a_line_is_passed_over() -> None:
    assert ids(read(b"\0\0\0" + json.dumps(user("u", None, "one")).encode())) == ["u"]
