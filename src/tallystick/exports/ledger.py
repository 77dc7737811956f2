"""The gptme-style hash-chain ledger: writing it, and checking any that others wrote.

Owns which steps become records and what their eleven members say. Formulas: _ledger_forms.py, of which the primary one is
written; checks: _ledger_check.py. With content, a record has two members more, `input` and `output`, which its self_hash
covers and whose hashes a reader can compute again.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime

import msgspec

from tallystick.errors import AmbiguousError, NotFoundError
from tallystick.exports._facts import facts
from tallystick.exports._latest import latest
from tallystick.exports._ledger_check import BadRecord, Check, LedgerVerdict, records_of, summary, verify_ledger
from tallystick.exports._ledger_forms import PREFIX, PRIMARY, Variant, content_bytes, digest
from tallystick.model.recorded import Recorded
from tallystick.model.step import Json
from tallystick.seal.tagged import as_sealed

__all__ = [
    "LOSSES",
    "NAME",
    "BadRecord",
    "Chain",
    "Check",
    "LedgerVerdict",
    "Variant",
    "content_hash",
    "line_of",
    "records_of",
    "summary",
    "verify_ledger",
    "walk",
    "write",
]

NAME = "ledger"
LOSSES: tuple[str, ...] = (
    "steps that are no tool call, model call or skill: prompts, notes, checks, decisions, checkpoints",
    "whether a call succeeded, its exit code, tokens, cost and model settings",
    "all parents of a step but the nearest one that is a record, and parents in other sessions",
    "fractions of seconds, and the time at which a step was recorded",
    "thinking, images and other bytes",
    "signatures: nothing shows that the end was not cut off",
)

EXPORTED = ("tool_call", "model_call", "skill_invoke")
"""The types of step that become records."""
_INPUTS = ("content.args", "content.input", "content.prompt")
_OUTPUTS = ("content.output", "content.response")
_NAMES = {"tool_call": "tool", "model_call": "model", "skill_invoke": "skill"}


class _Content(msgspec.Struct, frozen=True):
    """What went into a step or came out of it. Erased or withheld content has no hash; none at all is the empty text."""

    value: Json = ""
    is_hidden: bool = False

    @property
    def hash(self) -> str | None:
        if self.is_hidden:
            return None
        return content_hash(self.value)


class _Draft(msgspec.Struct):
    """A record that still lacks its place in the chain."""

    step: Recorded
    parent: int | None
    """The number of the record that it follows from."""
    input: _Content
    output: _Content | None = None
    said: list[str] = []
    """What the model said after its call."""
    duration_ms: int | None = None
    is_closing: bool = False


def write(steps: Iterable[Recorded], *, session: str, with_content: bool) -> Iterator[bytes]:
    """The records of a session, one a line. Hashes are those of the content in either case."""
    chain, own_hashes = Chain(session), list[str]()
    for draft in _Drafts().of(latest(map(as_sealed, steps))):
        parent = None
        if draft.parent is not None:
            parent = own_hashes[draft.parent]
        record = chain.add(_record(draft, session, parent, with_content=with_content))
        own_hashes.append(str(record["self_hash"]))
        yield line_of(record)


class Chain:
    """Gives records their place in a ledger: each `context_hash` follows from the one before.

    Args:
        previous: the `context_hash` of the last record there is; None for a ledger that begins.
    """

    def __init__(self, session: str, previous: str | None = None) -> None:
        self._session = session
        self._previous = previous

    def add(self, record: Mapping[str, Json]) -> dict[str, Json]:
        """The record with its two hashes, its members in the order of the format."""
        own = PREFIX + digest(PRIMARY.body.text(record))
        self._previous = PREFIX + PRIMARY.chain.context(self._previous, own, self._session)
        return _in_order({**record, "context_hash": self._previous, "self_hash": own})


def content_hash(value: Json) -> str:
    """The hash by which a record names what went in or came out: of text as UTF-8, else of JSON with sorted keys."""
    return PREFIX + digest(content_bytes(value))


def line_of(record: Mapping[str, Json]) -> bytes:
    """A record as a ledger has it."""
    return json.dumps(record).encode() + b"\n"


def walk(records: Iterable[Mapping[str, Json]], start: str) -> Iterator[Mapping[str, Json]]:
    """A record by its step id, or a prefix of it or of its self_hash, and all that follow from it, in their order.

    Raises:
        NotFoundError, AmbiguousError: no record, or several, have that name.
    """
    rest = list(records)
    named = [number for number, record in enumerate(rest) if _is_named(record, start)]
    if not named:
        raise NotFoundError(
            f"no step {start!r} in this ledger", hint="a step is named by its step_id, or a prefix of it"
        )
    if len(named) > 1:
        raise AmbiguousError(f"{start!r} is the beginning of {len(named)} steps", hint="give more of its step_id")
    reached = {rest[named[0]].get("self_hash")}
    yield rest[named[0]]
    for record in rest[named[0] + 1 :]:
        if record.get("parent_step_hash") in reached:
            reached.add(record.get("self_hash"))
            yield record


def _is_named(record: Mapping[str, Json], name: str) -> bool:
    own = str(record.get("self_hash") or "").removeprefix(PREFIX)
    return bool(name) and (
        str(record.get("step_id") or "").startswith(name) or own.startswith(name.removeprefix(PREFIX))
    )


_ORDER = facts().ledger.order


def _in_order(record: dict[str, Json]) -> dict[str, Json]:
    return {key: record[key] for key in _ORDER if key in record}


def _record(draft: _Draft, session: str, parent: str | None, *, with_content: bool) -> dict[str, Json]:
    """All members but the two hashes that follow from them."""
    step = draft.step
    said: Json = draft.said or ""
    if len(draft.said) == 1:
        said = draft.said[0]
    output = draft.output or _Content(said)
    content = {"input": draft.input, "output": output}
    shown = {name: item.value for name, item in content.items() if with_content and not item.is_hidden}
    if draft.is_closing:
        shown = {}
    return {
        "step_id": step.hash,
        "session_id": session,
        "step_type": step.type if step.type != "tool_result" else "tool_call",
        "tool_name": _name_of(step),
        "started_at": f"{_time_of(step)[:19]}Z",
        "duration_ms": draft.duration_ms or 0,
        "input_hash": draft.input.hash,
        "output_hash": output.hash,
        "parent_step_hash": parent,
        **shown,
    }


def _name_of(step: Recorded) -> str | None:
    name = step.member(_NAMES.get(step.type, "tool"))
    if isinstance(name, str):
        return name
    return None


def _time_of(step: Recorded) -> str:
    """When a step happened, else when it was recorded: UTC with microseconds."""
    return str(step.meta.get("ts") or step.meta.get("recorded"))


class _Drafts:
    """Gathers records from steps: a call with its result, a model call with what the model said after it."""

    def __init__(self) -> None:
        self._drafts: list[_Draft] = []
        self._nearest: dict[str, int | None] = {}
        self._open: dict[str, int] = {}
        self._end: Recorded | None = None

    def of(self, steps: Iterable[Recorded]) -> list[_Draft]:
        """The drafts of a session's steps, in the order in which the steps began, and its closing marker."""
        for step in steps:
            self._take(step)
        if self._end is not None:
            self._add(self._end, _Content(), is_closing=True)
        return self._drafts

    def _take(self, step: Recorded) -> None:
        nearest = self._nearest_record(step)
        if step.type == "tool_result":
            nearest = self._join(step, nearest)
        elif step.type in EXPORTED:
            corr = step.member("corr")
            nearest = self._add(step, _content(step, _INPUTS) or _content(step, ("content.text",)) or _Content())
            self._drafts[nearest].output = _content(step, _OUTPUTS)
            self._drafts[nearest].duration_ms = _duration_of(step)
            if step.type == "tool_call" and isinstance(corr, str):
                self._open[corr] = nearest
        elif step.type == "assistant" and nearest is not None:
            self._hear(step, self._drafts[nearest])
        self._nearest[step.hash] = nearest
        if step.type == "session_end":
            self._end = step
        elif step.type != "recovery":
            self._end = None

    def _nearest_record(self, step: Recorded) -> int | None:
        found = (self._nearest.get(parent) for parent in step.parent_path)
        return next((number for number in found if number is not None), None)

    def _add(self, step: Recorded, input_: _Content, *, is_closing: bool = False) -> int:
        self._drafts.append(_Draft(step, self._nearest_record(step), input_, is_closing=is_closing))
        return len(self._drafts) - 1

    def _join(self, step: Recorded, nearest: int | None) -> int:
        """Put a result into the record of its call. A result without one (a refused call) is a record of its own."""
        corr = step.member("corr")
        number = None
        if isinstance(corr, str):
            number = self._open.pop(corr, None)
        if number is None:
            number = self._add(step, _content(step, _INPUTS) or _Content())
        draft = self._drafts[number]
        draft.output = _content(step, _OUTPUTS) or _content(step, ("content.error", "content.text")) or draft.output
        took = _duration_of(step)
        if took is not None:
            draft.duration_ms = took
        else:
            draft.duration_ms = draft.duration_ms or _between(draft.step, step)
        return number

    def _hear(self, step: Recorded, draft: _Draft) -> None:
        text = step.values.get("content.text")
        if draft.step.type == "model_call" and draft.output is None:
            if "content.text" in step.withheld or "content.text" in step.unloaded:
                draft.output = _Content(is_hidden=True)
            elif isinstance(text, str):
                draft.said.append(text)


def _content(step: Recorded, names: Sequence[str]) -> _Content | None:
    """The first of some values that a step has; None if it has none of them."""
    for name in names:
        if name in step.values:
            return _Content(step.values[name])
        if name in step.withheld or name in step.unloaded:
            return _Content(is_hidden=True)
    return None


def _duration_of(step: Recorded) -> int | None:
    duration = step.meta.get("duration_ms")
    if isinstance(duration, int):
        return duration
    return None


def _between(call: Recorded, result: Recorded) -> int | None:
    """Milliseconds from a call to its result, if the source says both times."""
    if "ts" not in call.meta or "ts" not in result.meta:
        return None
    began, ended = (datetime.fromisoformat(str(step.meta["ts"])) for step in (call, result))
    return max(0, int((ended - began).total_seconds() * 1000))
