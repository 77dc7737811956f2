from __future__ import annotations

import json

from tallystick.agents.hooks import HookCommand, _nested

_COMMAND = HookCommand(python="/usr/bin/python3", hook="/usr/lib/tallystick/hook.py").shell("agent")


def test_tool_events_are_matched_by_any_name_and_others_have_no_matcher() -> None:
    content = _nested.configure(b"", ("Pre", "Stop"), _COMMAND, timeout=7, matched=frozenset({"Pre"}))
    handler = {"type": "command", "command": _COMMAND, "timeout": 7}
    assert json.loads(content) == {
        "hooks": {"Pre": [{"matcher": "*", "hooks": [handler]}], "Stop": [{"hooks": [handler]}]}
    }
    assert _nested.hooked(content) == ("Pre", "Stop")
    assert _nested.remove(content) == b""


def test_an_event_may_have_a_timeout_of_its_own() -> None:
    content = _nested.configure(b"{}", ("Pre", "End"), _COMMAND, timeout={"Pre": 10, "End": 3})
    hooks = json.loads(content)["hooks"]
    assert [hooks[event][0]["hooks"][0]["timeout"] for event in ("Pre", "End")] == [10, 3]
