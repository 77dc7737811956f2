"""A conversation over ACP, written message by message."""

from __future__ import annotations

import json
from typing import Any

from tallystick.agents.protocols.acp import Acp, Side
from tallystick.model.step import Event, Step


class Talk:
    """A conversation written here, with an agent that has no histories."""

    def __init__(self, agent: str = "some-agent") -> None:
        self.acp = Acp("command")
        self.at = 1_700_000_000_000_000_000
        self.ids = 100
        self.ask("initialize", {"protocolVersion": 1, "clientInfo": {"name": "editor", "version": "2"}})
        self.answer({"protocolVersion": 1, "agentInfo": {"name": agent, "version": "9"}})

    def say(self, side: Side, message: dict[str, Any], **more: Any) -> list[Event]:
        self.at += 1_000_000
        line = json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"
        return list(self.acp.take(side, line, self.at, **more))

    def ask(self, method: str, params: dict[str, Any], side: Side = Side.EDITOR) -> list[Event]:
        self.ids += 1
        return self.say(side, {"id": self.ids, "method": method, "params": params})

    def answer(self, result: Any, side: Side = Side.AGENT, **more: Any) -> list[Event]:
        return self.say(side, {"id": self.ids, "result": result}, **more)

    def begin(self, **params: Any) -> list[Event]:
        self.ask("session/new", {"cwd": "/home/dev", "mcpServers": [], **params})
        return self.answer({"sessionId": "s"})

    def update(self, kind: str, /, **members: Any) -> list[Event]:
        return self.say(
            Side.AGENT,
            {"method": "session/update", "params": {"sessionId": "s", "update": {"sessionUpdate": kind, **members}}},
        )


def steps(events: list[Event], kind: str | None = None) -> list[Step]:
    return [event for event in events if isinstance(event, Step) and kind in (None, event.type)]
