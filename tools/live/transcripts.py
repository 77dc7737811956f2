"""What each agent's own transcript says it called: read anew here, with nothing of the program under test.

Owns where each agent keeps its transcript and what a call looks like in it. The readers of `tallystick.agents` do the
same for every kind of step; two readings that were written apart must agree on the calls.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from pathlib import Path

import msgspec

from tools.live.wire.neutral import Json

Calls = dict[str, str]
"""The agent's id of each call, and the tool's name."""


class _Kept(msgspec.Struct, frozen=True):
    """Where transcripts lie below the home folder, how values come out of them, and which value is a call."""

    glob: str
    values: Callable[[Path], Iterable[Json]]
    call: Callable[[Json], tuple[str, str] | None]


def calls_in_transcripts(agent: str, home: Path) -> Calls:
    """All calls in the agent's transcripts below a home folder, each once, in the order in which they stand there."""
    kept = _KEPT[agent]
    found: Calls = {}
    for path in sorted(home.glob(kept.glob)):
        for value in kept.values(path):
            for item in _objects(value):
                if (call := kept.call(item)) is not None:
                    found.setdefault(*call)
    return found


def keeps_a_transcript(agent: str) -> bool:
    """Whether the agent writes its calls down."""
    return agent in _KEPT


def _objects(value: Json) -> Iterator[Json]:
    """Every object in a JSON value, the outer before the inner."""
    if isinstance(value, dict):
        yield value
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from _objects(item)


def _lines(path: Path) -> Iterator[Json]:
    with path.open("rb") as file:
        for line in file:
            if line.endswith(b"\n"):  # else the agent was stopped while it wrote
                yield json.loads(line)


def _document(path: Path) -> Iterator[Json]:
    yield json.loads(path.read_bytes())


def _column(statement: str) -> Callable[[Path], Iterator[Json]]:
    def read(path: Path) -> Iterator[Json]:
        with closing(sqlite3.connect(path)) as database:
            for (text,) in database.execute(statement):
                yield json.loads(text)

    return read


def _typed(kind: str, id_member: str, name_member: str) -> Callable[[Json], tuple[str, str] | None]:
    """A call that is an object of some type."""

    def call(item: Json) -> tuple[str, str] | None:
        if re.fullmatch(kind, str(item.get("type"))) and isinstance(item.get(id_member), str):
            return item[id_member], item.get(name_member, "?")
        return None

    return call


def _gemini_call(item: Json) -> tuple[str, str] | None:
    return (item["id"], item["name"]) if {"id", "name", "args"} <= item.keys() else None


def _qwen_call(item: Json) -> tuple[str, str] | None:
    call = item.get("functionCall")
    return (call["id"], call["name"]) if isinstance(call, dict) else None


def _copilot_call(item: Json) -> tuple[str, str] | None:
    if item.get("type") != "tool.execution_start":
        return None
    return item["data"]["toolCallId"], item["data"]["toolName"]


def _function_call(item: Json) -> tuple[str, str] | None:
    function = item.get("function")
    if isinstance(function, dict) and isinstance(item.get("id"), str):
        return item["id"], function.get("name", "?")
    return None


def _gptme_lines(path: Path) -> Iterator[Json]:
    """gptme writes calls into the text of what the assistant says: `@tool(id): {…}` at the start of a line."""
    for line in _lines(path):
        if line.get("role") == "assistant":
            for name, call_id in re.findall(r"^@([\w.-]+)\((call_\w+)\):", line["content"], re.MULTILINE):
                yield {"type": "call", "id": call_id, "name": name}


NESTED = "exec-"
"""What the ids of calls begin with that Codex makes in its code mode, while it runs what the model wrote."""


def _codex_call(item: Json) -> tuple[str, str] | None:
    if str(item.get("id")).startswith(NESTED):
        return item["id"], item.get("type", "?")
    return _typed("function_call|custom_tool_call|local_shell_call", "call_id", "name")(item)


_KEPT: dict[str, _Kept] = {
    "claude-code": _Kept(".claude/projects/**/*.jsonl", _lines, _typed("tool_use", "id", "name")),
    "codex": _Kept(".codex/sessions/**/rollout-*.jsonl", _lines, _codex_call),
    "gemini": _Kept(".gemini/tmp/*/chats/**/*.jsonl", _lines, _gemini_call),
    "opencode": _Kept(
        ".local/share/opencode/opencode.db", _column("SELECT data FROM part"), _typed("tool", "callID", "tool")
    ),
    "copilot": _Kept(".copilot/session-state/*/events.jsonl", _lines, _copilot_call),
    "gptme": _Kept(".local/share/gptme/logs/*/conversation.jsonl", _gptme_lines, _typed("call", "id", "name")),
    "qwen": _Kept(".qwen/projects/**/*.jsonl", _lines, _qwen_call),
    "cline": _Kept(".cline/data/sessions/*/*.messages.json", _document, _typed("tool_use", "id", "name")),
    "pi": _Kept(".pi/agent/sessions/**/*.jsonl", _lines, _typed("toolCall", "id", "name")),
    "mini-swe-agent": _Kept(".config/mini-swe-agent/last_mini_run.traj.json", _document, _function_call),
    "hermes": _Kept(
        ".hermes/state.db", _column("SELECT tool_calls FROM messages WHERE tool_calls IS NOT NULL"), _function_call
    ),
}
