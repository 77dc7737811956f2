from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from tallystick.lineage.correlate import (
    AFTER_MS,
    BEFORE_MS,
    CONTENT_AFTER_MS,
    LONGEST_OPEN_MS,
    Match,
    MatchedBy,
    OpenCall,
    SeenEffect,
    Target,
    correlate,
)
from tests.support.cases import each

NAMES = st.sampled_from(("a", "b", "src", "..", "x\x00y", "\udcff", "ß"))
PATHS = st.lists(NAMES, min_size=1, max_size=4).map(lambda names: "/" + "/".join(names))
TIMES = st.integers(min_value=0, max_value=20_000)
DIGESTS = st.sampled_from((None, "sha256:a", "sha256:b"))
TARGETS = st.builds(Target, path=PATHS, is_deep=st.booleans(), is_write=st.booleans(), digest=DIGESTS)
CALLS = st.builds(
    OpenCall,
    step=st.integers(min_value=0, max_value=99),
    session=st.sampled_from(("s", "t")),
    start_ms=TIMES,
    end_ms=st.none() | TIMES,
    folder=PATHS | st.just("") | st.just("/"),
    targets=st.lists(TARGETS, max_size=3).map(tuple),
    is_opaque=st.booleans(),
    has_run=st.booleans(),
)
EFFECTS = st.builds(
    SeenEffect, path=PATHS, at_ms=TIMES, old_path=st.none() | PATHS, is_named=st.booleans(), digest=DIGESTS
)


def call(*targets: Target, step: int = 1, **more: object) -> OpenCall:
    members: dict[str, object] = {"session": "s", "start_ms": 1000, "end_ms": 2000, "folder": "/w", **more}
    return OpenCall(step=step, targets=targets, **members)  # type: ignore[arg-type]


def writes(path: str, digest: str | None = None) -> Target:
    return Target(path, is_write=True, digest=digest)


def seen(path: str, at_ms: int = 1500, **more: object) -> SeenEffect:
    return SeenEffect(path=path, at_ms=at_ms, **more)  # type: ignore[arg-type]


def judged(match: Match | None) -> tuple[int, float, str] | None:
    return None if match is None else (match.step, match.confidence, match.matched_by.value)


# The table ------------------------------------------------------------------------------------------------------------


def test_a_call_that_writes_the_path_caused_the_effect_on_it() -> None:
    assert judged(correlate(seen("/w/a"), [call(writes("/w/a")), call(writes("/w/b"), step=2)])) == (1, 0.75, "path")


def test_either_name_of_a_rename_is_its_path() -> None:
    assert judged(correlate(seen("/w/new", old_path="/w/old"), [call(writes("/w/old"))])) == (1, 0.75, "path")


def test_that_a_call_only_reads_a_path_is_no_reason() -> None:
    assert correlate(seen("/w/a"), [call(Target("/w/a"))]) is None


def test_a_call_that_writes_a_folder_with_all_below_it_caused_effects_there() -> None:
    deep = Target("/w/out", is_deep=True, is_write=True)
    assert judged(correlate(seen("/w/out/x/y"), [call(deep)])) == (1, 0.5, "folder")
    assert judged(correlate(seen("/w/out"), [call(deep)])) == (1, 0.75, "path")
    assert judged(correlate(seen("/w/outside"), [call(deep, folder="/elsewhere")])) == (1, 0.2, "elsewhere")


def test_a_call_of_which_not_all_is_known_may_have_caused_what_happens_in_its_folder() -> None:
    assert judged(correlate(seen("/w/a"), [call(is_opaque=True)])) == (1, 0.5, "folder")


def test_where_several_calls_can_have_caused_it_none_is_said_to_have() -> None:
    script = call(is_opaque=True, step=2, start_ms=1200)
    assert correlate(seen("/w/a"), [call(is_opaque=True), script]) is None
    assert correlate(seen("/w/a"), [call(writes("/w/a")), script]) is None
    assert correlate(seen("/w/a"), [call(writes("/w/a")), call(writes("/w/a"), step=2)]) is None


def test_a_call_that_says_all_it_writes_does_not_stand_in_the_way() -> None:
    assert judged(correlate(seen("/w/a"), [call(writes("/w/a")), call(writes("/w/b"), step=2)])) == (1, 0.75, "path")


def test_a_file_that_holds_what_a_call_wrote_is_its_work_whatever_else_ran() -> None:
    script = call(is_opaque=True, step=2, start_ms=1200)
    written = call(writes("/w/a", "sha256:a"))
    for at_ms in (1500, 2000 + CONTENT_AFTER_MS):
        found = correlate(seen("/w/a", at_ms, digest="sha256:a"), [written, script])
        assert judged(found) == (1, 0.8, "content")
    assert correlate(seen("/w/a", digest="sha256:b"), [written, script]) is None
    assert correlate(seen("/w/a", 2001 + CONTENT_AFTER_MS, digest="sha256:a"), [written]) is None


def test_a_change_by_a_person_a_moment_after_a_write_is_not_the_agents() -> None:
    written = call(writes("/w/a", "sha256:a"))
    assert correlate(seen("/w/a", 3500, digest="sha256:b"), [written]) is None
    assert correlate(seen("/w/a", 3500), [written]) is None


def test_the_only_call_that_ran_may_have_caused_it() -> None:
    assert judged(correlate(seen("/w/a"), [call(writes("/w/b"))])) == (1, 0.35, "time")


