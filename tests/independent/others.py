"""Copilot CLI's events, Gemini's chats in both forms, OpenCode's exported sessions."""

from __future__ import annotations

import re
from typing import Any

from tests.independent.facts import Edit, History, Request
from tests.independent.lines import Lines, text_of

__all__ = ("read_copilot", "read_gemini", "read_opencode")

_PATCHED = re.compile(r"^\*\*\* (?:Add File|Update File|Delete File|Move to): (.+)$", re.MULTILINE)


def read_copilot(lines: Lines) -> History:  # noqa: C901, PLR0912 one pass from top to bottom
    history = History("copilot-cli", bad_lines=lines.bad)
    held: dict[str, Request | None] = {"": None}
    names: dict[str, tuple[str, Request | None]] = {}
    working = False
    for number, row in lines:
        data = _dict(row.get("data"))
        agent = str(row.get("agentId") or data.get("parentToolCallId") or "")
        match row.get("type"):
            case "session.start" | "session.resume":
                history.session = history.session or str(data.get("sessionId") or "")
            case "user.message":
                text, source = str(data.get("content") or ""), str(data.get("source") or "user")
                if not source.startswith(("user", "agent-", "command")):
                    continue
                kind = _copilot_kind(data, working=working)
                held[agent] = Request(number, kind, text, held.get(agent, held[""]))
                history.requests.append(held[agent])  # type: ignore[arg-type]
                history.status = "ended"
            case "system.notification":
                held[agent] = Request(number, "notification", str(data.get("content")), held.get(agent))
                history.requests.append(held[agent])  # type: ignore[arg-type]
            case "assistant.turn_start":
                working = True
            case "assistant.turn_end" | "session.shutdown":
                working = False
            case "abort":
                working, history.status = False, "interrupted"
            case "tool.execution_start":
                call, name = str(data.get("toolCallId")), str(data.get("toolName"))
                if agent and agent not in held:
                    words, above = names.get(agent, ("", None))
                    held[agent] = Request(number, "task", words, above)
                    history.requests.append(held[agent])  # type: ignore[arg-type]
                arguments = data.get("arguments")
                given = _dict(arguments)
                names[call] = (str(given.get("prompt") or name), held.get(agent))
                history.outcomes[call] = "open"
                if name in {"edit", "create", "apply_patch", "str_replace_editor"} and given.get("command") != "view":
                    words = (
                        arguments if isinstance(arguments, str) else str(given.get("patch") or given.get("input") or "")
                    )
                    paths = (str(given["path"]),) if given.get("path") else tuple(_PATCHED.findall(words))
                    history.edits.append(Edit(number, call, name, paths, held.get(agent)))
                if name in {"ask_user", "exit_plan_mode"}:
                    names[call] = (name, held.get(agent))
            case "tool.execution_complete":
                call = str(data.get("toolCallId"))
                good = bool(data.get("success"))
                code = str(_dict(data.get("error")).get("code") or "")
                history.outcomes[call] = "ok" if good else ("refused" if code in {"denied", "rejected"} else "failed")
                asked = names.get(call, ("", None))[0]
                if good and asked in {"ask_user", "exit_plan_mode"}:
                    kind = "plan" if asked == "exit_plan_mode" else "answer"
                    held[agent] = Request(number, kind, text_of(data.get("result")), held.get(agent))
                    history.requests.append(held[agent])  # type: ignore[arg-type]
            case "assistant.message":
                history.tokens["output"] += int(data.get("outputTokens") or 0)
    return history


def _copilot_kind(data: dict[str, Any], *, working: bool) -> str:
    source = str(data.get("source") or "")
    if source.startswith("agent-"):
        return "task"
    if source.startswith("command"):
        return "command"
    return "queued" if working and data.get("delivery") in {"steering", "queued"} else "prompt"


