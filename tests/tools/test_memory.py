"""Tools that keep something for later sessions."""

from typing import Any

import pytest

from tests.tools.cases import lines, uses


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
