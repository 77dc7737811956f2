"""Codex's rollout: `event_msg/user_message` is what a user typed, `response_item` what the model was given."""

from __future__ import annotations

import contextlib
import json
import re
from typing import Any

from tests.independent.facts import Edit, History, Request
from tests.independent.lines import Lines, text_of

__all__ = ("read",)

_PATCHED = re.compile(r"^\*\*\* (?:Add File|Update File|Delete File|Move to): (.+)$", re.MULTILINE)
_INJECTED = (
    "<environment_context",
    "<user_instructions",
    "# AGENTS.md",
    "<turn_aborted",
    "<skill>",
    "<subagent_notification",
    "<permissions",
    "<user_shell_command",
    "<model_switch",
    "<collaboration_mode",
    "<INSTRUCTIONS",
    "<hook_prompt",
)


def read(lines: Lines) -> History:  # noqa: C901, PLR0912 one pass from top to bottom
    history = History("codex", bad_lines=lines.bad)
    evented = any(_dict(row.get("payload")).get("type") == "user_message" for _, row in lines)
    held: Request | None = None
    turn = False
    child = False
    last: Request | None = None
    tokens: dict[str, Any] = {}
    counted: set[str] = set()
    copied = False
    for number, row in lines:
        payload = _dict(row.get("payload"))
        what = payload.get("type")
        if row.get("type") == "session_meta":
            if not history.session:
                history.session = str(payload.get("id") or "")
                child = isinstance(payload.get("source"), dict) and "subagent" in payload["source"]
                copied = bool(payload.get("forked_from_id"))
            continue
        if what in {"task_started", "task_complete", "turn_aborted"}:
            turn = what == "task_started"
            history.status = "interrupted" if what == "turn_aborted" else "ended"
            if what == "task_started":
                last = held
        text = text_of(payload.get("content"))
        typed = what == "user_message" if evented else what == "message" and payload.get("role") == "user"
        if typed:
            text = str(payload.get("message") or "") if evented else text
            if not text.startswith(_INJECTED) and (text.strip() or payload.get("images")):
                kind = "queued" if turn and last is not held and evented else "prompt"
                held = Request(number, "task" if child else kind, text, held)
                history.requests.append(held)
        elif what == "message" and payload.get("role") == "user" and text.startswith("<hook_prompt"):
            held = Request(number, "hook", text, held)
            history.requests.append(held)
        elif what in {"function_call", "custom_tool_call", "local_shell_call", "web_search_call"}:
            held = _call(history, number, payload, held)
        elif isinstance(what, str) and what.endswith("_output") and payload.get("call_id"):
            held = _output(history, number, payload, held)
        elif what == "patch_apply_end":
            history.outcomes[str(payload.get("call_id"))] = "ok" if payload.get("success") else "failed"
        elif what == "mcp_tool_call_end" and _mcp_failed(_dict(payload.get("result"))):
            history.outcomes[str(payload.get("call_id"))] = "failed"
        elif what == "token_count":
            _count(_dict(payload.get("info")), tokens, counted)
    _ = copied
    history.tokens = {name: tokens.get(name, 0) for name in history.tokens}
    return history


_asked: dict[str, str] = {}


def _call(history: History, number: int, payload: dict[str, Any], held: Request | None) -> Request | None:
    call, name = str(payload.get("call_id")), str(payload.get("name"))
    if not payload.get("call_id"):
        return held
    history.outcomes.setdefault(call, "open")
    words = str(payload.get("input") or payload.get("arguments") or "")
    if name == "request_user_input":
        _asked[call] = name
    if name == "apply_patch" or "*** Begin Patch" in words:
        with contextlib.suppress(ValueError):
            words = str(json.loads(words)) if name != "apply_patch" or words.startswith("{") else words
        paths = tuple(dict.fromkeys(p.strip() for p in _PATCHED.findall(words.replace("\\n", "\n"))))
        history.edits.append(Edit(number, call, name, paths, held))
    return held


def _output(history: History, number: int, payload: dict[str, Any], held: Request | None) -> Request | None:
    call = str(payload.get("call_id"))
    words = payload.get("output")
    text = words if isinstance(words, str) else text_of(words)
    code = re.search(r"(?:Process exited with code|^Exit code:|\"exit_code\":)\s*(-?\d+)", text[:4000], re.MULTILINE)
    if history.outcomes.get(call) in (None, "open"):
        failed = bool(code and code.group(1) != "0")
        history.outcomes[call] = "failed" if failed else "ok"
    if text.startswith(("Command blocked by", "exec_command failed", "apply_patch verification failed")):
        history.outcomes[call] = "refused" if text.startswith("Command blocked") else "failed"
    if "rejected by user" in text[:200]:
        history.outcomes[call] = "refused"
    if _asked.pop(call, None):
        held = Request(number, "answer", text, held)
        history.requests.append(held)
    return held


def _mcp_failed(result: dict[str, Any]) -> bool:
    return "Err" in result or bool(_dict(result.get("Ok")).get("isError"))


def _count(info: dict[str, Any], tokens: dict[str, Any], counted: set[str]) -> None:
    last, total = _dict(info.get("last_token_usage")), json.dumps(info.get("total_token_usage"), sort_keys=True)
    if not last or total in counted:
        return
    counted.add(total)
    read_, written = int(last.get("cached_input_tokens") or 0), int(last.get("cache_write_input_tokens") or 0)
    sums = {
        "input": int(last.get("input_tokens") or 0) - read_ - written,
        "output": int(last.get("output_tokens") or 0),
        "cache_read": read_,
        "cache_write": written,
    }
    for name, value in sums.items():
        tokens[name] = tokens.get(name, 0) + value


def _dict(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
