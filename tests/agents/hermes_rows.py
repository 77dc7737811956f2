"""Rows of Hermes' database, and asking the events that they give."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from tallystick.agents import SourceFile
from tallystick.agents.hermes import transcript as hermes
from tallystick.model.step import Event, Loss, Opening, Step

BANNER = "[CONTEXT COMPACTION — REFERENCE ONLY] Earlier turns were compacted"

Row = Mapping[str, Any]


def openings(events: Sequence[Event]) -> dict[str, Opening]:
    return {event.session: event for event in events if isinstance(event, Opening)}


def steps(events: Sequence[Event], session: str | None = None) -> list[Step]:
    return [event for event in events if isinstance(event, Step) and session in (None, event.session)]


def of_type(events: Sequence[Event], *types: str) -> list[Step]:
    return [step for step in steps(events) if step.type in types]


def losses(events: Sequence[Event]) -> Counter[str]:
    return Counter(event.kind for event in events if isinstance(event, Loss))


def find(events: Sequence[Event], source_id: str, session: str | None = None) -> Step:
    [found] = [step for step in steps(events, session) if step.source_id == source_id]
    return found


def fed(rows: Sequence[tuple[str, Row]]) -> list[Event]:
    """The events of rows that stand in no database, in the order in which a database would give them."""
    reader = hermes.reader(SourceFile("state.db"))
    events: list[Event] = []
    for ordinal, (table, row) in enumerate(rows):
        events += reader.feed(json.dumps({"table": table, "row": row}).encode(), ordinal)
    return [*events, *reader.finish()]


def session(name: str, began: float = 1e9, **row: Any) -> tuple[str, Row]:
    config = row.pop("config", {})
    return "sessions", {"id": name, "source": "cli", "started_at": began, "model_config": json.dumps(config), **row}


def said(key: int, name: str, role: str, content: Any, at: float | None = None, **row: Any) -> tuple[str, Row]:
    values = {"id": key, "session_id": name, "role": role, "content": content, "active": 1, "compacted": 0}
    return "messages", {**values, "timestamp": 1e9 + key if at is None else at, **row}


def asked(key: int, name: str, *calls: tuple[str, str, dict[str, Any]], **row: Any) -> tuple[str, Row]:
    made = [
        {"id": call, "function": {"name": tool, "arguments": json.dumps(args)}, "type": "function"}
        for call, tool, args in calls
    ]
    return said(key, name, "assistant", "", tool_calls=json.dumps(made), **row)


SHARED = (said(1, "p", "user", "one"), said(2, "p", "assistant", "two"), said(3, "p", "user", "three"))


def twice_in_place() -> list[tuple[str, Row]]:
    """Two compactions in place: the first kept the first message and the last answer, the second a cut result."""
    gone = {"active": 0, "compacted": 1}
    return [
        session("s"),
        said(1, "s", "user", "first", **gone),
        said(2, "s", "assistant", "answer", **gone),
        said(3, "s", "user", "second", **gone),
        said(4, "s", "assistant", "another", **gone),
        said(5, "s", "user", "first", at=1e9 + 1, **gone),
        said(6, "s", "assistant", BANNER + " A", at=1e9 + 20, **gone),
        said(7, "s", "user", "second", at=1e9 + 20 + 1e-6, **gone),
        said(8, "s", "assistant", "another", at=1e9 + 20 + 2e-6, **gone),
        said(9, "s", "user", "third", at=1e9 + 30, **gone),
        asked(10, "s", ("c1", "terminal", {"command": "ls"}), at=1e9 + 31, **gone),
        said(11, "s", "tool", "a long list", at=1e9 + 32, tool_call_id="c1", tool_name="terminal", **gone),
        said(12, "s", "user", BANNER + " B", at=1e9 + 40),
        asked(13, "s", ("c1", "terminal", {"command": "ls"}), at=1e9 + 40 + 1e-6),
        said(14, "s", "tool", "[cut]", at=1e9 + 40 + 2e-6, tool_call_id="c1", tool_name="terminal"),
        said(15, "s", "user", "fourth, typed while it compacted", at=1e9 + 40 + 3e-6),
        said(16, "s", "assistant", "done", at=1e9 + 42),
    ]
