"""What each agent's hook sends before a call: for tests of what must hold for every agent that asks for leave.

Owns one payload an agent, around any tool and arguments, with the agent's own name of the tool that runs commands. Must not
know what is done with it.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from tallystick.model.step import Json


class Asking(msgspec.Struct, frozen=True):
    """How an agent asks for leave."""

    event: str
    """The agent's name of the event."""
    tool: str
    """Its tool that runs commands."""
    made: Callable[[str, Json, str], dict[str, Json]]
    """The payload for a tool, its arguments and the folder that the agent works in."""


SESSION = "s-1"


def _named(event: str, **more: Json) -> Callable[[str, Json, str], dict[str, Json]]:
    """The form that most agents have taken over from one another."""

    def made(tool: str, args: Json, cwd: str) -> dict[str, Json]:
        return {
            "session_id": SESSION,
            "hook_event_name": event,
            "cwd": cwd,
            "tool_name": tool,
            "tool_input": args,
            **more,
        }

    return made


def _cline(tool: str, args: Json, cwd: str) -> dict[str, Json]:
    call = {"id": "c1", "name": tool, "input": args}
    return {"taskId": SESSION, "hookName": "tool_call", "workspaceRoots": [cwd], "tool_call": call}


def _copilot(tool: str, args: Json, cwd: str) -> dict[str, Json]:
    return {"sessionId": SESSION, "timestamp": 1_700_000_000_000, "cwd": cwd, "toolName": tool, "toolArgs": args}


def _cursor(tool: str, args: Json, cwd: str) -> dict[str, Json]:
    return {
        "conversation_id": SESSION,
        "hook_event_name": "preToolUse",
        "workspace_roots": [cwd],
        "tool_name": tool,
        "tool_input": args,
    }


def _gptme(tool: str, args: Json, cwd: str) -> dict[str, Json]:
    said = {"hook": "tool.execute.pre", "at": 1.0, "session": SESSION, "workspace": cwd, "tool": tool}
    return {**said, "kwargs": args}


def _hermes(tool: str, args: Json, cwd: str) -> dict[str, Json]:
    return {
        "hook": "pre_tool_call",
        "at": 1.0,
        "session": SESSION,
        "cwd": cwd,
        "tool_name": tool,
        "args": args,
        "tool_call_id": "c1",
    }


def _opencode(tool: str, args: Json, cwd: str) -> dict[str, Json]:
    given = {"sessionID": SESSION, "callID": "c1", "tool": tool}
    return {"hook": "tool.execute.before", "at": 1.0, "directory": cwd, "input": given, "output": {"args": args}}


def _pi(tool: str, args: Json, cwd: str) -> dict[str, Json]:
    call = {"toolName": tool, "input": args, "toolCallId": "c1"}
    return {"hook": "tool_call", "at": 1.0, "session": SESSION, "cwd": cwd, "event": call}


ASKING: dict[str, Asking] = {
    "claude-code": Asking("PreToolUse", "Bash", _named("PreToolUse", permission_mode="default")),
    "cline": Asking("PreToolUse", "execute_command", _cline),
    "codex": Asking("PreToolUse", "Bash", _named("PreToolUse")),
    "copilot": Asking("preToolUse", "bash", _copilot),
    "cursor": Asking("preToolUse", "Shell", _cursor),
    "gemini": Asking("BeforeTool", "run_shell_command", _named("BeforeTool")),
    "gptme": Asking("tool.execute.pre", "shell", _gptme),
    "hermes": Asking("pre_tool_call", "terminal", _hermes),
    "opencode": Asking("tool.execute.before", "bash", _opencode),
    "pi": Asking("tool_call", "bash", _pi),
    "qwen": Asking("PreToolUse", "run_shell_command", _named("PreToolUse")),
}
"""By agent: all whose hooks ask."""
