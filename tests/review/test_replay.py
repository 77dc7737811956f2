"""Sessions step by step: order, walks, filters, pace."""

from collections.abc import Callable

import pytest

from tallystick.journal.home import Home
from tallystick.journal.read import read_session
from tallystick.model.recorded import Recorded
from tallystick.model.step import Ref, SessionKind
from tallystick.recording.recorder import Recorder
from tallystick.review.replay import LONGEST_PAUSE_S, Asked, Wanted, paced, replay, went_wrong
from tallystick.review.replay_sources import Spot, find_spot, open_cast
from tallystick.sessions.timeline import Beat, Below
from tallystick.trust.verify_named import find_session
from tests.sessions.stepping import step, track
from tests.support.cases import each_case


@pytest.fixture
def sid(indexed_samples: Home) -> str:
    return find_session(indexed_samples, "a42b3437")


def spot(of: Recorded) -> Spot:
    return Spot(of.session, of.hash)


def test_all_steps_come_in_the_order_of_the_record(indexed_samples: Home, sid: str) -> None:
    with open_cast(indexed_samples, ["a42b3437"]) as cast:
        found = [beat.step for beat in replay(cast, Asked(below=Below.HIDE))]
    assert found == list(read_session(indexed_samples, sid))


def test_filters_and_limit_choose(indexed_samples: Home) -> None:
    with open_cast(indexed_samples, ["a42b3437"]) as cast:

        def numbers(limit: int | None = None, **wanted: object) -> list[int]:
            asked = Asked(wanted=Wanted(**wanted), limit=limit)  # type: ignore[arg-type]
            return [beat.step.n for beat in replay(cast, asked) if beat.folded is None]

        calls = numbers(types=("tool_call",))
        assert len(calls) == 12
        assert numbers(limit=5, types=("tool_call",)) == calls[:5]
        assert numbers(failed=True) == numbers(errors=True) == [32, 47]
        assert numbers(texts=("FORCED push",)) == [47, 49]
        assert numbers(texts=("forced push", "changelog")) == []
        assert numbers(agents=("codex",)) == []
        assert numbers(request=51, types=("user",)) == [51]


def test_a_goal_is_what_it_is_called(indexed_samples: Home) -> None:
    with open_cast(indexed_samples, ["7c1f0a9e"]) as cast:
        found = [beat.step for beat in replay(cast, Asked(wanted=Wanted(goals=("review",))))]
        assert {step.text("content.goal") for step in found} == {"review"}
        assert not list(replay(cast, Asked(wanted=Wanted(goals=("revie",)))))


def test_a_sub_agent_in_a_session_of_another_is_found_by_its_role(indexed_samples: Home) -> None:
    with open_cast(indexed_samples, ["7c1f0a9e"]) as cast:
        found = list(replay(cast, Asked(wanted=Wanted(agents=("critic",)))))
        assert {beat.role for beat in found} == {"critic"}
        assert any(beat.step.type == "tool_call" for beat in found)


def test_what_went_wrong_is_found_inside_what_is_folded(indexed_samples: Home) -> None:
    with open_cast(indexed_samples, ["7c1f0a9e"]) as cast:
        found = [(beat.step.type, beat.role) for beat in replay(cast, Asked(wanted=Wanted(errors=True)))]
    assert found == [
        ("warning", None),
        ("security_decision", None),
        ("tool_result", None),
        ("tool_result", "critic"),
    ]


@each_case("members, is_wrong")
def test_an_alarm_is_an_error_too(members: dict[str, object], is_wrong: bool) -> None:
    assert went_wrong(step("a", 0, **members)) is is_wrong  # type: ignore[arg-type]


# Walks ---------------------------------------------------------------------------------------------------------------


@pytest.fixture
def family(home: Home) -> Callable[..., list[str]]:
    """A session that forks, begins a child (which begins one itself), merges, and is forked: `told(…)` replays it.

    root → call → beside
                → child.0 … child.1 → grandchild.0, grandchild.1 → child.2 (after both) → back → end
    """
    names: dict[str, str] = {}
    with Recorder(home.folder) as recorder:
        root = recorder.session("demo", "root")
        names[root.step("user", source_id="ask", content={"text": "two things"}).hash] = "ask"
        names[root.step("tool_call", source_id="call", tool="Agent").hash] = "call"
        child = recorder.session("demo", "child", kind=SessionKind.CHILD, parent=Ref("call", session="root"))
        names[child.step("assistant", source_id="think").hash] = "think"
        below = recorder.session("demo", "below", kind=SessionKind.CHILD, parent=Ref("think", session="child"))
        names[below.step("assistant", source_id="deep", success=False).hash] = "deep"
        tip = child.step("assistant", source_id="tip", after=(Ref("think"), Ref("deep", session="below")))
        names[tip.hash] = "tip"
        names[root.step("assistant", source_id="beside", after=(Ref("ask"),)).hash] = "beside"
        back = root.step("merge", source_id="back", after=(Ref("call"), Ref("tip", session="child")))
        names[back.hash] = "back"
        fork = recorder.session("demo", "fork", kind=SessionKind.FORK, parent=Ref("beside", session="root"))
        names[fork.step("assistant", source_id="other").hash] = "other"

    def told(start: str | None = None, stop: str | None = None, **asked: object) -> list[str]:
        with open_cast(home, ["root"]) as cast:
            by_name = {name: digest for digest, name in names.items()}
            where = {beat.step.hash: spot(beat.step) for beat in replay(cast, Asked(below=Below.INLINE))}
            question = Asked(
                start=where[by_name[start]] if start else None,
                stop=where[by_name[stop]] if stop else None,
                **asked,  # type: ignore[arg-type]
            )
            return [
                f"{names.get(beat.step.hash, 'start')}{f'+{beat.folded.steps}' if beat.folded else ''}"
                for beat in replay(cast, question)
            ]

    return told


