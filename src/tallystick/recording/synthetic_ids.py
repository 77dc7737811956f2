"""Names for events that a hook tells without an id (docs/format.md 19.7).

Owns which call a result without an id belongs to, and that what one process delivers twice is taken once, also by a recorder
that began in between. Must not know what the events are, nor where they are recorded.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from hashlib import sha256

import msgspec
from msgspec.structs import replace

from tallystick.agents.hooks import UNNAMED
from tallystick.model.ids import SessionId
from tallystick.model.recorded import Recorded
from tallystick.model.step import Json, Ref, Step
from tallystick.recording.record import SessionRecord
from tallystick.seal.tagged import sealed_text

_MOST_SESSIONS = 4096
_MOST_OPEN_CALLS = 256
_MOST_DELIVERIES = 256
_LOOK_BACK = 64
"""How many entries of a journal are looked at for what an earlier recorder knew."""


class _OpenCall(msgspec.Struct, frozen=True):
    """A call without a result: the id that we gave it, its tool, and a digest of its arguments."""

    source_id: str
    tool: str | None
    args: bytes


class _Session(msgspec.Struct):
    """What is remembered of a session between deliveries."""

    open_calls: list[_OpenCall]
    deliveries: OrderedDict[str, None]

    def is_new(self, token: str) -> bool:
        """Whether a delivery was not taken before; it is from now on."""
        if token in self.deliveries:
            return False
        self.deliveries[token] = None
        while len(self.deliveries) > _MOST_DELIVERIES:
            self.deliveries.popitem(last=False)
        return True

    def answered(self, result: Step) -> _OpenCall | None:
        """The oldest open call with the result's tool and, if it has any, its arguments; it is open no longer."""
        tool, args = result.meta.get("tool"), _digest(result.values.get("content.args"))
        has_args = "content.args" in result.values
        for position, call in enumerate(self.open_calls):
            if call.tool == tool and (not has_args or call.args == args):
                return self.open_calls.pop(position)
        return None


class Unnamed:
    """Gives names, session by session."""

    def __init__(self) -> None:
        self._sessions: OrderedDict[SessionId, _Session] = OrderedDict()

    def named(self, record: SessionRecord, step: Step, delivery: str) -> Step | None:
        """The step with a source id of ours; None if the same process has delivered it already."""
        session = self._session(record)
        if delivery != "-" and not session.is_new(f"{delivery}/{step.type}"):
            return None
        if delivery != "-":
            meta = {**step.meta, "delivery": delivery}
        else:
            meta = dict(step.meta)
        if step.source_id is not None:
            return replace(step, meta=meta)
        call = None
        if step.type == "tool_result":
            call = session.answered(step)
        if call is not None:
            values = {name: value for name, value in step.values.items() if name != "content.args"}
            meta["corr"] = call.source_id
            after = (Ref(call.source_id),)
            return replace(step, source_id=f"{call.source_id}/result", after=after, meta=meta, values=values)
        source_id = record.free_id(UNNAMED)
        if step.type == "tool_call":
            meta["corr"] = source_id
            session.open_calls.append(_open_call(source_id, step.meta.get("tool"), step.values.get("content.args")))
            del session.open_calls[:-_MOST_OPEN_CALLS]
        return replace(step, source_id=source_id, meta=meta)

    def begin(self, sid: SessionId) -> None:
        """The session begins or is resumed: what its agent called before has no result any more."""
        if sid in self._sessions:
            self._sessions[sid].open_calls.clear()

    def forget(self, sid: SessionId) -> None:
        """Learn again from the journal what is known of a session: a step that was named was not written after all."""
        self._sessions.pop(sid, None)

    def _session(self, record: SessionRecord) -> _Session:
        found = self._sessions.pop(record.sid, None) or _remembered(_last_steps(record))
        self._sessions[record.sid] = found
        while len(self._sessions) > _MOST_SESSIONS:
            self._sessions.popitem(last=False)
        return found


def _open_call(source_id: str, tool: Json, args: Json) -> _OpenCall:
    return _OpenCall(source_id, tool if isinstance(tool, str) else None, _digest(args))


def _digest(args: Json) -> bytes:
    return sha256(sealed_text(args)).digest()


# After a restart -----------------------------------------------------------------------------------------------------


def _last_steps(record: SessionRecord) -> list[Recorded]:
    size = record.journal.size
    found = (record.read(n) for n in range(max(size - _LOOK_BACK, 0), size))
    return [step for step in found if step is not None]


def _remembered(steps: list[Recorded]) -> _Session:
    """What the end of a journal says of calls without results."""
    session = _Session([], OrderedDict())
    for step in steps:
        token, source_id = step.member("delivery"), step.member("source_id")
        if isinstance(token, str):
            session.is_new(f"{token}/{step.type}")
        if step.type == "session_end":
            session.open_calls.clear()
        if step.type == "sighting":
            session.open_calls += _sighted(step, steps)
        if not isinstance(source_id, str) or not source_id.startswith(UNNAMED):
            continue
        if step.type == "tool_call":
            session.open_calls.append(_open_call(source_id, step.meta.get("tool"), step.values.get("content.args")))
        elif step.type == "tool_result":
            call = source_id.removesuffix("/result")
            session.open_calls = [item for item in session.open_calls if item.source_id != call]
    return session


def _sighted(sighting: Recorded, steps: list[Recorded]) -> Iterator[_OpenCall]:
    """The calls that we named and that another source had reported before: their entry has the other's id."""
    by_number = {step.n: step for step in steps if step.type == "tool_call"}
    said = sighting.member("steps")
    for item in said if isinstance(said, list) else []:
        name, call = item.get("source_id"), by_number.get(item.get("n"))
        if isinstance(name, str) and name.startswith(UNNAMED) and call is not None:
            yield _open_call(name, call.meta.get("tool"), call.values.get("content.args"))
