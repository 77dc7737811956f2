"""Which of the tools that an agent offers does what the script wants, and what input it takes.

Owns the knowledge of tools by name and by the names of their properties. Must not know agents or wire formats: the same
act becomes `Bash` for one agent and `exec_command` for another, because that is what their requests offer.
"""

from __future__ import annotations

import json
from typing import assert_never

from tools.live.script import (
    FOR_A_NESTED_ONE,
    FOR_A_SUBAGENT,
    Act,
    AwaitSubAgent,
    Edit,
    Finish,
    LeaveNote,
    Shell,
    SubAgent,
    Write,
)
from tools.live.wire.neutral import Json, Request, Tool

Input = Json
Chosen = tuple[Tool, Input]

# In the order in which they are preferred, in lower case.
_SHELL: tuple[str, ...] = (
    "bash",
    "exec_command",
    "shell_command",
    "shell",
    "local_shell",
    "run_shell_command",
    "execute_bash",
)
_SHELL += ("terminal", "execute_command", "run_commands", "container.exec")
_WRITE = ("write", "write_file", "create_file", "create", "apply_patch", "save", "str_replace_editor", "editor")
_EDIT = ("edit", "replace", "edit_file", "str_replace", "apply_patch", "patch", "str_replace_editor", "editor")
_SUBAGENT = (
    "task",
    "agent",
    "spawn_agent",
    "invoke_agent",
    "delegate_task",
    "subagent",
    "spawn_subagents",
    "use_subagents",
)
_FINISH = ("complete", "complete_task", "submit_and_exit", "attempt_completion")
_NOTE_TOOL = "leave_note"
_NOTE_BY_SERVER = f"mcp__live__{_NOTE_TOOL}"

# mini-swe-agent is told so by a line that a command prints.
_SAY_DONE = "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"


def choose(act: Act, request: Request) -> Chosen | None:
    """The tool and its input; None where the request offers nothing of the kind."""
    match act:
        case Shell():
            return _shell(act, request)
        case Write() | Edit():
            return _change(act, request)
        case SubAgent():
            return _subagent(act, request)
        case AwaitSubAgent():
            return _await_subagent(act, request)
        case LeaveNote():
            return _leave_note(act, request)
        case Finish():
            return _finish(request)
        case _:
            assert_never(act)


def _find(request: Request, names: tuple[str, ...]) -> Tool | None:
    offered = {name.lower(): tool for name, tool in request.tools.items()}
    return next((offered[name] for name in names if name in offered), None)


def _first(tool: Tool, *names: str) -> str:
    """The first of these names that the tool has as a property; the first of all if it says nothing."""
    return next((name for name in names if name in tool.properties), names[0])


def _javascript(request: Request, tool: str, value: Json) -> Chosen | None:
    """A call in Codex' code mode, which offers one tool that runs JavaScript, and that calls the others."""
    runner = request.tools.get("exec")
    if runner is None or not runner.freeform:
        return None
    return runner, f"const result = await tools.{tool}({json.dumps(value)}); text(result);"


def _shell(act: Shell, request: Request) -> Chosen | None:
    tool = _find(request, _SHELL)
    if tool is None:
        return _javascript(request, "exec_command", {"cmd": act.command})
    name = _first(tool, "command", "cmd", "script", "commands")
    value: Json = act.command
    if tool.builtin == "local_shell" or (tool.properties.get(name) or {}).get("type") == "array":
        value = ["bash", "-lc", act.command]
    given = {name: [act.command] if name == "commands" else value}
    return tool, given | ({"description": "Run a scripted command"} if "description" in tool.properties else {})


def _change(act: Write | Edit, request: Request) -> Chosen | None:
    tool = _find(request, _WRITE if isinstance(act, Write) else _EDIT)
    if tool is None:
        return _javascript(request, "apply_patch", _patch(act)) or _shell(_as_command(act), request)
    if tool.name == "apply_patch":
        return tool, _patch(act) if tool.freeform else {_first(tool, "input", "patch"): _patch(act)}
    path = _first(tool, "file_path", "filePath", "path", "absolute_path", "target_file")
    return tool, {path: act.path} | (_written(act, tool) if isinstance(act, Write) else _edited(act, tool))


def _written(act: Write, tool: Tool) -> Json:
    given = {_first(tool, "content", "file_text", "contents", "new_text"): act.content}
    if "command" in tool.properties:
        given["command"] = "create" if "create" in json.dumps(tool.properties["command"]) else "write"
    return given


