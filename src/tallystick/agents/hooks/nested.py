"""Hooks in the shape that Claude Code, Codex, Gemini and Qwen share.

    {"hooks": {EVENT: [{"matcher": "*", "hooks": [{"type": "command", "command": …, "timeout": …}]}]}}

Owns that shape. Must not know their events.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from tallystick.agents.hooks import handlers
from tallystick.agents.kit.json_text import JSON, Dialect
from tallystick.model.step import Json


def configure(
    content: bytes,
    events: Iterable[str],
    command: str,
    *,
    timeout: int | dict[str, int],
    matched: frozenset[str] = frozenset(),
    dialect: Dialect = JSON,
    http: Mapping[str, Json] | None = None,
    by_command: frozenset[str] = frozenset(),
) -> bytes:
    """The settings with our command as a handler of every event, or a call of our port.

    Args: content: the settings file; empty if none exists. events: what to subscribe to. command: for /bin/sh. timeout:
    how long the agent may wait, in the unit that it reads; by event, or the same for all. matched: the events of tools,
    which are matched by name: ours take all. dialect: what the agent reads. http: the handler that calls our port,
    without its timeout. by_command: the events that run the command all the same.

    Raises:
        FormatError: the agent would not read the file; the message has the line.
    """

    def item(event: str) -> Json:
        if isinstance(timeout, int):
            seconds = timeout
        else:
            seconds = timeout[event]
        by_port = http is not None and event not in by_command
        handler = {**(http if by_port and http else {"type": "command", "command": command}), "timeout": seconds}
        if event in matched:
            return {"matcher": "*", "hooks": [handler]}
        return {"hooks": [handler]}

    return handlers.configure(content, {event: item(event) for event in events}, dialect)


def remove(content: bytes, *, dialect: Dialect = JSON) -> bytes:
    """The settings without our handlers. Raises what `configure` raises."""
    return handlers.remove(content, dialect)


def hooked(content: bytes, *, dialect: Dialect = JSON) -> tuple[str, ...]:
    """The events with a handler of ours. Raises what `configure` raises."""
    return handlers.hooked(content, dialect)
