from __future__ import annotations

import json

from tallystick.agents.hooks import HookCommand, nested

_COMMAND = HookCommand(python="/usr/bin/python3", hook="/usr/lib/tallystick/hook.py").shell("agent")


def test_tool_events_are_matched_by_any_name_and_others_have_no_matcher() -> None:
    content = nested.configure(b"", ("Pre", "Stop"), _COMMAND, nested.Form(timeout=7, matched=frozenset({"Pre"})))
    handler = {"type": "command", "command": _COMMAND, "timeout": 7}
    assert json.loads(content) == {
        "hooks": {"Pre": [{"matcher": "*", "hooks": [handler]}], "Stop": [{"hooks": [handler]}]}
    }
    assert nested.hooked(content) == ("Pre", "Stop")
    assert nested.remove(content) == b""


def test_an_event_may_have_a_timeout_of_its_own() -> None:
    content = nested.configure(b"{}", ("Pre", "End"), _COMMAND, nested.Form(timeout={"Pre": 10, "End": 3}))
    hooks = json.loads(content)["hooks"]
    assert [hooks[event][0]["hooks"][0]["timeout"] for event in ("Pre", "End")] == [10, 3]


def test_a_port_is_called_instead_of_the_command_but_for_some_events() -> None:
    hook = HookCommand(python="/p", hook="/t/tallystick/hook.py", url="http://127.0.0.1:8787", token="T")
    http = hook.http("agent")
    content = nested.configure(
        b"{}", ("Begin", "Pre"), _COMMAND, nested.Form(timeout=7, by_command=frozenset({"Begin"})), http=http
    )
    hooks = json.loads(content)["hooks"]
    assert hooks["Begin"] == [{"hooks": [{"type": "command", "command": _COMMAND, "timeout": 7}]}]
    assert hooks["Pre"] == [
        {
            "hooks": [
                {
                    "type": "http",
                    "url": "http://127.0.0.1:8787/hook/agent",
                    "headers": {"Authorization": "Bearer T", "X-Tally-Session": "$TALLY_SESSION"},
                    "allowedEnvVars": ["TALLY_SESSION"],
                    "timeout": 7,
                }
            ]
        }
    ]
    assert nested.hooked(content) == ("Begin", "Pre")
    assert nested.configure(content, ("Begin", "Pre"), _COMMAND, nested.Form(timeout=7)) == nested.configure(
        b"{}", ("Begin", "Pre"), _COMMAND, nested.Form(timeout=7)
    )
    assert nested.remove(content) == b"{}"
