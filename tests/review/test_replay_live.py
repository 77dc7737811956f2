"""Sessions as they grow. The clock is a list of things to do at each turn: nothing waits."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tallystick.journal.home import Home
from tallystick.model.step import Ref, SessionKind
from tallystick.recording.recorder import Recorder
from tallystick.review.replay import Asked, Wanted
from tallystick.review.replay_live import follow_cast
from tallystick.review.replay_sources import Spot, open_cast
from tallystick.sessions.timeline import Beat, Below


def told(beats: Iterator[Beat]) -> list[str]:
    return [f"{'.' * beat.depth}{beat.step.type}{f'+{beat.folded.steps}' if beat.folded else ''}" for beat in beats]


def turns(*deeds: Callable[[], object]) -> Callable[[float], None]:
    """A wait that does one thing after the other, and then says that enough was waited."""
    left = list(deeds)

    def wait(_: float) -> None:
        if left:
            left.pop(0)()
        else:
            left.append(lambda: pytest.fail("it waits for ever"))

    return wait


@pytest.fixture
def recorder(home: Home) -> Iterator[Recorder]:
    with Recorder(home.folder) as recorder:
        yield recorder


def follow(home: Home, wait: Callable[[float], None], *names: str, **asked: object) -> list[str]:
    with open_cast(home, names or ["live"]) as cast:
        found = told(follow_cast(cast, Asked(**asked), wait=wait))  # type: ignore[arg-type]
        assert not cast.failures
        return found


def nothing() -> None:
    """One turn in which nothing happens."""


def test_what_is_there_and_what_comes_until_the_end(home: Home, recorder: Recorder) -> None:
    session = recorder.session("demo", "live")
    wait = turns(lambda: session.prompt("hello"), nothing, lambda: session.step("assistant"), session.close)
    assert follow(home, wait) == ["session_start", "user", "assistant", "session_end"]


def test_children_that_begin_meanwhile_are_followed(home: Home, recorder: Recorder) -> None:
    session = recorder.session("demo", "live")
    session.step("tool_call", source_id="call")

    def child() -> None:
        below = recorder.session("demo", "child", kind=SessionKind.CHILD, parent=Ref("call", session="live"))
        below.prompt("go")
        below.close()

    deeds = [child, *[nothing] * 10, lambda: session.step("tool_result"), session.close]
    assert follow(home, turns(*deeds), below=Below.INLINE) == [
        "session_start",
        "tool_call",
        ".session_start",
        ".user",
        ".session_end",
        "tool_result",
        "session_end",
    ]


def test_a_whole_tree_that_begins_between_two_looks_is_followed(home: Home, recorder: Recorder) -> None:
    session = recorder.session("demo", "live")
    session.step("tool_call", source_id="c0")

    def chain() -> None:
        for number in range(6):  # ids are random: whatever the order in which they are looked at
            above = "live" if number == 0 else f"child{number - 1}"
            child = recorder.session(
                "demo", f"child{number}", kind=SessionKind.CHILD, parent=Ref(f"c{number}", session=above)
            )
            child.step("tool_call", source_id=f"c{number + 1}")
        recorder.session("demo", "stranger").prompt("not of this tree")

    found = follow(home, turns(chain, *[nothing] * 10, session.close), below=Below.INLINE)
    assert found == [
        "session_start",
        "tool_call",
        *[f"{'.' * depth}{kind}" for depth in range(1, 7) for kind in ("session_start", "tool_call")],
        "session_end",
    ]


def test_folded_they_are_told_when_they_begin_and_when_they_end(home: Home, recorder: Recorder) -> None:
    session = recorder.session("demo", "live")
    session.step("tool_call", source_id="call")

    def child() -> None:
        below = recorder.session("demo", "child", kind=SessionKind.CHILD, parent=Ref("call", session="live"))
        below.prompt("go")
        below.close()

    deeds = [child, *[nothing] * 10, session.close]
    found = follow(home, turns(*deeds))
    assert found == ["session_start", "tool_call", ".session_start+0", ".session_end+3", "session_end"]
    assert follow(home, turns()) == found
    assert follow(home, turns(), below=Below.HIDE) == ["session_start", "tool_call", "session_end"]


def test_a_child_that_begins_while_the_replay_starts_is_followed(home: Home, recorder: Recorder) -> None:
    session = recorder.session("demo", "live")
    session.step("tool_call", source_id="call")
    with open_cast(home, ["live"]) as cast:
        recorder.session("demo", "child", kind=SessionKind.CHILD, parent=Ref("call", session="live"))
        wait = turns(*[nothing] * 3, session.close)
        found = told(follow_cast(cast, Asked(below=Below.INLINE), wait=wait))
    assert found == ["session_start", "tool_call", ".session_start", "session_end"]


def test_a_child_that_is_only_claimed_and_begins_at_the_end_is_not_missed(home: Home, recorder: Recorder) -> None:
    session = recorder.session("demo", "live")

    def end() -> None:
        recorder.session("demo", "claimed", kind=SessionKind.CHILD, parent=Ref("unknown", session="live"))
        session.close()

    found = follow(home, turns(nothing, end), below=Below.INLINE)
    assert found == ["session_start", "session_end", ".session_start"]


def test_a_journal_that_is_rewritten_is_read_on_where_it_was(home: Home, recorder: Recorder, tmp_path: Path) -> None:
    session = recorder.session("demo", "live")
    session.prompt("one")

    def rewrite() -> None:
        path = home.journal(session.id)
        assert path is not None
        shutil.copy(path, tmp_path / "copy")
        (tmp_path / "copy").replace(path)

    wait = turns(rewrite, lambda: session.step("assistant"), rewrite, session.close)
    assert follow(home, wait) == ["session_start", "user", "assistant", "session_end"]


def test_a_journal_that_goes_away_ends_the_replay_and_is_told(home: Home) -> None:
    with Recorder(home.folder) as recorder:
        path = home.journal(recorder.session("demo", "live").id)
    assert path is not None
    with open_cast(home, ["live"]) as cast:
        wait = turns(path.unlink, *[nothing] * 60)
        assert told(follow_cast(cast, Asked(), wait=wait)) == ["session_start"]
        assert any("gone" in failure for failure in cast.failures)


def test_a_damaged_line_ends_the_replay_and_is_told(home: Home) -> None:
    with Recorder(home.folder) as recorder:
        path = home.journal(recorder.session("demo", "live").id)
    assert path is not None
    with open_cast(home, ["live"]) as cast:
        wait = turns(lambda: path.write_bytes(path.read_bytes() + b"nothing of ours\n"))
        assert told(follow_cast(cast, Asked(), wait=wait)) == ["session_start"]
        assert len(cast.failures) == 1


def test_filters_walks_and_limits_hold_for_what_comes(home: Home, recorder: Recorder) -> None:
    session = recorder.session("demo", "live")
    session.step("user", source_id="ask")

    def more() -> None:
        session.step("tool_call", source_id="call", after=(Ref("ask"),))
        session.step("assistant", source_id="beside", after=(Ref("ask"),))
        session.step("tool_result", after=(Ref("call"),))
        session.close()

    with open_cast(home, ["live"]) as cast:
        start = next(follow_cast(cast, Asked())).step
        asked = Asked(wanted=Wanted(types=("assistant", "tool_result")), start=Spot(start.session, start.hash))
        assert told(follow_cast(cast, asked, wait=turns(more))) == ["assistant", "tool_result"]
        assert told(follow_cast(cast, Asked(limit=2), wait=turns())) == ["session_start", "user"]
        stop = next(one.step for one in follow_cast(cast, Asked()) if one.step.type == "tool_call")
        asked = Asked(stop=Spot(stop.session, stop.hash))
        assert told(follow_cast(cast, asked, wait=turns())) == ["session_start", "user", "tool_call"]


def test_it_ends_when_it_is_told_to(home: Home, recorder: Recorder) -> None:
    recorder.session("demo", "live")
    with open_cast(home, ["live"]) as cast:
        assert told(follow_cast(cast, Asked(), stop=lambda: True, wait=turns())) == ["session_start"]


def test_a_file_of_an_agent_is_followed_as_it_is_written(home: Home, samples: Home, tmp_path: Path) -> None:
    log = next((samples.folder.parent / ".local" / "grid").rglob("*.jsonl")).read_bytes().splitlines(keepends=True)
    path = tmp_path / "log.jsonl"
    path.write_bytes(b"".join(log[:30]))
    deeds = [lambda: path.write_bytes(b"".join(log[:50])), *[nothing] * 10, lambda: path.write_bytes(b"".join(log))]
    with open_cast(home, [str(path)]) as cast:
        found = told(follow_cast(cast, Asked(), wait=turns(*deeds, *[nothing] * 10)))
    with open_cast(samples, ["7c1f0a9e"]) as cast:
        assert sorted(found) == sorted(told(follow_cast(cast, Asked())))
    assert found[-1] == "session_end"


def test_another_session_that_a_followed_file_comes_to_hold_is_followed_too(
    home: Home, samples: Home, tmp_path: Path
) -> None:
    log = next((samples.folder.parent / ".local" / "grid").rglob("*.jsonl")).read_bytes()
    lines = log.splitlines(keepends=True)
    path = tmp_path / "log.jsonl"
    path.write_bytes(b"".join(lines[:10]))
    other = lines[0].replace(b"7c1f0a9e52d84b36a1e09d5c4f27b8e3", b"another") + b"".join(lines[1:])
    later = iter([*[False] * 15, True])
    with open_cast(home, [str(path)]) as cast:
        follow = follow_cast(
            cast, Asked(), stop=lambda: next(later), wait=turns(lambda: path.write_bytes(other), *[nothing] * 15)
        )
        found = [(beat.track.source_session, beat.step.type) for beat in follow]
    assert ("another", "session_end") in found
    assert ("7c1f0a9e52d84b36a1e09d5c4f27b8e3", "session_end") not in found
