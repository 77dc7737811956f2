"""Sessions on one clock: by time, never against what follows from what."""

from hypothesis import given
from hypothesis import strategies as st

from tallystick.model.recorded import Recorded
from tallystick.sessions.merging import merged
from tallystick.sessions.timeline import Track
from tests.sessions.stepping import name, reader, step, track


def told(*tracks: Track, **sessions: list[Recorded]) -> list[str]:
    return [name(beat.step) for beat in merged([(one, 0) for one in tracks], reader(sessions))]


def test_steps_come_by_their_time() -> None:
    a = [step("a", n, second=10 * n) for n in range(3)]
    b = [step("b", n, second=10 * n + 5) for n in range(3)]
    assert told(track("a"), track("b"), a=a, b=b) == ["a0", "b0", "a1", "b1", "a2", "b2"]


def test_a_clock_that_goes_back_does_not_turn_a_session_round() -> None:
    a = [step("a", 0, second=10), step("a", 1, second=5), step("a", 2, second=12)]
    b = [step("b", 0, second=11)]
    assert told(track("a"), track("b"), a=a, b=b) == ["a0", "a1", "b0", "a2"]


def test_a_child_whose_clock_is_late_waits_for_the_step_that_began_it() -> None:
    a = [step("a", n, second=100 + n) for n in range(3)]
    b = [step("b", 0, "a1", second=0), step("b", 1, second=1)]
    assert told(track("a"), track("b", "a1"), a=a, b=b) == ["a0", "a1", "b0", "b1", "a2"]


def test_a_parent_that_is_only_claimed_is_waited_for_too() -> None:
    a = [step("a", n, second=100 + n) for n in range(3)]
    b = [step("b", 0, second=0)]
    assert told(track("a"), track("b", "a1", is_claimed=True), a=a, b=b) == ["a0", "a1", "b0", "a2"]


def test_a_merge_comes_after_both_tips_whatever_the_clocks_say() -> None:
    a = [step("a", 0, second=0), step("a", 1, "a0", "b1", second=1), step("a", 2, second=2)]
    b = [step("b", 0, "a0", second=500), step("b", 1, second=501)]
    assert told(track("a"), track("b", "a0"), a=a, b=b) == ["a0", "b0", "b1", "a1", "a2"]


def test_nobody_waits_for_what_is_nowhere() -> None:
    a = [step("a", 0), step("a", 1, "z5", second=1), step("a", 2, "b9", second=2)]
    b = [step("b", 0, "a7", second=0)]
    assert sorted(told(track("a"), track("b", "a7"), a=a, b=b)) == ["a0", "a1", "a2", "b0"]


def test_sessions_that_wait_for_each_other_are_not_stuck() -> None:
    a = [step("a", 0, "b1"), step("a", 1, second=1)]
    b = [step("b", 0, "a1"), step("b", 1, second=1)]
    found = told(track("a"), track("b"), a=a, b=b)
    assert sorted(found) == ["a0", "a1", "b0", "b1"]
    assert found.index("a0") < found.index("a1")


def test_a_session_is_opened_when_its_time_comes() -> None:
    opened: list[str] = []
    sessions = {"a": [step("a", n, second=n) for n in range(3)], "b": [step("b", 0, second=50)]}
    read = reader(sessions)

    def noted(one: Track) -> object:
        opened.append(one.session[0])
        return read(one)

    late = track("b", started="2026-01-02T10:00:50.000000Z")
    beats = merged([(track("a"), 0), (late, 0)], noted)  # type: ignore[arg-type]
    next(beats)
    assert opened == ["a"]
    assert len(list(beats)) == 3


@st.composite
def families(draw: st.DrawFn) -> dict[str, list[Recorded]]:
    """Sessions whose steps follow from steps of each other that were made before, with clocks of their own."""
    letters = "abcd"[: draw(st.integers(1, 4))]
    sessions: dict[str, list[Recorded]] = {letter: [] for letter in letters}
    made: list[Recorded] = []
    for _ in range(draw(st.integers(1, 25))):
        letter = draw(st.sampled_from(letters))
        own = sessions[letter]
        others = [name(one) for one in made if one.session[0] != letter]
        parents = draw(st.lists(st.sampled_from(others), max_size=2, unique=True)) if others else []
        before = [name(own[-1])] if own and parents else []
        one = step(letter, len(own), *before, *parents, second=draw(st.integers(0, 60)))
        own.append(one)
        made.append(one)
    return sessions


@given(families())
def test_whatever_the_clocks_say_all_steps_come_once_and_after_their_parents(
    sessions: dict[str, list[Recorded]],
) -> None:
    found = [beat.step for beat in merged([(track(letter), 0) for letter in sorted(sessions)], reader(sessions))]
    assert sorted(name(one) for one in found) == sorted(name(one) for steps in sessions.values() for one in steps)
    given_before: set[str] = set()
    for one in found:
        assert all(parent.rpartition("#")[2] in given_before for parent in one.parent_path)
        given_before.add(one.hash)


@given(st.lists(st.lists(st.integers(0, 100), max_size=8), min_size=1, max_size=4))
def test_where_no_session_goes_back_the_merge_is_sorted_by_time(seconds: list[list[int]]) -> None:
    sessions = {
        "abcd"[number]: [step("abcd"[number], n, second=second) for n, second in enumerate(sorted(times))]
        for number, times in enumerate(seconds)
    }
    found = [str(beat.step.meta["ts"]) for beat in merged([(track(one), 0) for one in sessions], reader(sessions))]
    assert found == sorted(found)
