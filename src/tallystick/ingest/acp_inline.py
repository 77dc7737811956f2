"""What the tap does to lines on their way: our provenance into some, and policy's answer in place of others.

Owns which lines are touched, and that all others are not even parsed. Must not know how lines travel, nor how
provenance or a decision is come by. Nothing is taken out of a line or written again: bytes are put into it.
"""

from __future__ import annotations

import contextlib
from collections import OrderedDict
from collections.abc import Callable, Mapping
from time import time_ns
from typing import Any, Protocol

import msgspec

from tallystick.agents.kit.reading import BadJson, dict_of, list_of, loads, text_of
from tallystick.agents.protocols.acp import (
    OPENING,
    Calls,
    Hello,
    SeenCall,
    Side,
    agent_name,
    dialect,
    key_of,
    opening,
    reported_provenance,
    session_id,
)
from tallystick.agents.protocols.splice import NoPlace, add_meta
from tallystick.capture.relay import Later, Passing, Way
from tallystick.model.decision import Call, Decision, Effect
from tallystick.model.step import Json, Opening
from tallystick.sessions.provenance import KEY

_MOST_REMEMBERED = 1000
_SECONDS = 2.0


class Provenance(Protocol):
    """Where sessions come from."""

    def of_opened(self, begun: Opening, acp_id: str, head: str | None = None) -> dict[str, Json] | None:
        """Members for the `_meta` of a session that was begun or loaded; `head`: the live id, if the agent says it."""
        ...

    def of_rotation(self, agent: str, acp_id: str, head: str | None = None) -> dict[str, Json] | None:
        """Members for the `_meta` of a notice if the live session has changed, else None."""
        ...


class _Envelope(msgspec.Struct):
    """As much of a message as tells what to do with it."""

    id: Json = None
    method: str | None = None
    params: msgspec.Raw = msgspec.Raw(b"null")
    result: msgspec.Raw = msgspec.Raw(b"null")


_ENVELOPE = msgspec.json.Decoder(_Envelope)


class _Asked(msgspec.Struct):
    """A request of the editor whose answer is of interest."""

    method: str
    params: bytes


