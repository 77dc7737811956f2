"""The table of tools."""

from typing import Any

import pytest

from tallystick.intent.tools.arguments import plain_name
from tallystick.intent.tools.known import CALLING, FILE_RULES, REACHING_RULES, TABLE, known_tools
from tallystick.model.intent import Domain
from tests.intent.tools.cases import uses
from tests.intent.tools.recorded import RECORDINGS, SHARED, recorded_calls

_NO_TOOLS = {"Configure Hermes provider"}
"""Other things with a name and arguments in the recordings."""


@pytest.mark.parametrize("folder", [RECORDINGS, SHARED / "hooks", SHARED / "transcripts", SHARED / "sessions"])
def test_every_tool_that_was_recorded_is_known(folder: Any) -> None:
    if not folder.is_dir():
        pytest.skip(f"{folder.name} is not here")
    tools = {tool for _, tool, _ in recorded_calls(folder)}
    assert len(tools) >= 5
    assert {tool for tool in tools - _NO_TOOLS if plain_name(tool) not in known_tools()} == set()


def test_every_recorded_call_with_arguments_is_understood() -> None:
    silent = set()
    for _, tool, args in recorded_calls(RECORDINGS):
        found = uses(tool, args)
        if tool not in _NO_TOOLS and args and not (found.intents or found.commands or found.programs or found.codes):
            silent.add(tool)
        if any(intent.domain is Domain.UNKNOWN for intent in found.intents):
            assert tool in _NO_TOOLS
    assert silent <= {"complete", "wait_agent", "complete_task"}


def test_names_are_plain_and_no_tool_has_two_rules() -> None:
    assert all(plain_name(name) == name for name in TABLE.keys() | CALLING)
    assert not TABLE.keys() & CALLING
    assert set(TABLE.values()) >= FILE_RULES | REACHING_RULES
