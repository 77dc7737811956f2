from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from tallystick.agents.headless import legacy as headless_legacy
from tallystick.agents.headless.live import LiveLog, spelled_time
from tallystick.model.step import Json, Ref, Step
from tests.agents.conftest import ReadEvents
from tests.agents.headless.test_transcript import LEGACY, SESSION
from tests.agents.mutations import steps_of

JOINED = {"corr", "pairing"}
CHECKS = ("security_static", "security_triage", "security_supervisor", "security_decision")


def events() -> list[dict[str, Json]]:
    return list(json.loads(LEGACY.read_bytes())["events"])


def lived(*records: dict[str, Json]) -> list[Step]:
    log = LiveLog(SESSION)
    return [step for record in records for step in log.steps(record)]


def event(seq: int, kind: str, **members: Json) -> dict[str, Json]:
    return {"seq": seq, "type": kind, "timestamp": f"2026-03-25T09:00:{seq % 60:02}Z", **members}


def test_events_give_the_steps_that_the_file_gives_later_but_for_what_a_check_cannot_know_yet(
    read_events: ReadEvents,
) -> None:
    read = steps_of(read_events(headless_legacy, LEGACY))[:-1]
    now = lived(*events())
    assert [step.source_id for step in now] == [step.source_id for step in read]
    for live, later in zip(now, read, strict=True):
        assert (live.type, live.values, live.ts, live.input) == (later.type, later.values, later.ts, later.input)
        known_later = JOINED if live.type in CHECKS else set()
        assert live.meta == {key: value for key, value in later.meta.items() if key not in known_later}
    hangs_elsewhere = [live.source_id for live, later in zip(now, read, strict=True) if live.after != later.after]
    assert hangs_elsewhere == ["#49"]  # the check of a sub-agent's call, which says neither agent nor role


def test_a_check_that_says_its_role_hangs_where_that_one_stands() -> None:
    steps = lived(
        event(1, "subagent_start", agent="critic", agent_role="critic"),
        event(2, "user"),
        event(3, "security_static", tool="read", agent_role="critic"),
    )
    assert steps[-1].after == (Ref("#1"),)


def test_nothing_is_held_back() -> None:
    log = LiveLog("s")
    for record in events():
        assert log.steps(record)
        assert log.last_seq == record["seq"]


def test_checks_of_two_parallel_calls_of_one_tool_stay_apart() -> None:
    steps = lived(
        event(1, "security_static", tool="bash"),
        event(2, "security_static", tool="bash"),
        event(3, "security_decision", tool="bash", meta={"action": "allow"}),
        event(4, "security_decision", tool="bash", meta={"action": "deny"}),
        event(5, "tool_call", tool="bash", corr_id="c"),
        event(6, "tool_result", tool="bash"),
    )
    after = {step.source_id: step.after for step in steps}
    assert after["#3"] == (Ref("#1"),)
    assert after["#4"] == (Ref("#2"),)
    assert after["c"] == (Ref("#3"),)
    assert after["#6"] == (Ref("c"), Ref("#4"))
    assert steps[-1].meta["failure"] == "denied"


def test_checks_with_the_id_of_their_call_need_no_guess() -> None:
    steps = lived(
        event(1, "security_static", tool="bash", corr_id="a"),
        event(2, "security_static", tool="bash", corr_id="b"),
        event(3, "security_decision", tool="bash", corr_id="b"),
        event(4, "tool_call", tool="bash", corr_id="b"),
        event(5, "tool_call", tool="bash", corr_id="a"),
    )
    assert {step.source_id: step.after for step in steps} == {
        "#1": (),
        "#2": (),
        "#3": (Ref("#2"),),
        "b": (Ref("#3"),),
        "a": (Ref("b"), Ref("#1")),
    }
    assert all("pairing" not in step.meta for step in steps)


def test_checks_whose_call_never_comes_are_forgotten() -> None:
    log = LiveLog("s")
    for seq in range(1, 200):
        log.steps(event(seq, "security_static", tool=f"t{seq}"))
    [late] = log.steps(event(200, "tool_call", tool="t1", corr_id="x"))
    [known] = log.steps(event(201, "tool_call", tool="t199", corr_id="y"))
    assert late.after == ()
    assert known.after == (Ref("x"), Ref("#199"))


def test_an_id_of_a_call_that_is_used_again_names_no_second_call() -> None:
    steps = lived(
        *[event(1, "tool_call", tool="a", corr_id="t"), event(2, "tool_result", tool="a", corr_id="t")],
        *[event(3, "tool_call", tool="a", corr_id="t"), event(4, "tool_result", tool="a", corr_id="t")],
    )
    assert [step.source_id for step in steps] == ["t", "t/result", "#3", "#3/result"]


def test_an_event_without_any_member_gives_nothing() -> None:
    assert LiveLog("s").steps({}) == []


def test_a_time_that_is_finer_than_ours_keeps_its_spelling() -> None:
    assert spelled_time("2026-03-25T09:00:00.5Z") == ("2026-03-25T09:00:00.5Z", {})
    fine = "2026-03-25T09:00:00.00534492Z"
    assert spelled_time(fine) == (fine, {"timestamp": fine})
    assert spelled_time("") == (None, {})


EVENT_MEMBERS: list[dict[str, Json]] = [
    {"type": "user", "content": "x"},
    {"type": "system", "content": "x"},
    {"type": "assistant", "content": "x", "meta": {"model": "m", "tokens_in": 7}},
    {"type": "security_static", "tool": "bash", "meta": {"action": "allow"}},
    {"type": "security_decision", "tool": "bash", "meta": {"action": "deny"}},
    {"type": "tool_call", "tool": "bash", "corr_id": "c1", "args": {"command": "ls"}},
    {"type": "tool_call", "tool": "spawn_agent", "args": {}},
    {"type": "tool_result", "tool": "bash", "corr_id": "c1", "content": "x"},
    {"type": "tool_result", "tool": "bash", "content": "x"},
    {"type": "subagent_start", "agent_role": "helper"},
    {"type": "subagent_end", "agent_role": "helper"},
    {"type": "goal_start", "goal": "x"},
    {"type": "goal_end", "goal": "x"},
    {"type": "security_block", "meta": {"source": "tool:bash"}},
]


@given(st.lists(st.sampled_from(EVENT_MEMBERS), max_size=14), st.data())
def test_what_was_refused_was_never_there(events: list[dict[str, Json]], data: st.DataObject) -> None:
    """The steps of the other events are those that they have without it: what they follow from, and what they are called."""
    refused = [data.draw(st.booleans()) for _ in events]
    whole = LiveLog("s")
    steps = []
    for number, event in enumerate(events):
        undo = whole.undo()
        made = whole.steps({**event, "seq": whole.last_seq + 1})
        if refused[number]:
            undo()
        else:
            steps += made
    other = LiveLog("s")
    wanted = [
        step
        for number, event in enumerate(events)
        if not refused[number]
        for step in other.steps({**event, "seq": other.last_seq + 1})
    ]
    assert steps == wanted
