"""What the scripted model does: turns of text and calls, for the agent and for the sub-agents it starts.

Owns the values of a script and the rule which turn answers a request. Must not know wire formats, nor agents.
"""

from __future__ import annotations

import json
from collections.abc import Callable

import msgspec

from tools.live.wire.neutral import Json, Request

FOR_A_SUBAGENT = "LIVE-SUBAGENT"
"""Stands in the prompt of each sub-agent that a script starts: a request whose user says it is the sub-agent's."""

FOR_A_NESTED_ONE = "LIVE-NESTED"
"""The same for a sub-agent that a sub-agent starts."""

DONE = "Done."


class Shell(msgspec.Struct, frozen=True, tag=True):
    """Run a command."""

    command: str


class Write(msgspec.Struct, frozen=True, tag=True):
    """Make a file; `path` is absolute."""

    path: str
    content: str


class Edit(msgspec.Struct, frozen=True, tag=True):
    """Replace `old`, which stands once in the file, by `new`."""

    path: str
    old: str
    new: str


class SubAgent(msgspec.Struct, frozen=True, tag=True):
    """Have a sub-agent do the turns that the script has for it."""

    task: str
    is_nested: bool = False
    """A sub-agent starts it."""
    name: str = "scripted"
    """Of two that run at once, each has its own."""


class AwaitSubAgent(msgspec.Struct, frozen=True, tag=True):
    """Wait until the sub-agent has made this file and had time to end; nothing where there are no sub-agents."""

    path: str
    limit_s: int = 5


class LeaveNote(msgspec.Struct, frozen=True, tag=True):
    """Call the one tool of our MCP server."""

    text: str


class Finish(msgspec.Struct, frozen=True, tag=True):
    """Say that the task is done, to agents that want a call for it; nothing to the others."""


Act = Shell | Write | Edit | SubAgent | AwaitSubAgent | LeaveNote | Finish


class Turn(msgspec.Struct, frozen=True):
    """One answer of the model."""

    text: str = ""
    acts: tuple[Act, ...] = ()
    thinking: str = ""


class Script(msgspec.Struct, frozen=True, kw_only=True):
    """Everything the model will say in one run."""

    turns: tuple[Turn, ...]
    subagent: tuple[Turn, ...] = ()
    nested: tuple[Turn, ...] = ()
    """Of the sub-agents that sub-agents start."""
    toolless: str | None = None
    """The answer to a request that offers no tools, for an agent that never offers any; None: such requests are side
    requests (a title, a summary) and get something that satisfies their schema."""


class Picked(msgspec.Struct, frozen=True):
    """The turn that answers a request, and whose it is: `main`, `subagent`, `nested` or `side`."""

    whose: str
    number: int
    turn: Turn


_WHOSE = {FOR_A_NESTED_ONE: "nested", FOR_A_SUBAGENT: "subagent"}


def pick(script: Script, request: Request, can: Callable[[Act], bool]) -> Picked:
    """The turn for a request: the n-th, where n turns of ours can be seen in it. So a repeated request is harmless.

    Args:
        can: whether the request offers a tool for an act; a turn whose acts all lack one is left out.
    """
    users = [message.text for message in request.messages if message.role == "user"]
    if not request.tools:
        text = script.toolless or (json.dumps(smallest(request.schema)) if request.schema else "ok")
        return Picked("side", 0, Turn(text))
    whose = next((whose for mark, whose in _WHOSE.items() if any(mark in text for text in users)), "main")
    said = {"main": script.turns, "subagent": script.subagent, "nested": script.nested}
    turns = _possible(said[whose], can)
    number = _turns_said(turns, request)
    return Picked(whose, number, turns[number] if number < len(turns) else Turn(DONE, (Finish(),)))


def _possible(turns: tuple[Turn, ...], can: Callable[[Act], bool]) -> tuple[Turn, ...]:
    return tuple(turn for turn in turns if not turn.acts or any(isinstance(a, Finish) or can(a) for a in turn.acts))


def _turns_said(turns: tuple[Turn, ...], request: Request) -> int:
    """How many of our turns stand in the request; agents add words of their own in the assistant's name."""
    texts = {turn.text for turn in turns if turn.text} | {DONE}
    said = [message for message in request.messages if message.role == "assistant"]
    return sum(1 for message in said if message.calls or any(text in message.text for text in texts))


def smallest(schema: Json) -> Json:
    """A small value that satisfies a JSON Schema, as far as agents' side requests go."""
    kind = schema.get("type") or "object"
    kind = str(kind[0] if isinstance(kind, list) else kind).lower()
    if schema.get("enum"):
        return schema["enum"][0]
    if kind == "object":
        return {name: smallest(inner) for name, inner in (schema.get("properties") or {}).items()}
    return {"array": [], "boolean": False, "integer": 0, "number": 0, "null": None}.get(kind, "fake")
