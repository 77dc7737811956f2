from __future__ import annotations

from tallystick.model.step import Ref
from tests.agents.hermes_rows import (
    BANNER,
    SHARED,
    fed,
    find,
    losses,
    of_type,
    openings,
    said,
    session,
    steps,
    twice_in_place,
)


def test_each_compaction_in_place_opens_the_next_session() -> None:
    events = fed(twice_in_place())
    assert list(openings(events)) == ["s", "s~1", "s~2"]
    assert find(events, "m5/compaction").values["content.kept"] == ["m1", "m3", "m4/0"]
    assert find(events, "m12/compaction").session == "s~1"
    assert find(events, "m12/compaction").values["content.kept"] == ["c1", "c1/result"]
    assert [step.source_id for step in steps(events, "s~1")] == [
        "m6", "m9", "m10/usage", "c1", "c1/result", "m12/compaction", "end",
    ]  # fmt: skip
    assert [step.source_id for step in steps(events, "s~2")] == ["m12", "m15", "m16/usage", "m16/0"]
    assert find(events, "m15").opens_request
    assert losses(events)["repeated_message"] == 5


def test_a_compaction_that_comes_later_leaves_earlier_events_as_they_were() -> None:
    rows = twice_in_place()
    live = [(table, {**row, "active": 1, "compacted": 0} if table == "messages" else row) for table, row in rows[:5]]
    early, late = fed(live), fed(rows)
    assert steps(early) == steps(late)[: len(steps(early))]


def test_an_unknown_banner_is_still_the_summary() -> None:
    rows = [session("p", end_reason="compression", ended_at=1e9 + 9), *SHARED]
    rows += [
        session("c", 1e9 + 10, parent_session_id="p"),
        said(4, "c", "assistant", "Here is what happened so far", at=1e9 + 10.01),
        said(5, "c", "assistant", "two", at=1e9 + 10.01 + 1e-6),
        said(6, "c", "user", "three", at=1e9 + 10.01 + 2e-6),
        said(7, "c", "assistant", "four"),
    ]
    events = fed(rows)
    assert find(events, "m4").meta == {"origin": "summary", "kept": 2}
    assert of_type(steps(events, "c"), "user") == []


def test_the_same_words_typed_again_are_a_new_prompt() -> None:
    rows = [session("p", end_reason="compression", ended_at=1e9 + 9), *SHARED]
    rows += [session("c", 1e9 + 10, parent_session_id="p"), said(4, "c", "user", BANNER, at=1e9 + 10.01)]
    rows += [said(5, "c", "user", "three", at=1e9 + 10.02), said(6, "c", "user", "three", at=1e9 + 60)]
    assert [step.source_id for step in steps(fed(rows), "c")] == ["m4", "m6"]


def test_what_was_taken_back_stays_on_a_side_branch() -> None:
    taken = {"active": 0}
    events = fed(
        [
            session("s", system_prompt="Be brief."),
            said(1, "s", "user", "one"),
            said(2, "s", "assistant", "two"),
            said(3, "s", "user", "wrong", **taken),
            said(4, "s", "assistant", "answer", **taken),
            said(5, "s", "user", "right"),
        ]
    )
    assert find(events, "m3").meta["rewound"] is True
    discard = find(events, "m4/discard")
    assert (discard.type, discard.meta) == ("discard", {"reason": "rewind", "messages": 2})
    assert find(events, "m5").after == (Ref("m2/0"),)


def test_a_rewind_to_the_beginning_goes_back_to_the_system_prompt() -> None:
    rows = [session("s", system_prompt="Be brief."), said(1, "s", "user", "wrong", active=0), said(2, "s", "user", "x")]
    assert find(fed(rows), "m2").after == (Ref("system"),)
