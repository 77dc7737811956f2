"""Sessions in one line, what hangs on them where it hangs."""

import itertools

from tallystick.model.recorded import Recorded
from tallystick.sessions.timeline import (
    DEEPEST,
    Beat,
    Below,
    Counts,
    Track,
    count_all,
    folded_runs,
    nested,
    time_of,
    with_roles,
)
from tests.sessions.stepping import name, reader, sid, step, track
from tests.support.cases import each

A = [step("a", n, second=n) for n in range(4)]
B = [step("b", 0, "a1", second=2), step("b", 1, second=9)]
C = [step("c", 0, "b0", second=3)]
SESSIONS = {"a": A, "b": B, "c": C}
CHILDREN = {sid("a"): (track("b", "a1"),), sid("b"): (track("c", "b0"),)}


def told(below: Below, **more: tuple[Track, ...]) -> list[str]:
    children = {**CHILDREN, **{sid(letter): tracks for letter, tracks in more.items()}}
    beats = nested([track("a")], children, reader(SESSIONS), below)
    return [f"{'.' * beat.depth}{name(beat.step)}{'+' if beat.folded else ''}" for beat in beats]


def test_what_hangs_on_a_step_comes_after_it_at_any_depth() -> None:
    assert told(Below.INLINE) == ["a0", "a1", ".b0", "..c0", ".b1", "a2", "a3"]


def test_folded_it_is_one_beat_and_hidden_none() -> None:
    assert told(Below.FOLD) == ["a0", "a1", ".b0+", "a2", "a3"]
    assert told(Below.HIDE) == ["a0", "a1", "a2", "a3"]


def test_what_is_folded_is_counted_unless_it_was_and_says_what_hangs_on_it() -> None:
    (folded,) = [beat.folded for beat in nested([track("a")], CHILDREN, reader(SESSIONS), Below.FOLD) if beat.folded]
    assert folded == Counts(steps=2, sessions=1)
    known = {sid("a"): (track("b", "a1", counts=Counts(steps=7, failures=1)),)}
    (folded,) = [beat.folded for beat in nested([track("a")], known, reader(SESSIONS), Below.FOLD) if beat.folded]
    assert folded == Counts(steps=7, failures=1)


def test_a_session_whose_step_is_not_known_stands_where_its_time_says_or_last() -> None:
    loose = track("b", parent=sid("a"), started="2026-01-02T10:00:02.500000Z")
    assert told(Below.FOLD, a=(loose,)) == ["a0", "a1", "a2", ".b0+", "a3"]
    assert told(Below.FOLD, a=(track("b", parent=sid("a")),)) == ["a0", "a1", "a2", "a3", ".b0+"]
    gone = track("b", "a9")
    assert told(Below.FOLD, a=(gone,)) == ["a0", "a1", "a2", "a3", ".b0+"]


def test_sessions_that_hang_on_one_another_in_a_circle_come_once() -> None:
    assert told(Below.INLINE, c=(track("a", "c0"), track("b", "c0"))) == ["a0", "a1", ".b0", "..c0", ".b1", "a2", "a3"]


def test_what_hangs_too_deep_stays_folded() -> None:
    letters = [chr(ord("A") + number) for number in range(DEEPEST + 3)]
    sessions = {letter: [step(letter, 0), step(letter, 1)] for letter in letters}
    children = {sid(above): (track(below, f"{above}0"),) for above, below in itertools.pairwise(letters)}
    beats = list(nested([track("A")], children, reader(sessions), Below.INLINE))
    assert max(beat.depth for beat in beats) == DEEPEST + 1
    (folded,) = [beat.folded for beat in beats if beat.folded]
    assert folded == Counts(steps=2, sessions=1)


def test_two_sessions_come_one_after_the_other() -> None:
    beats = nested([track("c"), track("b")], {}, reader(SESSIONS), Below.INLINE)
    assert [name(beat.step) for beat in beats] == ["c0", "b0", "b1"]


