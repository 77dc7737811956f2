"""The file of a session, where no hook names it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tallystick.agents.hooks import Payload
from tallystick.live.transcript_places import transcript_of
from tallystick.model.step import Opening, Ref, SessionKind, Source


def test_what_the_hook_says_comes_first() -> None:
    assert transcript_of("cline", Payload(event="x", session="s", transcript="/t")) == "/t"
    assert transcript_of("claude-code", Payload(event="x", session="s")) is None
    assert transcript_of("of nobody", Payload(event="x", session="s")) is None


def test_a_session_of_cline_has_a_folder_of_its_own() -> None:
    found = transcript_of("cline", Payload(event="TaskStart", session="1795_a"))
    assert found == str(Path.home() / ".cline/data/sessions/1795_a/1795_a.messages.json")


@pytest.mark.parametrize("session", ["", "..", "../../x", "a/b", ".x", "a\0", "x" * 300])
def test_a_name_that_leads_elsewhere_is_no_place(session: str) -> None:
    assert transcript_of("cline", Payload(event="TaskStart", session=session)) is None


def test_a_sub_agent_has_no_folder() -> None:
    opening = Opening(
        session="s__agent_1", agent="cline", source=Source.HOOK, kind=SessionKind.CHILD, parent=Ref(session="s")
    )
    assert transcript_of("cline", Payload(event="PreToolUse", session="s__agent_1", events=(opening,))) is None