class Inline:
    """Asked about every line before it goes on: `Inline(...)(way, line)`, on one thread."""

    def __init__(
        self,
        fallback: str,
        provenance: Provenance | None = None,
        decide: Callable[[Call], Decision] | None = None,
        monitor: str | None = None,
    ) -> None:
        """Without `provenance` nothing is added, without `decide` nothing is answered."""
        self.decided: OrderedDict[bytes, Decision] = OrderedDict()
        """The answers that policy gave, by the line that was sent."""
        self._hello = Hello(agent_name(fallback), monitor)
        self._provenance = provenance
        self._decide = decide
        self._asked: OrderedDict[object, _Asked] = OrderedDict()
        self._calls: OrderedDict[str, Calls] = OrderedDict()
        self._folders: OrderedDict[str, str | None] = OrderedDict()

    def __call__(self, way: Way, line: bytes) -> Passing | Later | None:
        """What becomes of a line."""
        if way is Way.TO_CHILD:
            self._remember(line)
            return None
        if not self._may_matter(line):
            return None
        message = _envelope(line)
        if message is None:
            return None
        if message.method is None:
            return self._answer(line, message)
        if message.method == "session/update":
            return self._update(line, message)
        if message.method == "session/request_permission" and self._decide is not None and message.id is not None:
            return Later(lambda: self._permission(message), _SECONDS)
        return None

    def _may_matter(self, line: bytes) -> bool:
        if self._asked or b"session_info_update" in line:
            return True
        return self._decide is not None and (b"request_permission" in line or b"tool_call" in line)

    # What the editor asked ------------------------------------------------------------------------------------------------

    def _remember(self, line: bytes) -> None:
        message = _envelope(line)
        if message is None or message.method is None or message.id is None:
            return
        if message.method in OPENING or message.method in ("initialize", "session/prompt"):
            if message.method != "session/prompt":
                params = bytes(message.params)
            else:
                params = _only_session(message.params)
            self._asked[key_of(Side.EDITOR, message.id)] = _Asked(message.method, params)
            _bound(self._asked)

    def _answer(self, line: bytes, message: _Envelope) -> Passing | Later | None:
        asked = self._asked.pop(key_of(Side.EDITOR, message.id), None)
        if asked is None:
            return None
        if asked.method == "initialize":
            self._hello.take_request(_object(asked.params))
            self._hello.take_result(_object(message.result))
            return None
        if asked.method == "session/prompt":
            if self._provenance is None:
                return None
            return Later(lambda: self._after_prompt(line, asked), _SECONDS)
        self._note_folder(asked, message)
        if self._provenance is None:
            return None
        return Later(lambda: self._opened(line, asked, message), _SECONDS)

    def _note_folder(self, asked: _Asked, message: _Envelope) -> None:
        params = _object(asked.params)
        session = session_id(self._hello.agent, asked.method, params, _object(message.result))
        if session is not None:
            self._folders[session] = text_of(params.get("cwd"))
            _bound(self._folders)

    # Provenance -----------------------------------------------------------------------------------------------------------

    def _opened(self, line: bytes, asked: _Asked, message: _Envelope) -> Passing | None:
        """The result of a request that begins or continues a session."""
        assert self._provenance is not None, "asked for only then"
        params, result = _object(asked.params), _object(message.result)
        session = session_id(self._hello.agent, asked.method, params, result)
        if session is None or bytes(message.result)[:1] != b"{":
            return None
        begun = opening(self._hello, asked.method, params, session, time_ns())
        members = self._provenance.of_opened(begun, session, _told_head(result))
        return _with(line, ("result",), members)

    def _update(self, line: bytes, message: _Envelope) -> Later | None:
        if self._decide is not None and b"tool_call" in line:
            self._note_call(_object(message.params))
        if self._provenance is None or b"session_info_update" not in line:
            return None
        return Later(lambda: self._informed(line, message), _SECONDS)

    def _informed(self, line: bytes, message: _Envelope) -> Passing | None:
        """A `session_info_update` of the agent: ours goes into it if the live session has changed."""
        assert self._provenance is not None, "asked for only then"
        params = _object(message.params)
        session, update = text_of(params.get("sessionId")), dict_of(params.get("update"))
        if session is None or update.get("sessionUpdate") != "session_info_update":
            return None
        if dialect(self._hello.agent).tells_live_session and _told_head(update, rotated=True) is None:
            return None  # a new title: Hermes then gives the editor's id as the live one
        members = self._provenance.of_rotation(self._hello.agent, session, _told_head(update))
        return _with(line, ("params", "update"), members)

    def _after_prompt(self, line: bytes, asked: _Asked) -> Passing | None:
        """The turn is over. If the live session has changed and the agent said nothing, the editor learns it from us."""
        assert self._provenance is not None, "asked for only then"
        session = text_of(_object(asked.params).get("sessionId"))
        if session is None or dialect(self._hello.agent).tells_live_session:
            return None
        members = self._provenance.of_rotation(self._hello.agent, session)
        if members is None:
            return None
        return Passing(sent=(_notice(session, members), line))

    # Policy ---------------------------------------------------------------------------------------------------------------

    def _note_call(self, params: Mapping[str, Json]) -> None:
        session, update = text_of(params.get("sessionId")), dict_of(params.get("update"))
        if session is not None and update.get("sessionUpdate") in ("tool_call", "tool_call_update"):
            self._calls_of(session).merge(update, 0)

    def _calls_of(self, session: str) -> Calls:
        found = self._calls.setdefault(session, Calls(self._hello.agent))
        _bound(self._calls)
        return found

    def _permission(self, message: _Envelope) -> Passing | None:
        """A question to the user. What policy denies is answered here; all else is the user's to say."""
        assert self._decide is not None, "asked for only then"
        params = _object(message.params)
        session = text_of(params.get("sessionId"))
        if session is None:
            return None
        seen, _ = self._calls_of(session).asked_about(dict_of(params.get("toolCall")), 0)
        decision = self._decide(self._call(session, seen, dict_of(params.get("toolCall"))))
        if decision.effect is not Effect.DENY:
            return None
        reply = _rejection(message.id, list_of(params.get("options")))
        self.decided[reply] = decision
        _bound(self.decided)
        return Passing(replies=(reply,))

    def _call(self, session: str, seen: SeenCall | None, shown: Mapping[str, Json]) -> Call:
        kind = text_of(shown.get("kind")) or "other"
        return Call(
            agent=self._hello.agent,
            session=session,
            tool=(seen.name if seen is not None else None) or kind,
            args=_arguments(seen, shown, kind),
            cwd=self._folders.get(session),
            call_id=seen.id if seen is not None else text_of(shown.get("toolCallId")),
        )


