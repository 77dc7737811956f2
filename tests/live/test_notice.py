"""What a user is shown at the start of a session, and where nothing can be shown."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tallystick.agents.hooks import SILENT, Payload
from tallystick.live.notice import notice
from tallystick.live.silences import Silences
from tallystick.policy.alert import UNHOOKED

START = Payload(event="SessionStart", session="s", begins=True)


@pytest.fixture
def silences(tmp_path: Path) -> Silences:
    return Silences(tmp_path)


@pytest.mark.parametrize("agent", ["claude-code", "codex", "gemini", "qwen"])
def test_it_is_shown_to_the_user_of_an_agent_that_shows_it(silences: Silences, agent: str) -> None:
    assert notice(agent, START, silences) == SILENT
    silences.note(UNHOOKED, "hooks are gone\x1b[2J\n", about="a")
    reply = notice(agent, START, silences)
    said = "Tallystick noticed: hooks are gone?[2J?. `tally status` and `tally alerts` say more."
    assert (json.loads(reply.stdout), reply.exit_code) == ({"systemMessage": said}, 0)
    assert notice(agent, START, silences) == SILENT


@pytest.mark.parametrize(
    ("agent", "payload"),
    [
        ("copilot", Payload(event="sessionStart", session="s", begins=True)),
        ("claude-code", Payload(event="PostCompact", session="s", begins=True)),
        ("claude-code", Payload(event="SessionStart", session="s")),
        ("no-such-agent", START),
    ],
)
def test_elsewhere_it_waits_for_a_session_whose_agent_shows_it(
    silences: Silences, agent: str, payload: Payload
) -> None:
    silences.note(UNHOOKED, "gone", about="a")
    assert notice(agent, payload, silences) == SILENT
    assert notice("claude-code", START, silences) != SILENT


def test_of_many_the_newest_are_shown(silences: Silences) -> None:
    for number in range(5):
        silences.note(UNHOOKED, f"gone {number} " + "x" * 500, about=str(number))
    said = json.loads(notice("claude-code", START, silences).stdout)["systemMessage"]
    assert [f"gone {number}" in said for number in range(5)] == [False, False, True, True, True]
    assert "And 2 more." in said
    assert len(said) < 1000
