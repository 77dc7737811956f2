"""Which sessions are live, and where they work."""

import pytest

from tallystick.agents.hooks import Payload
from tallystick.live.working_dirs import Whereabouts
from tallystick.model.decision import Call
from tallystick.model.step import Opening


class Clock:
    """Tells the time that it is set to."""

    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def whereabouts(clock: Clock) -> Whereabouts:
    return Whereabouts(clock)


def begun(whereabouts: Whereabouts, session: str, folder: str | None) -> None:
    """A session begins in a folder, as hooks tell it."""
    opening = Opening(session=session, agent="nameless", values={"personal.cwd": folder} if folder is not None else {})
    whereabouts.note("nameless", Payload(event="begin", session=session, events=(opening,)))


def test_the_sessions_that_are_live_are_known_with_their_folders(whereabouts: Whereabouts) -> None:
    begun(whereabouts, "a", "/w/a")
    begun(whereabouts, "b", "/w/b")
    begun(whereabouts, "nowhere", None)
    begun(whereabouts, "a", "/elsewhere")
    assert whereabouts.live() == [
        {"agent": "nameless", "session": "b", "folder": "/w/b"},
        {"agent": "nameless", "session": "a", "folder": "/w/a"},
    ]


def test_a_session_that_ended_or_was_quiet_for_long_is_not_live(whereabouts: Whereabouts, clock: Clock) -> None:
    begun(whereabouts, "a", "/w/a")
    begun(whereabouts, "b", "/w/b")
    whereabouts.note("nameless", Payload(event="end", session="a", ends=True))
    assert [item["session"] for item in whereabouts.live()] == ["b"]
    clock.now += 601
    assert whereabouts.live() == []


def test_a_session_works_where_it_began_wherever_its_calls_run(whereabouts: Whereabouts) -> None:
    begun(whereabouts, "a", "/w/a")
    call = Call(agent="nameless", session="a", tool="Bash", args={}, cwd="/tmp")
    whereabouts.note("nameless", Payload(event="call", session="a", asks=call))
    assert whereabouts.folder("nameless", "a") == "/w/a"
    assert whereabouts.folder("other", "a") is None


def test_a_sub_agent_that_has_not_said_works_where_its_caller_does(whereabouts: Whereabouts) -> None:
    begun(whereabouts, "a", "/w/a")
    assert whereabouts.folder("nameless", "a/helper") == "/w/a"
    begun(whereabouts, "a/helper", "/w/b")
    assert whereabouts.folder("nameless", "a/helper") == "/w/b"
