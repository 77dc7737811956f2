"""How a command ended."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from tallystick.agents.hooks import hook_adapter
from tallystick.agents.kit.outcomes import CODE_LINE, code_after, code_before, ended
from tallystick.model.step import Json, Step
from tests.support.cases import each

RECORDED = Path(__file__).parents[2] / "recordings" / "hooks"


@each(
    "success, code, members",
    [
        (None, None, {}),
        (True, None, {"success": True}),
        (None, 0, {"success": True, "exit_code": 0}),
        (None, 3, {"success": False, "exit_code": 3}),
        (True, 3, {"success": False, "exit_code": 3}),
        (False, 0, {"success": False, "exit_code": 0}),
    ],
)
def test_a_command_with_another_code_than_zero_has_failed(success: Json, code: int | None, members: Json) -> None:
    assert ended(success, code) == members


@each(
    "output, code",
    [
        ("Output: x\nExit Code: 3\nSignal: (none)", 3),
        ("Exit Code: 1\nExit Code: 2", 2),
        ("Exit Code: 3" + "\n" * 300, None),
        ("it said Exit Code: 3", None),
        (["Exit Code: 3"], None),
        (None, None),
    ],
)
def test_a_code_is_read_where_a_report_stands(output: Json, code: int | None) -> None:
    assert code_after(output, CODE_LINE) == code


def test_a_code_before_an_output_is_not_looked_for_behind_it() -> None:
    assert code_before("Exit Code: 7\n" + "x" * 500, CODE_LINE) == 7
    assert code_before("x" * 500 + "\nExit Code: 7", CODE_LINE) is None


def _result(agent: str, event: str, said: dict[str, Any]) -> Step:
    adapter = hook_adapter(agent)
    assert adapter is not None
    payload = adapter.parse(msgspec.json.encode(said), event)
    return next(step for step in payload.events if isinstance(step, Step) and step.type == "tool_result")


_SHELL = {"session_id": "s", "cwd": "/p", "tool_input": {"command": "exit 3"}}
_AFTER = {"hook_event_name": "AfterTool", "tool_name": "run_shell_command", "timestamp": "2026-11-21T20:39:02.709Z"}
_FAILED = {"hook_event_name": "PostToolUseFailure", "tool_use_id": "c", "tool_call_id": "c"}
_COPILOT = {
    "sessionId": "s",
    "timestamp": 1795293960126,
    "cwd": "/p",
    "toolName": "bash",
    "toolArgs": {"command": "exit 3"},
}
_PI = {"type": "tool_result", "toolName": "bash", "toolCallId": "c", "input": {"command": "exit 3"}, "isError": True}


@each(
    "agent, event, said",
    [
        ("claude-code", "", {**_SHELL, **_FAILED, "tool_name": "Bash", "error": "Exit code 3\nout"}),
        (
            "gemini",
            "",
            {**_SHELL, **_AFTER, "tool_response": {"llmContent": "Output: out\nExit Code: 3\nProcess Group PGID: 1"}},
        ),
        (
            "qwen",
            "",
            {**_SHELL, **_FAILED, "tool_name": "run_shell_command", "error": "Output: x\nExit Code: 3\nSignal: (none)"},
        ),
        (
            "copilot",
            "postToolUse",
            {
                **_COPILOT,
                "toolResult": {
                    "resultType": "success",
                    "textResultForLlm": "\n<shellId: 0 completed with exit code 3>",
                },
            },
        ),
        (
            "pi",
            "tool_result",
            {
                "hook": "tool_result",
                "event": {**_PI, "content": [{"type": "text", "text": "\nCommand exited with code 3"}]},
                "session": "s",
            },
        ),
        (
            "gptme",
            "",
            {
                "hook": "tool.execute.post",
                "at": 1795318197248693978,
                "tool": "shell",
                "kwargs": {"command": "exit 3"},
                "call_id": "c",
                "output": ["Ran command: `exit 3`\n\nNo output\n\nReturn code: 3"],
                "refused": False,
                "session": "s",
                "workspace": "/p",
            },
        ),
    ],
)
def test_a_hook_that_is_told_the_code_of_a_failed_command_reports_it(
    agent: str, event: str, said: dict[str, Any]
) -> None:
    result = _result(agent, event, said)
    assert (result.meta["success"], result.meta["exit_code"]) == (False, 3)
