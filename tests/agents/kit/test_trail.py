from __future__ import annotations

from tallystick.agents.kit.trail import Trail
from tallystick.model.step import Ref, Step


def step(name: str, session: str = "s") -> Step:
    return Step(session=session, type="user", source_id=name)


def test_a_step_on_the_trail_follows_the_one_before_it_without_saying_so() -> None:
    trail = Trail()
    assert [trail.along(step(name)).after for name in "abc"] == [(), (), ()]
    assert trail.end("s") == "c"


def test_a_step_beside_the_trail_does_not_move_its_end() -> None:
    trail = Trail()
    trail.along(step("a"))
    assert trail.beside(step("hook")).after == ()
    assert trail.beside(step("inner"), of="a").after == (Ref("a"),)
    assert trail.along(step("b")).after == (Ref("a"),)


def test_results_of_parallel_calls_follow_one_another() -> None:
    trail = Trail()
    for name in ("a", "b"):
        trail.along(step(name))
    assert trail.along(step("b/result"), answers="b").after == (Ref("b"),)
    assert trail.along(step("a/result"), answers="a").after == (Ref("b/result"), Ref("a"))


def test_a_trail_that_turned_back_goes_on_from_there() -> None:
    trail = Trail()
    for name in ("a", "b", "c"):
        trail.along(step(name))
    trail.turn_back("s", "a")
    assert trail.along(step("d")).after == (Ref("a"),)


def test_sessions_have_trails_of_their_own() -> None:
    trail = Trail()
    trail.along(step("a", "s"))
    trail.along(step("x", "t"))
    assert trail.along(step("b", "s")).after == ()
    assert (trail.end("s"), trail.end("t"), trail.end("u")) == ("b", "x", None)
