from __future__ import annotations

from tallystick.agents.kit.point import Point, after, below
from tallystick.model.step import Input, Ref, SessionKind, Source


def test_a_step_has_its_point_and_what_its_record_has_and_nothing_that_says_nothing() -> None:
    point = Point("s", "m", "t", Source.ACP, common={"copied": True, "role": None})
    step = point.step("user", {"origin": None, "n": 0}, {"content.text": "a", "content.x": None}, {"content.part": b""})
    assert (step.session, step.source_id, step.ts, step.source) == ("s", "m", "t", Source.ACP)
    assert (step.meta, step.values, step.raw) == (
        {"copied": True, "n": 0},
        {"content.text": "a"},
        {"content.part": b""},
    )


def test_parts_and_other_names_are_in_the_same_place() -> None:
    point = Point("s", "m", "t")
    assert point.part(2) == Point("s", "m/2", "t")
    assert point.named(None) == Point("s", None, "t")


def test_a_model_call_says_whether_its_input_is_on_the_path() -> None:
    assert Point("s", "m").model_call({"model": "x"}).input is Input.PATH
    assert Point("s", "m").model_call({}, is_shown=False).input is Input.HIDDEN


def test_a_step_follows_what_is_known() -> None:
    step = Point("s", "m").step("user")
    assert after(step, None) is step
    assert after(step, "a", None, "b").after == (Ref("a"), Ref("b"))


def test_a_session_with_a_parent_is_a_child() -> None:
    assert below(None) == (SessionKind.ROOT, None)
    assert below("p") == (SessionKind.CHILD, Ref(None, "p"))
