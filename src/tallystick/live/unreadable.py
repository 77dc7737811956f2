"""Payloads that cannot be read as they stand: what they may have meant, and whether their agent waits for leave.

Owns the second, lenient reading, what is taken for a question where even that says nothing, and how strict the answer is at
least. Must not know policies.

The agent that sent such a payload reads it as it likes. So each way to read it counts: the first of two members of one name,
the last, and each of several objects that follow one another. What is not read at all is taken for a question, unless it is
sure which event it tells of, and that the agent does not wait there.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import orjson
from msgspec.structs import replace

from tallystick.agents.hooks import HookAdapter, Payload
from tallystick.agents.kit.reading import loads
from tallystick.catalog.agents import AGENTS
from tallystick.errors import FormatError, PolicyError, TallystickError
from tallystick.guard.fallback_decision import undecided
from tallystick.journal.home import Home
from tallystick.live.delivery import Delivery
from tallystick.live.helpers import Decide
from tallystick.model.decision import Call, Decision, Effect
from tallystick.model.step import Json
from tallystick.seal import limits
from tallystick.workspace.settings import read_setting

UNTOLD = "?"
"""The session, or the tool, of which a payload does not say which it is."""
_MOST_BYTES = 16 << 20
_MOST_OBJECTS = 8
_MOST_DEPTH = 60
_EVENT = re.compile(rb'"(?:hook_event_name|hook)"\s*:\s*"([^"]*)"')
_ASKS_NOBODY = re.compile(rb'"permission_mode"\s*:\s*"bypassPermissions"|"asks_nobody"\s*:\s*true')
_SESSIONS = ("session_id", "conversation_id", "taskId", "sessionId", "session")
_MARKS = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}


class Doubt(msgspec.Struct, frozen=True):
    """What an agent that cannot be understood for certain may have asked."""

    payload: Payload
    """What is answered; recorded, if it is known of which session it is."""
    calls: tuple[Call, ...]
    """What it may have asked. None: nothing of it is known."""
    why: str

    @property
    def alarm(self) -> str:
        """What is said of it in an alert."""
        return f"{self.payload.asks.agent if self.payload.asks else '?'} asked for leave with {self.why}"

    def deciding(self, decide: Decide, home: Home) -> Decide:
        """The strictest answer to all that it may have asked, and never less than what the setting hooks.on_error says."""

        def decided(call: Call, then: Callable[[Decision], None]) -> None:
            self._ask(decide, 0, undecided(on_error(home), PolicyError(self.why)), then)

        return decided

    def _ask(self, decide: Decide, number: int, worst: Decision, then: Callable[[Decision], None]) -> None:
        if number == len(self.calls):
            then(worst)
            return

        def decided(decision: Decision) -> None:
            self._ask(decide, number + 1, max(worst, decision, key=_strictness), then)

        decide(self.calls[number], decided)


def _strictness(decision: Decision) -> int:
    return list(Effect).index(decision.effect)


def on_error(home: Home) -> Effect:
    """The effect that the setting hooks.on_error has; `ask` if it cannot be read."""
    try:
        return Effect(str(read_setting(home, "hooks.on_error")))
    except TallystickError:
        return Effect.ASK


def check_plain(data: bytes) -> None:
    """See that a payload by which leave is asked can be read in one way only.

    Raises: FormatError: a member is there twice, or it is nested too deep to be judged.
    """
    if loads(data).duplicate_keys:
        raise FormatError("a member of the hook's payload is there twice")
    if limits.exceeds_depth(data, _MOST_DEPTH):
        raise FormatError(f"the hook's payload is nested deeper than {_MOST_DEPTH}")


def read_again(adapter: HookAdapter | None, delivery: Delivery, error: Exception) -> Doubt | None:
    """What a payload may have asked; None if its agent does not wait for leave."""
    if adapter is None:
        return None
    why = f"a payload that cannot be read for certain: {error}"
    found = list(_payloads(adapter, delivery))
    asking = [(payload, payload.asks) for payload in found if payload.asks is not None]
    if asking:
        return Doubt(asking[0][0], tuple(call for _, call in asking), why)
    if not _may_ask(adapter.NAME, delivery, is_read=bool(found)):
        return None
    call = Call(agent=adapter.NAME, session=UNTOLD, tool=UNTOLD)
    never_asks = _ASKS_NOBODY.search(delivery.data) is not None
    return Doubt(Payload(event=_before_call(adapter.NAME), session="", asks=call, never_asks=never_asks), (), why)


def _may_ask(agent: str, delivery: Delivery, *, is_read: bool) -> bool:
    """Whether the agent may wait for leave, as far as the command line or the bytes of the payload tell."""
    before_call = _before_call(agent)
    if not before_call:
        return False
    if delivery.event is not None:
        return delivery.event == before_call
    events = _EVENT.findall(delivery.data.replace(b"\0", b""))
    if events:
        return before_call.encode() in events
    return not is_read


def _before_call(agent: str) -> str:
    """The agent's name of the event at which it waits for leave; empty of one that is not in the catalogue."""
    facts = AGENTS.get(agent)
    if facts is None or facts.hooks is None:
        return ""
    return facts.hooks.before_call


def _payloads(adapter: HookAdapter, delivery: Delivery) -> Iterator[Payload]:
    for value in _values(delivery.data):
        for members in (value, _completed(value, _before_call(adapter.NAME))):
            try:
                payload = adapter.parse(_written(members), delivery.event)
            except Exception:  # a fault of an adapter, too: then what was asked cannot be told
                continue
            yield payload if members is value else replace(payload, session="", events=())
            break


def _written(members: dict[str, Json]) -> bytes:
    try:
        return orjson.dumps(members)
    except TypeError:  # half a surrogate pair, a number of many digits
        return json.dumps(members).encode("ascii")


def _completed(value: dict[str, Json], before_call: str) -> dict[str, Json]:
    """An object with the members that each payload has: whose session it is, and which event."""
    made: dict[str, Json] = {**dict.fromkeys(_SESSIONS, UNTOLD), "hook_event_name": before_call, "hook": before_call}
    made |= {key: item for key, item in value.items() if key not in made or (isinstance(item, str) and item)}
    if isinstance(value.get("input"), dict):
        made["input"] = {"sessionID": UNTOLD, **value["input"]}
    return made


# Bytes ------------------------------------------------------------------------------------------------------------------


def _values(data: bytes) -> Iterator[dict[str, Json]]:
    """The objects that bytes may hold, however they are spelled; of members of one name the last, then the first."""
    if len(data) > _MOST_BYTES:
        return
    text = _text(data)
    seen: list[Json] = []
    for keep in (_last, _first):
        for value in _objects(text, keep):
            if isinstance(value, dict) and value not in seen:
                seen.append(value)
                yield value


def _text(data: bytes) -> str:
    for mark, encoding in _MARKS.items():
        if data.startswith(mark):
            return data[2:].decode(encoding, "replace")
    if data[:1] == b"\0" or data[1:2] == b"\0":
        return data.replace(b"\0", b"").decode("utf-8", "replace")
    return data.decode("utf-8-sig", "replace")


def _objects(text: str, keep: Callable[[list[tuple[str, Any]]], dict[str, Any]]) -> Iterator[Json]:
    """The values that follow one another in a text, as far as they can be read."""
    decoder = json.JSONDecoder(strict=False, object_pairs_hook=keep)
    at = 0
    for _ in range(_MOST_OBJECTS):
        at = text.find("{", at)
        if at < 0:
            return
        try:
            value, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            return
        yield value


def _last(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    return dict(pairs)


def _first(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    return dict(reversed(pairs))
