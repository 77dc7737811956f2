from __future__ import annotations

from tallystick.live import call_folders
from tallystick.live.call_folders import Folders
from tallystick.model.step import Event, Step


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
    for n in range(call_folders._MOST_SESSIONS + 1):
        known.noted("a", call(str(n)), "/w")
    assert cwd(known.noted("a", call("0"), "/w")) == "/w"
    assert cwd(known.noted("a", call(str(n)), "/w")) is None