def test_a_walk_goes_through_forks_into_children_and_out_by_the_merge(family: Callable[..., list[str]]) -> None:
    inline = Below.INLINE
    assert family("call", below=inline) == ["call", "start", "think", "start", "deep", "tip", "back"]
    assert family("think", below=inline) == ["think", "start", "deep", "tip", "back"]
    assert family("deep", below=inline) == ["deep", "tip", "back"]
    assert family("beside", below=inline) == ["beside", "start", "other"]
    assert family("tip", below=inline) == ["tip", "back"]


def test_what_a_walk_reaches_below_is_folded_or_hidden_like_everything(family: Callable[..., list[str]]) -> None:
    assert family("call") == ["call", "start+5", "back"]
    assert family("deep") == ["deep+1", "tip+1", "back"]
    assert family("call", below=Below.HIDE) == ["call", "back"]


def test_a_walk_ends_where_it_is_told(family: Callable[..., list[str]]) -> None:
    assert family("call", "think", below=Below.INLINE) == ["call", "start", "think"]
    assert family(None, "call") == ["start", "ask", "call"]
    assert family(None, "deep", below=Below.INLINE)[-1] == "deep"
    assert family(None, "think") == ["start", "ask", "call", "start+2"]


def test_an_end_that_is_never_reached_is_remarked(indexed_samples: Home, sid: str) -> None:
    steps = list(read_session(indexed_samples, sid))
    with open_cast(indexed_samples, ["a42b3437"]) as cast:
        asked = Asked(start=spot(steps[51]), stop=spot(steps[3]), below=Below.HIDE)
        assert [beat.step.n for beat in replay(cast, asked)] == list(range(51, 61))
        assert any("does not follow" in remark for remark in cast.remarks)
        cast.remarks.clear()
        assert len(list(replay(cast, Asked(stop=spot(steps[3]))))) == 4
        assert not cast.remarks


def test_walked_first_filtered_after(family: Callable[..., list[str]]) -> None:
    failed = Wanted(failed=True)
    assert family("call", wanted=failed, below=Below.INLINE) == ["deep"]
    assert family("beside", wanted=failed, below=Below.INLINE) == []
    assert family("call", wanted=Wanted(types=("merge",)), below=Below.INLINE) == ["back"]


def test_merged_sessions_are_walked_as_well(family: Callable[..., list[str]]) -> None:
    found = family("call", merge=True, below=Below.INLINE)
    assert sorted(found) == sorted(["call", "start", "think", "start", "deep", "tip", "back"])
    assert found.index("call") < found.index("think") < found.index("deep") < found.index("tip") < found.index("back")


def test_merged_and_folded_each_session_is_one_beat_where_it_began(family: Callable[..., list[str]]) -> None:
    found = family(merge=True)
    assert [name for name in found if name.startswith("start+")] == ["start+3", "start+2", "start+2"]
    assert family(merge=True, below=Below.HIDE) == ["start", "ask", "call", "beside", "back"]


def test_several_named_sessions_on_one_clock(indexed_samples: Home) -> None:
    with open_cast(indexed_samples, ["a42b3437", "receipts-currency"]) as cast:
        found = [beat.step for beat in replay(cast, Asked(merge=True, below=Below.INLINE))]
        assert len({one.hash for one in found}) == len(found) == 61 + 21 + 32
        apart = [beat.step.session for beat in replay(cast, Asked(below=Below.HIDE))]
        assert list(dict.fromkeys(apart)) == [one.session for one in cast.tops]


def test_a_step_is_found_by_number_by_hash_and_across_sessions(indexed_samples: Home, sid: str) -> None:
    steps = list(read_session(indexed_samples, sid))
    with open_cast(indexed_samples, ["a42b3437"]) as cast:
        assert find_spot(cast, "24") == find_spot(cast, steps[24].hash[:16]) == spot(steps[24])
        child = find_spot(cast, "a42b3437-edc3-4f9f-94df-46a5393a6b90/ac22766a05ee82a73:3")
        assert child.session != sid
        assert next(beat.step.hash for beat in replay(cast, Asked(start=child, below=Below.INLINE))) == child.hash


# Pace ----------------------------------------------------------------------------------------------------------------


def test_the_pauses_are_those_there_were_but_none_is_long() -> None:
    waited: list[float] = []
    steps = [step("a", n, second=second) for n, second in enumerate([0, 1, 0.5, 100])]
    beats = [Beat(one, track("a")) for one in steps]
    assert list(paced(beats, 2.0, wait=waited.append)) == beats
    assert waited == [0.5, LONGEST_PAUSE_S]


def test_steps_without_a_time_do_not_wait() -> None:
    waited: list[float] = []
    steps = [step("a", 0, ts=None), step("a", 1, ts="never"), step("a", 2)]
    assert len(list(paced([Beat(one, track("a")) for one in steps], 1.0, wait=waited.append))) == 3
    assert waited == []
