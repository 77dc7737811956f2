"""Steps joined into acts, in the order of time."""

from hypothesis import given
from hypothesis import strategies as st

from tallystick.display.joining import Joiner, joined
from tallystick.model.recorded import Recorded
from tallystick.model.step import Json


def at(second: int) -> str:
    return f"2026-11-21T10:{second // 60:02}:{second % 60:02}.000000Z"


def step(n: int, kind: str, second: int | None = None, **meta: Json) -> Recorded:
    told: dict[str, Json] = {"ts": at(second)} if second is not None else {}
    return Recorded(session="s" * 32, n=n, hash=f"{n:064}", prev="", parents=(), meta={"type": kind, **told, **meta})


def test_a_call_its_decision_and_its_result_are_one_act() -> None:
    (act,) = joined(
        (
            step(1, "tool_call", 1, corr="a"),
            step(2, "decision", 1, parent=1, effect="allow"),
            step(3, "permission", 2, corr="a"),
            step(4, "tool_result", 3, corr="a"),
        )
    )
    assert [one.n for one in act.steps] == [1, 2, 3, 4]
    assert act.at == at(1)


def test_results_without_an_id_belong_to_calls_in_their_order() -> None:
    acts = joined(
        [step(1, "tool_call", 1), step(2, "tool_call", 2), step(3, "tool_result", 3), step(4, "tool_result", 4)]
    )
    assert [[one.n for one in act.steps] for act in acts] == [[1, 3], [2, 4]]


def test_a_decision_that_is_recorded_before_its_call_belongs_to_it() -> None:
    (act,) = joined([step(1, "decision", 1, corr="a"), step(2, "tool_call", 1, corr="a")])
    assert [one.n for one in act.steps] == [2, 1]


def test_a_decision_whose_call_never_comes_is_an_act() -> None:
    (act,) = joined([step(1, "security_static", 1, corr="a"), step(2, "security_decision", 1, corr="a")])
    assert [one.n for one in act.steps] == [1, 2]


def test_a_step_that_says_no_time_has_that_of_the_step_before() -> None:
    acts = list(joined([step(1, "user", 5), step(2, "assistant", None, recorded=at(3000)), step(3, "user", 9)]))
    assert [(act.at, act.is_guessed) for act in acts] == [(at(5), False), (at(5), True), (at(9), False)]


def test_a_revision_takes_the_place_of_what_it_revises() -> None:
    (act,) = joined([step(1, "tool_call", 1, corr="a"), step(2, "tool_call", 1, corr="a", revises=1)])
    assert act.lead.n == 2


def test_a_result_that_revises_one_takes_its_place() -> None:
    (act,) = joined(
        [step(1, "tool_call", 1, corr="a"), step(2, "tool_result", 2, corr="a"), step(3, "tool_result", 3, revises=2)]
    )
    assert [one.n for one in act.steps] == [1, 3]


@given(st.lists(st.integers(0, 500), max_size=60))
def test_time_never_runs_backwards_and_causes_win_ties(seconds: list[int]) -> None:
    acts = list(joined([step(n, "user", second) for n, second in enumerate(seconds)]))
    keys = [(act.at, act.lead.n) for act in acts]
    assert keys == sorted(keys)
    assert len(keys) == len(seconds)


def test_no_more_acts_are_held_than_the_window() -> None:
    joiner = Joiner(window=3)
    given_early = [act.lead.n for n in range(10) for act in joiner.feed(step(n, "user", n))]
    assert given_early == list(range(7))