def _edited(act: Edit, tool: Tool) -> Json:
    if "patch" in tool.properties and "old_string" not in tool.properties:
        return {"patch": f"<<<<<<< ORIGINAL\n{act.old}\n=======\n{act.new}\n>>>>>>> UPDATED"}
    if (tool.properties.get("edits") or {}).get("type") == "array":
        return {"edits": [{"oldText": act.old, "newText": act.new}]}
    given = {
        _first(tool, "old_string", "oldString", "old_str", "old_text", "oldText"): act.old,
        _first(tool, "new_string", "newString", "new_str", "new_text", "newText"): act.new,
    }
    if "instruction" in tool.properties:
        given["instruction"] = "scripted edit"
    if "command" in tool.properties:
        given["command"] = "str_replace"
    return given


def _patch(act: Write | Edit) -> str:
    if isinstance(act, Write):
        lines = "".join(f"+{line}\n" for line in act.content.splitlines())
        body = f"*** Add File: {act.path}\n{lines}"
    else:
        body = f"*** Update File: {act.path}\n@@\n-{act.old}\n+{act.new}\n"
    return f"*** Begin Patch\n{body}*** End Patch"


def _as_command(act: Write | Edit) -> Shell:
    """The change as a command, for an agent whose only tool is a shell."""
    if isinstance(act, Write):
        return Shell(f"cat > '{act.path}' <<'END_OF_FILE'\n{act.content}END_OF_FILE")
    return Shell(f"sed -i.bak 's/{act.old}/{act.new}/' '{act.path}'")


def _subagent(act: SubAgent, request: Request) -> Chosen | None:
    tool = _find(request, _SUBAGENT)
    if tool is None:
        return _python_subagent(act, request)
    prompt = _prompt(act)
    known = {
        "prompt": prompt,
        "message": prompt,
        "objective": prompt,
        "goal": prompt,
        "task": prompt,
        "systemPrompt": prompt,
        "fork_turns": "none" if tool.name == "spawn_agent" else None,
        "description": "a scripted sub-agent",
        "subagent_type": "general" if "general:" in tool.description else "general-purpose",
        "agent_type": _choice(tool, "agent_type", "task", "general-purpose"),
        "agent_name": _choice(tool, "agent_name", "generalist"),
        "agent_id": act.name,
        "task_name": f"{act.name}_task",
        "name": act.name,
        "run_in_background": False,
        "mode": "sync" if "sync" in json.dumps(tool.properties.get("mode", "")) else None,
    }
    return tool, {name: value for name, value in known.items() if name in tool.properties and value is not None}


def _prompt(act: SubAgent) -> str:
    mark = FOR_A_NESTED_ONE if act.is_nested else FOR_A_SUBAGENT
    return f"{mark}: {act.task}"


def _python_subagent(act: SubAgent, request: Request) -> Chosen | None:
    """gptme starts its sub-agents from Python."""
    tool = request.tools.get("ipython")
    if tool is None:
        return None
    prompt = _prompt(act)
    return tool, {"code": f"subagent({act.name!r}, {prompt!r})\nprint(subagent_wait({act.name!r}))"}


def _choice(tool: Tool, name: str, *wanted: str) -> str:
    """The first wanted value that the property's enumeration or description names, else its first value."""
    schema = tool.properties.get(name) or {}
    values = schema.get("enum") or []
    text = json.dumps(schema)
    return next((value for value in wanted if value in values or value in text), values[0] if values else wanted[-1])


def _await_subagent(act: AwaitSubAgent, request: Request) -> Chosen | None:
    if _subagent(SubAgent(""), request) is None:
        return None
    waiting = f"for i in $(seq {act.limit_s * 10}); do [ -e '{act.path}' ] && break; sleep 0.1; done; sleep 1"
    return _shell(Shell(waiting), request)


def _leave_note(act: LeaveNote, request: Request) -> Chosen | None:
    given = {"text": act.text}
    tool = next((tool for name, tool in request.tools.items() if _NOTE_TOOL in name.lower()), None)
    if tool is not None:
        return tool, given
    deferred = request.tools.get("tool_call")  # Qwen calls the tools of MCP servers through one of its own
    if deferred is not None:
        return deferred, {"name": _NOTE_BY_SERVER, "arguments": given}
    return _javascript(request, _NOTE_BY_SERVER, given)


def _finish(request: Request) -> Chosen | None:
    tool = _find(request, _FINISH)
    if tool is not None:
        return tool, {name: _said(schema) for name, schema in tool.properties.items() if name in ("result", "summary")}
    if [name.lower() for name in request.tools] == ["bash"]:
        return _shell(Shell(_SAY_DONE), request)
    return None


def _said(schema: Json) -> Json:
    """The result of a task, as a text or as an object with a text."""
    return {"response": "Done."} if schema.get("type") == "object" else "Done."
