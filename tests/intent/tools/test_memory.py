"""Tools that keep something for later sessions."""

from typing import Any

import pytest

from tallystick.intent.tools.memory import memory_file
from tests.intent.tools.cases import lines, uses


@pytest.mark.parametrize(
    ("tool", "args", "agent", "expected"),
    [
        ("save_memory", {"fact": "x"}, "gemini", ["append /home/dev/.gemini/GEMINI.md authored"]),
        ("save_memory", {"fact": "x", "scope": "project"}, "qwen", ["append /w/QWEN.md authored"]),
        ("save_memory", {"fact": "x"}, "", ["append ? authored"]),
        ("memory", {"command": "view", "path": "/memories/a"}, "", ["read ?"]),
        ("memory", {"command": "create", "path": "notes.md"}, "", ["edit /w/notes.md authored"]),
        ("memory", {"action": "add", "content": "x"}, "hermes", ["append ? authored"]),
    ],
)
def test_what_is_kept_goes_into_the_file_of_the_agent(tool: str, args: Any, agent: str, expected: list[str]) -> None:
    assert lines(uses(tool, args, agent=agent)) == expected


def test_only_the_tool_for_it_has_a_file_of_its_own() -> None:
    assert memory_file("save_memory", "gemini") == "~/.gemini/GEMINI.md"
    assert memory_file("write_file", "gemini") is None
    assert memory_file("save_memory", "hermes") is None


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        ({"action": "create", "content": "x"}, "write /home/dev/.hermes/skills/a/SKILL.md authored"),
        ({"action": "patch", "old_string": "x"}, "edit /home/dev/.hermes/skills/a/SKILL.md authored"),
        ({"action": "remove_file", "file_path": "b"}, "delete /home/dev/.hermes/skills/a/b"),
        ({"action": "delete"}, "delete /home/dev/.hermes/skills/a deep"),
    ],
)
def test_a_skill_is_kept_in_a_folder_of_its_own(args: dict[str, str], expected: str) -> None:
    assert lines(uses("skill_manage", {**args, "name": "a"})) == [expected]