def test_two_calls_that_write_other_files_do_not_explain_it() -> None:
    assert correlate(seen("/w/a"), [call(writes("/w/b")), call(writes("/w/c"), step=2, start_ms=1300)]) is None


def test_outside_its_folder_a_call_explains_little_and_one_of_several_nothing() -> None:
    script = call(is_opaque=True)
    assert judged(correlate(seen("/home/dev/.ssh/config"), [script])) == (1, 0.2, "elsewhere")
    assert correlate(seen("/home/dev/.ssh/config"), [script, call(is_opaque=True, step=2, session="t")]) is None


def test_a_folder_is_not_the_beginning_of_a_name() -> None:
    assert judged(correlate(seen("/home/dev/ab"), [call(is_opaque=True, folder="/home/dev/a")])) == (
        1,
        0.2,
        "elsewhere",
    )


def test_a_named_process_of_the_agent_adds_to_what_is_known_and_is_no_reason_alone() -> None:
    assert judged(correlate(seen("/w/a", is_named=True), [call(writes("/w/a"))])) == (1, 0.9, "path")
    assert correlate(seen("/w/a", is_named=True), []) is None


@each(
    "at_ms, fits",
    [
        (1000 - BEFORE_MS - 1, False),
        (1000 - BEFORE_MS, True),
        (2000 + AFTER_MS, True),
        (2000 + AFTER_MS + 1, False),
    ],
)
def test_only_while_a_call_ran_it_may_have_caused_something(at_ms: int, fits: bool) -> None:
    assert (correlate(seen("/w/a", at_ms), [call(writes("/w/a"))]) is not None) is fits


def test_a_call_without_an_end_runs_on_but_not_for_ever() -> None:
    running = call(writes("/w/a"), end_ms=None)
    assert correlate(seen("/w/a", 1000 + LONGEST_OPEN_MS), [running]) is not None
    assert correlate(seen("/w/a", 1000 + LONGEST_OPEN_MS + AFTER_MS + 1), [running]) is None


def test_a_call_that_had_ended_does_not_stand_in_the_way() -> None:
    calls = [call(writes("/w/a"), start_ms=1100, end_ms=1200), call(writes("/w/a"), step=2, start_ms=1100)]
    assert judged(correlate(seen("/w/a"), calls)) == (2, 0.75, "path")


# Laws -----------------------------------------------------------------------------------------------------------------


@given(EFFECTS, st.lists(CALLS, max_size=6))
def test_a_match_names_a_call_that_ran_at_that_time(effect: SeenEffect, calls: list[OpenCall]) -> None:
    found = correlate(effect, calls)
    if found is not None:
        ends = [
            (
                one.start_ms - BEFORE_MS,
                max(one.start_ms, one.end_ms or one.start_ms + LONGEST_OPEN_MS) + CONTENT_AFTER_MS,
            )
            for one in calls
            if (one.session, one.step) == (found.session, found.step) and one.has_run
        ]
        assert any(first <= effect.at_ms <= last for first, last in ends)
        assert 0 < found.confidence < 1


@given(EFFECTS, st.lists(CALLS, max_size=6))
def test_a_call_that_did_not_run_is_as_if_it_were_not_there(effect: SeenEffect, calls: list[OpenCall]) -> None:
    assert correlate(effect, calls) == correlate(effect, [one for one in calls if one.has_run])


@given(EFFECTS, st.lists(CALLS, max_size=6), st.randoms())
def test_the_order_of_calls_does_not_matter(effect: SeenEffect, calls: list[OpenCall], chance: object) -> None:
    shuffled = list(calls)
    chance.shuffle(shuffled)  # type: ignore[attr-defined]
    first, second = correlate(effect, calls), correlate(effect, shuffled)
    assert (first is None) == (second is None)
    if first is not None and second is not None:
        assert replace(first, after_start_ms=0) == replace(second, after_start_ms=0)


@given(EFFECTS, st.lists(CALLS, max_size=6))
def test_a_name_adds_the_same_whatever_the_match_is_and_changes_nothing_else(
    effect: SeenEffect, calls: list[OpenCall]
) -> None:
    plain, named = (correlate(replace(effect, is_named=is_named), calls) for is_named in (False, True))
    assert (plain is None) == (named is None)
    if plain is not None and named is not None:
        assert named.confidence == pytest.approx(plain.confidence + 0.15)
        assert replace(named, confidence=0, is_named=False) == replace(plain, confidence=0)


@given(EFFECTS, st.lists(CALLS, max_size=6))
def test_a_second_call_that_may_have_done_it_leaves_only_its_content(effect: SeenEffect, calls: list[OpenCall]) -> None:
    script = call(is_opaque=True, start_ms=effect.at_ms, end_ms=None)
    found = correlate(effect, [*calls, script, replace(script, step=2)])
    assert found is None or found.matched_by is MatchedBy.CONTENT


@given(EFFECTS, CALLS, st.integers(min_value=-10_000, max_value=10_000))
def test_only_differences_of_times_count(effect: SeenEffect, one: OpenCall, shift: int) -> None:
    moved: Callable[[int | None], int | None] = lambda at: None if at is None else at + shift  # noqa: E731
    later = replace(one, start_ms=one.start_ms + shift, end_ms=moved(one.end_ms))
    assert correlate(effect, [one]) == correlate(replace(effect, at_ms=effect.at_ms + shift), [later])
