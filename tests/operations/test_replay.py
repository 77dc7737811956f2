"""A session step by step."""

import threading

import pytest

from tallystick.errors import NotFoundError
from tallystick.journal.home import Home
from tallystick.journal.read import read_session
from tallystick.operations.filters import StepFilter
from tallystick.operations.recorder import Recorder
from tallystick.operations.replay import replay
from tallystick.operations.verify_named import find_session


@pytest.fixture
def sid(samples: Home) -> str:
    return find_session(samples, "a42b3437")


def test_all_steps_come_in_the_order_of_the_record(samples: Home, sid: str) -> None:
    assert list(replay(samples, sid)) == list(read_session(samples, sid))


def test_filters_and_limit_choose(samples: Home, sid: str) -> None:
    calls = list(replay(samples, sid, StepFilter(types=("tool_call",))))
    assert len(calls) == 12
    assert list(replay(samples, sid, StepFilter(types=("tool_call",)), limit=5)) == calls[:5]
    assert [step.n for step in replay(samples, sid, StepFilter(failed=True))] == [32, 47]


def test_from_a_step_only_what_follows_from_it_comes(samples: Home, sid: str) -> None:
    steps = list(read_session(samples, sid))
    after = list(replay(samples, sid, start=steps[24].hash))
    reached = {steps[24].hash}
    for step in steps[25:]:
        if reached & set(step.parent_path):
            reached.add(step.hash)
    assert [step.hash for step in after] == [step.hash for step in steps if step.hash in reached]
    assert after[0].n == 24


def test_what_follows_from_a_fork_is_not_what_runs_beside_it(home: Home) -> None:
    from tallystick.model.step import Ref

    with Recorder(home.folder) as recorder:
        session = recorder.session("demo", "one")
        session.step("user", source_id="root", content={"text": "two things"})
        left = session.step("assistant", source_id="left", after=(Ref("root"),))
        right = session.step("assistant", source_id="right", after=(Ref("root"),))
        after_left = session.step("assistant", source_id="after-left", after=(Ref("left"),))
        both = session.step("assistant", after=(Ref("right"), Ref("after-left")))
    assert [step.n for step in replay(home, session.id, start=left.hash)] == [left.n, after_left.n, both.n]
    assert [step.n for step in replay(home, session.id, start=right.hash)] == [right.n, both.n]


def test_the_agent_is_known_even_if_the_replay_begins_later(samples: Home, sid: str) -> None:
    start = list(read_session(samples, sid))[40].hash
    assert list(replay(samples, sid, StepFilter(agents=("claude-code",)), start=start))
    assert not list(replay(samples, sid, StepFilter(agents=("codex",)), start=start))


def test_following_gives_what_is_there_and_what_comes_until_the_end(home: Home) -> None:
    with Recorder(home.folder) as recorder:
        session = recorder.session("demo", "one")
        seen: list[str] = []
        reader = threading.Thread(
            target=lambda: seen.extend(step.type for step in replay(home, session.id, follow=True))
        )
        reader.start()
        session.prompt("hello")
        session.close()
        reader.join(timeout=10)
    assert not reader.is_alive()
    assert seen == ["session_start", "user", "session_end"]


def test_a_session_that_is_not_there_cannot_be_replayed(samples: Home) -> None:
    with pytest.raises(NotFoundError):
        replay(samples, "0" * 32)