def _arguments(seen: SeenCall | None, shown: Mapping[str, Json], kind: str) -> Json:
    """What the call would do: its arguments; where the agent gives none, what it shows of them."""
    if seen is not None and seen.args is not None:
        return seen.args
    raw = shown.get("rawInput")
    if raw is not None and raw != {}:
        return raw
    diffs = [dict_of(item) for item in list_of(shown.get("content")) if dict_of(item).get("type") == "diff"]
    if diffs:
        return {"file_path": diffs[0].get("path"), "content": diffs[0].get("newText"), "paths": _paths(diffs)}
    if kind == "execute":
        return {"command": shown.get("title")}
    return {"paths": _paths([dict_of(item) for item in list_of(shown.get("locations"))])}


def _paths(items: list[dict[str, Json]]) -> list[Json]:
    return [item.get("path") for item in items]


def _envelope(line: bytes) -> _Envelope | None:
    try:
        return _ENVELOPE.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


def _object(data: bytes | msgspec.Raw) -> dict[str, Json]:
    try:
        return dict_of(loads(bytes(data)).value)
    except BadJson:
        return {}


class _Session(msgspec.Struct):
    sessionId: str  # noqa: N815 - the protocol's name


def _only_session(params: msgspec.Raw) -> bytes:
    """The session of a prompt: the prompt itself may be large."""
    try:
        return msgspec.json.encode(msgspec.json.decode(params, type=_Session))
    except (msgspec.DecodeError, UnicodeDecodeError):
        return b"null"


def _told_head(members: Mapping[str, Json], *, rotated: bool = False) -> str | None:
    """The session that Hermes says is live; with `rotated` only if it says that it has changed."""
    told = reported_provenance(members)
    current = text_of(told.get("currentHermesSessionId"))
    if rotated and told.get("previousHermesSessionId") in (None, current):
        return None
    return current


def _with(line: bytes, path: tuple[str, ...], members: Mapping[str, Json] | None) -> Passing | None:
    """The line with members in its `_meta`; what stands there already is the agent's, and stays."""
    result = line
    for key, value in (members or {}).items():
        with contextlib.suppress(NoPlace):
            result = add_meta(result, path, key, msgspec.json.encode(value))
    if result is not line:
        return Passing(sent=(result,))
    return None


def _notice(session: str, members: Mapping[str, Json]) -> bytes:
    """A notice of ours, marked as such."""
    meta = {**members, KEY: {**dict_of(members.get(KEY)), "origin": "tallystick"}}
    update = {"sessionUpdate": "session_info_update", "_meta": meta}
    params = {"sessionId": session, "update": update}
    return msgspec.json.encode({"jsonrpc": "2.0", "method": "session/update", "params": params}) + b"\n"


def _rejection(request_id: Json, options: list[Json]) -> bytes:
    """The answer that refuses, with the option for it; without one the question counts as cancelled."""
    kinds = {text_of(dict_of(option).get("kind")): dict_of(option).get("optionId") for option in reversed(options)}
    chosen = kinds.get("reject_once", kinds.get("reject_always"))
    if chosen is None:
        outcome = {"outcome": "cancelled"}
    else:
        outcome = {"outcome": "selected", "optionId": chosen}
    return msgspec.json.encode({"jsonrpc": "2.0", "id": request_id, "result": {"outcome": outcome}}) + b"\n"


def _bound(remembered: OrderedDict[Any, Any]) -> None:
    while len(remembered) > _MOST_REMEMBERED:
        remembered.popitem(last=False)
