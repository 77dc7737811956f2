"""Which checkpoints a session has, and which make room."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tallystick.sessions.checkpoints import MOST_REPLACED, Checkpoints, Room, Trigger, WhenFull, occasion
from tests.support.cases import each

MANUAL, DONE, ASKED, START = Trigger.MANUAL, Trigger.STEP_COMPLETE, Trigger.POLICY_APPLIED, Trigger.SESSION_START


def checkpoint(trigger: str, position: int = 0, **meta: Any) -> dict[str, Any]:
    return {"type": "checkpoint", "trigger": trigger, "position": position, **meta}


def kept(*metas: dict[str, Any]) -> Checkpoints:
    found = Checkpoints()
    for n, meta in enumerate(metas):
        found.take(n, digest(n), meta)
    return found


def digest(n: int) -> str:
    return f"{n:064x}"


@each(
    "kind, meta, wanted",
    [
        ("step_validation_passed", {}, DONE),
        ("step_validation_failed", {}, None),
        ("phase_reconcile", {}, DONE),
        ("phase_reconcile", {"escalate": True, "triggers": ["low"]}, None),
        ("phase_reconcile", {"success": False}, None),
        ("phase_execute", {"success": True}, None),
        ("goal_end", {}, DONE),
        ("goal_end", {"success": False}, None),
        ("goal_end", {"status": "failed"}, None),
        ("decision", {"effect": "deny"}, ASKED),
        ("decision", {"effect": "ask"}, ASKED),
        ("decision", {"effect": "warn"}, None),
        ("decision", {"effect": "allow"}, None),
        ("policy_decision_applied", {}, ASKED),
        ("policy_decision_applied", {"effect": "allow"}, None),
        ("compaction", {}, None),
        ("checkpoint", {"trigger": "manual"}, None),
    ],
)
def test_a_checked_step_and_a_refusal_are_occasions(kind: str, meta: dict[str, Any], wanted: Trigger | None) -> None:
    assert occasion(kind, meta) is wanted


def test_one_more_than_the_maximum_is_refused_where_all_were_asked_for() -> None:
    two = kept(checkpoint("manual"), checkpoint("manual"))
    for when_full in WhenFull:
        assert not two.room(MANUAL, most=2, when_full=when_full).is_there
        assert not two.room(DONE, most=2, when_full=when_full).is_there
        assert two.room(MANUAL, most=3, when_full=when_full) == Room(is_there=True)
    assert two.room(MANUAL, most=0, when_full=WhenFull.REFUSE).is_there  # 0 is no limit


def test_the_oldest_automatic_one_makes_room() -> None:
    found = kept(checkpoint("manual"), checkpoint("step_complete", 1), checkpoint("policy_applied", 2))
    assert found.room(MANUAL, most=3, when_full=WhenFull.ROLL) == Room(is_there=True, replaces=(digest(1),))
    assert not found.room(MANUAL, most=3, when_full=WhenFull.REFUSE).is_there
    found.take(3, digest(3), checkpoint("manual", replaces=[digest(1)]))
    assert [each.n for each in found] == [0, 2, 3]
    assert found.room(DONE, most=3, when_full=WhenFull.ROLL).replaces == (digest(2),)


def test_what_somebody_asked_for_is_not_replaced_whoever_says_so() -> None:
    found = kept(checkpoint("manual"), checkpoint("session_start"), checkpoint("step_complete", keep=True))
    found.take(3, digest(3), checkpoint("policy_applied", 3, replaces=[digest(0), digest(1), digest(2)]))
    assert [each.n for each in found] == [0, 1, 2, 3]


def test_what_is_kept_makes_no_room() -> None:
    found = kept(checkpoint("step_complete", keep=True), checkpoint("manual"))
    assert not found.room(DONE, most=2, when_full=WhenFull.ROLL).is_there


def test_how_a_session_began_and_what_its_agent_marks_takes_no_place() -> None:
    found = kept(checkpoint("session_start"), {"type": "checkpoint", "ckpt_type": "pre"}, {"type": "compaction"})
    assert found.counted == 0
    found.take(3, digest(3), checkpoint("session_start"))  # one more start: hooks that came later
    assert found.counted == 1
    assert found.room(MANUAL, most=1, when_full=WhenFull.ROLL).replaces == (digest(3),)
    assert kept().room(START, most=1, when_full=WhenFull.REFUSE).is_there
    assert kept(checkpoint("manual")).room(START, most=1, when_full=WhenFull.REFUSE).is_there
    assert (
        not kept(checkpoint("session_start"), checkpoint("manual"))
        .room(START, most=1, when_full=WhenFull.REFUSE)
        .is_there
    )


def test_an_event_is_marked_once_and_a_position_as_often_as_somebody_wants() -> None:
    found = kept(checkpoint("step_complete", 7), checkpoint("manual", 7), checkpoint("session_start", 7))
    assert found.at(DONE, 7) is not None
    assert found.at(ASKED, 7) is None
    assert found.at(DONE, 6) is None
    assert found.at(MANUAL, 7) is None
    assert found.at(START, 7) is None


def test_a_limit_that_was_lowered_is_reached_step_by_step() -> None:
    many = kept(*(checkpoint("step_complete", n) for n in range(MOST_REPLACED + 50)))
    room = many.room(DONE, most=1, when_full=WhenFull.ROLL)
    assert len(room.replaces) == MOST_REPLACED
    assert room.replaces[0] == digest(0)


TRIGGERS = st.sampled_from([MANUAL, DONE, ASKED, START])


@given(
    st.lists(st.tuples(TRIGGERS, st.booleans()), max_size=30),
    st.integers(1, 6),
    st.sampled_from(sorted(WhenFull)),
)
def test_there_are_never_more_than_the_maximum(wanted: list[tuple[Trigger, bool]], most: int, full: WhenFull) -> None:
    found = Checkpoints()
    for n, (trigger, keep) in enumerate(wanted):
        room = found.room(trigger, most=most, when_full=full)
        if room.is_there:
            meta = checkpoint(trigger.value, n, replaces=list(room.replaces), **({"keep": True} if keep else {}))
            found.take(n, digest(n), meta)
        assert found.counted <= most
    manual = [n for n, (trigger, _) in enumerate(wanted) if trigger is MANUAL]
    assert [each.n for each in found if each.trigger is MANUAL] == manual[: sum(e.trigger is MANUAL for e in found)]


HOSTILE = st.one_of(
    st.none(), st.integers(), st.text(max_size=5), st.lists(st.one_of(st.integers(), st.text()), max_size=3)
)


@given(
    st.lists(
        st.fixed_dictionaries(
            {"type": st.sampled_from(["checkpoint", "user"])},
            optional=dict.fromkeys(("trigger", "position", "replaces", "keep"), HOSTILE),
        ),
        max_size=8,
    )
)
def test_nothing_that_members_hold_upsets_it(metas: list[dict[str, Any]]) -> None:
    assert kept(*metas).counted == 0