def read_gemini(lines: Lines) -> History:
    history = History("gemini", bad_lines=lines.bad)
    first = lines.first()
    rows = [(1, row) for row in first["messages"]] if isinstance(first.get("messages"), list) else list(lines)
    last: dict[str, tuple[int, dict[str, Any]]] = {}
    for number, row in rows:
        if isinstance(row, dict) and row.get("id") and row.get("type"):
            kept = last.get(str(row["id"]), (number, row))[0]
            last[str(row["id"])] = (kept, row)
    history.session = str(first.get("sessionId") or "")
    child = first.get("kind") == "subagent"
    held: Request | None = None
    for number, row in last.values():
        if row["type"] == "user":
            text = text_of(row.get("content"))
            if text.strip() and not text.startswith(("/", "?", "<session_context", "This is the Gemini CLI")):
                held = Request(number, "task" if child else "prompt", text, held)
                history.requests.append(held)
        for call in row.get("toolCalls") or []:
            ident, name = str(call.get("id")), str(call.get("name"))
            good = call.get("status") == "success"
            history.outcomes[ident] = "ok" if good else ("refused" if call.get("status") == "cancelled" else "failed")
            if name in {"write_file", "replace", "edit"}:
                given = _dict(call.get("args"))
                path = str(given.get("file_path") or given.get("path") or "")
                history.edits.append(Edit(number, ident, name, (path,), held))
        tokens = _dict(row.get("tokens"))
        if tokens:
            cached = int(tokens.get("cached") or 0)
            history.tokens["input"] += int(tokens.get("input") or 0) - cached + int(tokens.get("tool") or 0)
            history.tokens["cache_read"] += cached
            history.tokens["output"] += int(tokens.get("output") or 0) + int(tokens.get("thoughts") or 0)
    return history


def read_opencode(lines: Lines) -> History:
    history = History("opencode", bad_lines=lines.bad)
    document = lines.first()
    info = _dict(document.get("info"))
    history.session = str(info.get("id") or "")
    held: Request | None = None
    for message in document.get("messages") or []:
        about = _dict(message.get("info"))
        parts = [part for part in message.get("parts") or [] if isinstance(part, dict)]
        if about.get("role") == "user":
            held = _opencode_request(history, parts, held, child=bool(info.get("parentID")))
            continue
        for part in parts:
            if part.get("type") == "tool":
                _opencode_call(history, part, held)
            if part.get("type") == "step-finish":
                tokens = _dict(part.get("tokens"))
                cache = _dict(tokens.get("cache"))
                history.tokens["input"] += int(tokens.get("input") or 0)
                history.tokens["output"] += int(tokens.get("output") or 0) + int(tokens.get("reasoning") or 0)
                history.tokens["cache_read"] += int(cache.get("read") or 0)
                history.tokens["cache_write"] += int(cache.get("write") or 0)
    return history


def _opencode_request(
    history: History, parts: list[dict[str, Any]], held: Request | None, *, child: bool
) -> Request | None:
    typed = [str(p.get("text") or "") for p in parts if p.get("type") == "text" and not p.get("synthetic")]
    tasks = [str(p.get("prompt") or "") for p in parts if p.get("type") == "subtask"]
    added = [str(p.get("text") or "") for p in parts if p.get("type") == "text" and p.get("synthetic")]
    if typed:
        request = Request(1, "task" if child else "prompt", "\n".join(typed), held)
    elif tasks:
        request = Request(1, "command", "\n".join(tasks), held)
    elif added:
        request = Request(1, "continuation", "\n".join(added), held)
    else:
        return held
    history.requests.append(request)
    return request


def _opencode_call(history: History, part: dict[str, Any], held: Request | None) -> None:
    call, name = str(part.get("callID")), str(part.get("tool"))
    state = _dict(part.get("state"))
    outcome = {"completed": "ok", "error": "failed"}.get(str(state.get("status")), "open")
    history.outcomes[call] = outcome
    if name in {"edit", "write", "apply_patch", "patch", "multiedit"}:
        given = _dict(state.get("input"))
        words = str(given.get("patchText") or given.get("patch") or "")
        path = given.get("filePath")
        paths = (str(path),) if path else tuple(p.strip() for p in _PATCHED.findall(words))
        history.edits.append(Edit(1, call, name, paths, held))


def _dict(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
