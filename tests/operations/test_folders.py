from __future__ import annotations

from tallystick.model.step import Event, Opening, Step
from tallystick.operations import folders
from tallystick.operations.folders import Folders


def call(session: str = "s") -> Step:
    return Step(session=session, type="tool_call")


def cwd(event: Event) -> object:
    assert isinstance(event, Step)
    return event.values.get("personal.cwd")


def test_a_folder_is_noted_with_the_first_call_that_runs_in_it() -> None:
    known = Folders()
    found = [cwd(known.noted("a", call(), folder)) for folder in ("/w", "/w", "/w/sub", "/w/sub", "/w")]
    assert found == ["/w", None, "/w/sub", None, "/w"]


def test_the_folder_that_a_session_began_in_is_known_already() -> None:
    known = Folders()
    known.noted("a", Opening(session="s", agent="a", values={"personal.cwd": "/w"}), None)
    assert cwd(known.noted("a", call(), "/w")) is None
    assert cwd(known.noted("a", call("s/sub"), "/w")) == "/w"
    assert cwd(known.noted("b", call(), "/w")) == "/w"


def test_an_opening_that_is_told_again_does_not_move_a_session_back() -> None:
    known = Folders()
    opening = Opening(session="s", agent="a", values={"personal.cwd": "/w"})
    known.noted("a", opening, None)
    known.noted("a", call(), "/w/sub")
    known.noted("a", opening, None)
    assert cwd(known.noted("a", call(), "/w/sub")) is None


def test_other_steps_and_calls_without_a_folder_are_left_as_they_are() -> None:
    known = Folders()
    for event, folder in ((Step(session="s", type="tool_result"), "/w"), (call(), None), (call(), "")):
        assert known.noted("a", event, folder) is event


def test_what_is_remembered_is_bounded() -> None:
    known = Folders()
    for n in range(folders._MOST_SESSIONS + 1):
        known.noted("a", call(str(n)), "/w")
    assert cwd(known.noted("a", call("0"), "/w")) == "/w"
    assert cwd(known.noted("a", call(str(n)), "/w")) is None
