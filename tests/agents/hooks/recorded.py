"""What real agents gave to hooks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec

from tallystick.agents.hooks import HookAdapter, Payload
from tallystick.model.decision import Decision, Effect
from tallystick.model.step import Opening, Step

FOLDER = Path(__file__).parents[2] / "recordings" / "hooks"
DENY = Decision(effect=Effect.DENY, rules=("r",), reason="no, because »so«")
ASK = Decision(effect=Effect.ASK, reason="may it?")


class Told(msgspec.Struct, frozen=True):
    """One call of a hook."""

    case: str
    event: str
    payload: dict[str, Any]

    @property
    def data(self) -> bytes:
        """What stood on stdin."""
        return json.dumps(self.payload).encode()


def recorded(agent: str, case: str | None = None, event: str | None = None) -> list[Told]:
    """What an agent told, of one case and event or of all."""
    (path,) = FOLDER.glob(f"{agent}-[0-9]*.jsonl")
    told = [msgspec.json.decode(line, type=Told) for line in path.read_bytes().splitlines()]
    return [each for each in told if case in (None, each.case) and event in (None, each.event)]


def payloads(adapter: HookAdapter, case: str | None = None, event: str | None = None) -> list[Payload]:
    """The same, understood."""
    return [adapter.parse(each.data, each.event) for each in recorded(adapter.NAME, case, event)]


def steps(found: list[Payload], type_: str | None = None) -> list[Step]:
    """The steps in payloads, of one type or of all."""
    every = [event for payload in found for event in payload.events if isinstance(event, Step)]
    return [step for step in every if type_ in (None, step.type)]


def openings(found: list[Payload]) -> list[Opening]:
    """The sessions that payloads open."""
    return [event for payload in found for event in payload.events if isinstance(event, Opening)]
