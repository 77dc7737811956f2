"""Tools that keep something for later sessions."""

from typing import Any

from tallystick.intent.tools.memory import memory_file
from tests.intent.tools.cases import lines, uses
from tests.support.cases import each_case


@each_case("tool, args, agent, expected")
def test_what_is_kept_goes_into_the_file_of_the_agent(tool: str, args: Any, agent: str, expected: list[str]) -> None:
    assert lines(uses(tool, args, agent=agent)) == expected


def test_only_the_tool_for_it_has_a_file_of_its_own() -> None:
    assert memory_file("save_memory", "gemini") == "~/.gemini/GEMINI.md"
    assert memory_file("write_file", "gemini") is None
    assert memory_file("save_memory", "hermes") is None


@each_case("args, expected")
def test_a_skill_is_kept_in_a_folder_of_its_own(args: dict[str, str], expected: str) -> None:
    assert lines(uses("skill_manage", {**args, "name": "a"})) == [expected]
