from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tallystick.sessions.states import (
    ENDS,
    Moment,
    Status,
    after,
    end_status,
    life_of,
    may_become,
    meaning,
    word_of_end,
)
from tests.support.cases import each


def end(n: int, word: object = None) -> Moment:
    return Moment(n, is_end=True, word=word)


def start(n: int, *, resumed: bool = False) -> Moment:
    return Moment(n, is_end=False, is_resumed=resumed)


@each(
    "word, status",
    [
        ("active", Status.ACTIVE),
        ("running", Status.ACTIVE),
        ("In Progress", Status.ACTIVE),
        ("complete", Status.COMPLETED),
        ("SUCCESS", Status.COMPLETED),
        ("error", Status.FAILED),
        ("aborted", Status.FAILED),
        ("cancelled", Status.FAILED),
        ("timed-out", Status.FAILED),
        ("merged", Status.MERGED),
        ("rolled back", Status.DISCARDED),
        ("\x1b[31mfailed", None),
        ("x" * 10_000_000, None),
        ("", None),
        (None, None),
        (7, None),
        (["failed"], None),
    ],
)
def test_words_of_others_mean_one_of_five_statuses_or_nothing(word: object, status: Status | None) -> None:
    assert meaning(word) is status
    assert end_status(word) is (status or Status.COMPLETED)


def test_an_end_without_a_word_may_say_that_it_failed() -> None:
    assert word_of_end(None, False) == "failed"
    assert word_of_end("merged", False) == "merged"
    assert word_of_end(None, True) is word_of_end(None, None) is word_of_end(None, 0) is None


@each("now", Status)
@each("then", Status)
@each("resumed", [False, True])
def test_an_active_session_can_end_and_an_ended_one_can_only_be_resumed(
    now: Status, then: Status, resumed: bool
) -> None:
    legal = then in ENDS if now is Status.ACTIVE else then is Status.ACTIVE and resumed
    assert may_become(now, then, resumed=resumed) is legal


def test_a_life_is_followed_and_what_does_not_follow_is_reported() -> None:
    life = life_of([start(0), end(3, "error"), end(4, "merged"), start(5), start(6, resumed=True), end(9, "success")])
    assert (life.status, life.word) == (Status.COMPLETED, "success")
    assert [(refused.n, refused.now, refused.then) for refused in life.refused] == [
        (4, Status.FAILED, Status.MERGED),
        (5, Status.FAILED, Status.ACTIVE),
    ]


def test_an_end_that_says_that_the_session_is_running_ends_nothing_and_is_reported() -> None:
    life = life_of([start(0), end(1, "running")])
    assert life.status is Status.ACTIVE
    assert [refused.word for refused in life.refused] == ["running"]


MOMENTS = st.lists(
    st.builds(
        Moment,
        n=st.integers(0, 99),
        is_end=st.booleans(),
        word=st.none() | st.sampled_from(["failed", "merged", "running", "odd", "done"]),
        is_resumed=st.booleans(),
    )
)


@given(MOMENTS)
def test_a_life_is_what_its_moments_make_of_it_one_by_one(moments: list[Moment]) -> None:
    now = Status.ACTIVE
    for moment in moments:
        now = after(now, moment)
    assert life_of(moments).status is now


@given(MOMENTS, MOMENTS)
def test_an_end_is_final_until_the_session_is_resumed(before: list[Moment], later: list[Moment]) -> None:
    ended = life_of([*before, start(0, resumed=True), end(1, "merged")])
    unresumed = [moment for moment in later if moment.is_end or not moment.is_resumed]
    now = ended.status
    for moment in unresumed:
        now = after(now, moment)
    assert now is ended.status
