"""Which sessions are live, and where they work."""

from __future__ import annotations

import pytest

from tallystick.agents.hooks import Payload
from tallystick.live import working_dirs
from tallystick.live.working_dirs import Folders, Whereabouts
from tallystick.model.decision import Call
from tallystick.model.step import Event, Opening, Step


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


def call(session: str = "s") -> Step:
    return Step(session=session, type="tool_call")


def cwd(event: Event) -> object:
    assert isinstance(event, Step)
    return event.values.get("personal.cwd")


def test_a_folder_is_noted_with_the_first_call_that_runs_in_it() -> None:
    known = Folders()
    found = [cwd(known.noted("a", call(), folder)) for folder in ("/w", "/w", "/w/sub", "/w/sub", "/w")]
    assert found == ["/w", None, "/w/sub", None, "/w"]


def test_each_session_of_each_agent_has_a_folder_of_its_own() -> None:
    known = Folders()
    assert [cwd(known.noted(*whose, "/w")) for whose in (("a", call()), ("a", call("s/sub")), ("b", call()))] == [
        "/w"
    ] * 3
    assert cwd(known.noted("a", call(), "/w")) is None


def test_other_steps_and_calls_without_a_folder_are_left_as_they_are() -> None:
    known = Folders()
    for event, folder in ((Step(session="s", type="tool_result"), "/w"), (call(), None), (call(), "")):
        assert known.noted("a", event, folder) is event


def test_what_is_remembered_is_bounded() -> None:
    known = Folders()
    for n in range(working_dirs._MOST_NOTED + 1):
        known.noted("a", call(str(n)), "/w")
    assert cwd(known.noted("a", call("0"), "/w")) == "/w"
    assert cwd(known.noted("a", call(str(n)), "/w")) is None
