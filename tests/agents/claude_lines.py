"""Made-up lines of Claude Code transcripts, for the tests of its reader."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

from tallystick.agents.claude_code import transcript as claude_code
from tallystick.model.step import Event, Json, Opening, Step
from tests.agents.conftest import events_of_lines
from tests.agents.mutations import steps_of

Line = dict[str, Json]


def read(*lines: Line | bytes, path: str = "s.jsonl", companions: dict[str, bytes] | None = None) -> list[Event]:
    """The events of made-up lines."""
    texts = [line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines]
    return events_of_lines(claude_code, texts, path, companions)


def said(kind: str, uuid: str, parent: str | None, **members: Json) -> Line:
    return {"type": kind, "uuid": uuid, "parentUuid": parent, "sessionId": "s", "isSidechain": False, **members}


def user(uuid: str, parent: str | None, content: Json, **members: Json) -> Line:
    return said("user", uuid, parent, message={"role": "user", "content": content}, **members)


def assistant(uuid: str, parent: str | None, *blocks: Json, of: str = "m1", output: int = 1, **members: Json) -> Line:
    content = [{"type": "text", "text": block} if isinstance(block, str) else block for block in blocks]
    usage = {"input_tokens": 5, "output_tokens": output, "cache_read_input_tokens": 7, "cache_creation_input_tokens": 9}
    message = {"id": of, "role": "assistant", "model": "claude-x", "content": content, "usage": usage}
    return said("assistant", uuid, parent, message=message, **members)


def call(call_id: str, tool: str = "Bash", **args: Json) -> Line:
    return {"type": "tool_use", "id": call_id, "name": tool, "input": args}


def result(uuid: str, parent: str | None, call_id: str, content: Json = "done", **members: Json) -> Line:
    block = {"type": "tool_result", "tool_use_id": call_id, "content": content}
    if members.pop("is_error", None):
        block["is_error"] = True
    return user(uuid, parent, [block], **members)


def one(events: Sequence[Event], source_id: str) -> Step:
    [step] = [step for step in steps_of(events) if step.source_id == source_id]
    return step


def ids(events: Sequence[Event], session: str | None = None) -> list[str | None]:
    return [step.source_id for step in steps_of(events) if session in (None, step.session)]


def openings(events: Sequence[Event]) -> dict[str, Opening]:
    return {event.session: event for event in events if isinstance(event, Opening)}


def after(events: Sequence[Event], source_id: str) -> tuple[str | None, ...]:
    return tuple(ref.source_id for ref in one(events, source_id).after)


def side(kind: Callable[..., Line], uuid: str, parent: str | None, *args: Json, **members: Json) -> Line:
    return kind(uuid, parent, *args, isSidechain=True, **members)


def progress(uuid: str, parent: str, message: Line) -> Line:
    data = {"type": "agent_progress", "agentId": "k7", "message": message, "prompt": "look"}
    return said("progress", uuid, parent, data=data, parentToolUseID="t1", toolUseID="agent_1")
