from __future__ import annotations

from tallystick.agents import adapters
from tallystick.agents.blind_spots import BLIND_SPOTS, explaining
from tests.support.cases import each


def test_blind_spots_are_of_agents_that_there_are() -> None:
    assert set(BLIND_SPOTS) - set(adapters()) <= {"aider"}


@each("agent", BLIND_SPOTS)
def test_each_is_one_sentence_without_full_stop(agent: str) -> None:
    assert [spot.when for spot in BLIND_SPOTS[agent] if spot.when.endswith(".") or not spot.types] == []


def test_a_spot_explains_only_its_source_types_and_tools() -> None:
    of_scripts = {spot.when for spot in explaining("codex", "hook", "tool_call", "exec") if spot.tools}
    assert of_scripts
    assert not of_scripts & {spot.when for spot in explaining("codex", "hook", "tool_call", "shell")}
    assert explaining("gemini", "hook", "tool_call", None)
    assert not explaining("gemini", "hook", "user", None)
    assert not explaining("gemini", "acp", "tool_call", None)
    assert not explaining("nobody", "hook", "tool_call", None)