def test_folding_afterwards_counts_what_came_of_each_session() -> None:
    beats = nested(
        [track("a")], {**CHILDREN, sid("a"): (track("b", "a1"), track("c", "a1"))}, reader(SESSIONS), Below.INLINE
    )
    found = [(name(beat.step), beat.folded) for beat in folded_runs(beats)]
    assert found == [
        ("a0", None),
        ("a1", None),
        ("b0", Counts(steps=3, sessions=1)),
        ("a2", None),
        ("a3", None),
    ]
    apart = {sid("a"): (track("b", "a1"), track("c", "a1"))}
    beats = nested([track("a")], apart, reader(SESSIONS), Below.INLINE)
    assert [beat.folded.steps for beat in folded_runs(beats) if beat.folded] == [2, 1]


def test_counting_sees_calls_failures_and_tokens() -> None:
    steps = [
        step("a", 0, type="tool_call"),
        step("a", 1, type="tool_result", success=False),
        step("a", 2, tokens={"input": 5, "output": 2, "reasoning": 1, "cache_read": True}),
        step("a", 3, tokens="many"),
    ]
    assert count_all(steps) == Counts(steps=4, tool_calls=1, failures=1, tokens=7)


def test_a_step_has_the_time_that_its_source_says_else_that_of_recording() -> None:
    assert time_of(step("a", 0, recorded="2027")) == "2026-01-02T10:00:00.000000Z"
    assert time_of(step("a", 0, ts=None, recorded="2027")) == "2027"
    assert time_of(step("a", 0, ts=5)) == ""


# Sub-agents without a session of their own ---------------------------------------------------------------------------


def roles(below: Below, agent: str, *steps: Recorded) -> list[tuple[str, str | None, int | None]]:
    beats = with_roles((Beat(one, track("a", agent=agent)) for one in steps), below)
    return [(name(beat.step), beat.role, beat.folded.steps if beat.folded else None) for beat in beats]


WORK = (
    step("a", 0, agent_role="main"),
    step("a", 1, agent_role="critic", type="subagent_start"),
    step("a", 2, agent_role="critic", type="tool_call"),
    step("a", 3, agent_role="main"),
    step("a", 4, agent_role="critic"),
    step("a", 5, agent_role="critic", type="subagent_end"),
    step("a", 6),
)


@each("agent", ["headless", "demo"])
def test_the_steps_of_a_role_are_folded_into_its_end(agent: str) -> None:
    assert roles(Below.FOLD, agent, *WORK) == [
        ("a0", None, None),
        ("a1", "critic", None),
        ("a3", None, None),
        ("a5", "critic", 2),
        ("a6", None, None),
    ]
    assert [found[0] for found in roles(Below.HIDE, agent, *WORK)] == ["a0", "a1", "a3", "a5", "a6"]
    assert [found[1] for found in roles(Below.INLINE, agent, *WORK)] == [
        None,
        "critic",
        "critic",
        None,
        "critic",
        "critic",
        None,
    ]


def test_a_role_that_never_ends_is_not_lost() -> None:
    assert roles(Below.FOLD, "headless", *WORK[:3]) == [("a0", None, None), ("a1", "critic", None), ("a2", "critic", 1)]


@each("over", ["goal_end", "session_end", "workflow_end"])
def test_a_role_that_tells_no_end_stands_before_the_end_of_what_it_worked_for(over: str) -> None:
    steps = (*WORK[:3], step("a", 3, type=over), step("a", 4))
    assert [found[0] for found in roles(Below.FOLD, "headless", *steps)] == ["a0", "a1", "a2", "a3", "a4"]
    assert [found[0] for found in roles(Below.HIDE, "headless", *steps)] == ["a0", "a1", "a3", "a4"]


def test_the_role_of_a_whole_session_is_no_sub_agent() -> None:
    steps = [step("a", n, agent_role="build") for n in range(3)]
    assert roles(Below.FOLD, "opencode", *steps) == [(f"a{n}", None, None) for n in range(3)]
