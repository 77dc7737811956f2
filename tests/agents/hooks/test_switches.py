from __future__ import annotations

import pytest

from tallystick.agents.hooks.switches import switched_off
from tallystick.errors import FormatError
from tests.support.cases import each


@each(
    "agent, content, said",
    [
        ("claude-code", b'{"disableAllHooks": true}', "disableAllHooks = true"),
        ("claude-code", b'{"disableAllHooks": false}', None),
        ("claude-code", b'{"disableAllHooks": 1}', None),
        ("claude-code", b"", None),
        ("qwen", b'{// why\n"disableAllHooks": true}', "disableAllHooks = true"),
        ("gemini", b'{"hooksConfig": {"enabled": false}}', "hooksConfig.enabled = false"),
        ("gemini", b'{"hooksConfig": {"enabled": true}}', None),
        ("gemini", b'{"hooksConfig": []}', None),
        ("gemini", b"[]", None),
        ("codex", b'{"disableAllHooks": true}', None),
    ],
)
def test_a_switch_is_seen_where_the_agent_has_it(agent: str, content: bytes, said: str | None) -> None:
    assert switched_off(agent, content) == said


def test_a_malformed_file_says_so() -> None:
    with pytest.raises(FormatError, match="line 1"):
        switched_off("gemini", b"{")
