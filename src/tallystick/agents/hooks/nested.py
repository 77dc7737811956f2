"""Hooks in the shape that Claude Code, Codex, Gemini and Qwen share.

    {"hooks": {EVENT: [{"matcher": "*", "hooks": [{"type": "command", "command": …, "timeout": …}]}]}}

Owns that shape. Must not know their events.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from tallystick.agents.hooks import handlers
from tallystick.agents.kit.json_text import JSON, Dialect
from tallystick.model.step import Json


class Form(msgspec.Struct, frozen=True, kw_only=True):
    """How an agent wants its handlers written."""

    timeout: int | Mapping[str, int]
    """How long it may wait, in the unit that it reads; by event, or the same for all."""
    matched: frozenset[str] = frozenset()
    """The events of tools, which are matched by name: ours take all."""
    by_command: frozenset[str] = frozenset()
    """The events that run the command even where the others call our port."""
    dialect: Dialect = JSON
    """What it reads."""

    def timeout_of(self, event: str) -> int:
        """How long it may wait at an event."""
        if isinstance(self.timeout, int):
            return self.timeout
        return self.timeout[event]


def configure(
    content: bytes, events: Iterable[str], command: str, form: Form, *, http: Mapping[str, Json] | None = None
) -> bytes:
    """The settings with our command as a handler of every event, or a call of our port.

    Args: content: the settings file; empty if none exists. events: what to subscribe to. command: for /bin/sh. http: the
    handler that calls our port, without its timeout.

    Raises:
        FormatError: the agent would not read the file; the message has the line.
    """

    def item(event: str) -> Json:
        handler: dict[str, Json] = {"type": "command", "command": command}
        if http and event not in form.by_command:
            handler = dict(http)
        handler["timeout"] = form.timeout_of(event)
        if event in form.matched:
            return {"matcher": "*", "hooks": [handler]}
        return {"hooks": [handler]}

    return handlers.configure(content, {event: item(event) for event in events}, form.dialect)


def remove(content: bytes, *, dialect: Dialect = JSON) -> bytes:
    """The settings without our handlers. Raises what `configure` raises."""
    return handlers.remove(content, dialect)


def hooked(content: bytes, *, dialect: Dialect = JSON) -> tuple[str, ...]:
    """The events with a handler of ours. Raises what `configure` raises."""
    return handlers.hooked(content, dialect)
