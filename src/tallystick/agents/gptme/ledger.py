"""Hash-chain ledgers of agent steps as described for gptme: one JSON record of eleven members a line.

Owns what a record says as a step. The hashes are kept unchanged and not checked here: exports.ledger knows the
formulas, and a ledger that does not verify is imported all the same.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from hashlib import blake2b

from tallystick.agents import Shape, SourceFile
from tallystick.agents.kit.columns import known
from tallystick.agents.kit.reading import events_of_object, int_of, text_of
from tallystick.agents.recognition import count_members, objects
from tallystick.catalog.agents import AGENTS
from tallystick.model.step import Event, Input, Json, Loss, Opening, Ref, Source, Step

NAME = "gptme-ledger"
SHAPE = Shape.LINES
GLOBAL_IDS = False
COMPANIONS: tuple[str, ...] = ()

_HASHES = ("input_hash", "output_hash", "context_hash", "parent_step_hash", "self_hash")
_MEMBERS = frozenset(
    ("step_id", "session_id", "step_type", "tool_name", "started_at", "duration_ms", "input", "output", *_HASHES)
)
_TYPE = re.compile(r"[a-z][a-z0-9_]{0,47}\Z")
_CLOSING = re.compile(r"(?:(?:session|chain|ledger)_(?:end|close|complete)(?:e?d)?|end|closed?|closing(?:_marker)?)\Z")
_RESERVED = frozenset(("session_start", "recovery", "sighting", "gap", "fork", "merge", "compaction"))
_NAMED = {"model_call": "model", "skill_invoke": "skill"}


def locate() -> tuple[str, ...]:
    """Globs of ledgers below the home folder."""
    return AGENTS["gptme"].histories["ledger"].patterns


def recognises(path: str, head: bytes) -> int:
    """Whether one of a file's first lines is a record of such a ledger; others may be damaged."""
    records = (count_members(record, "step_id", "self_hash", "context_hash") for record in objects(head)[:20])
    return max(records, default=0)


def reader(file: SourceFile) -> _Reader:
    """A reader for one ledger."""
    return _Reader(file)


class _Reader:
    """Turns records into steps. Remembers which step has which hash, to tell what each follows from."""

    def __init__(self, file: SourceFile) -> None:
        self._name = posixpath.splitext(posixpath.basename(file.path))[0] or file.path
        self._session: str | None = None
        self._steps: dict[str, str] = {}
        self._copies: dict[str, int] = {}
        self._lines: set[bytes] = set()

    def feed(self, data: bytes, offset: int) -> Iterator[Event]:
        """The step that one record says."""
        unknown = Loss(kind="unknown_record", detail=f"byte {offset}: no record of a ledger")
        return events_of_object(data, offset, lambda record: self._record(record, data, offset, unknown), unknown)

    def _record(self, record: dict[str, Json], data: bytes, offset: int, unknown: Loss) -> Iterator[Event]:
        if not _MEMBERS & record.keys():
            yield unknown
            return
        ts = text_of(record.get("started_at"))
        if self._session is None:
            self._session = text_of(record.get("session_id")) or self._name
            yield Opening(session=self._session, agent=NAME, source=Source.IMPORT, ts=ts)
        digest = blake2b(data, digest_size=8).digest()
        if digest in self._lines:
            yield Loss(kind="duplicate_record", detail=f"byte {offset}: a line that stands in the ledger already")
            return
        self._lines.add(digest)
        yield self._step(record, offset, ts)

    def finish(self) -> Iterator[Event]:
        """Nothing is held back."""
        return iter(())

    def _step(self, record: dict[str, Json], offset: int, ts: str | None) -> Step:
        own = text_of(record.get("self_hash"))
        source_id = self._source_id(text_of(record.get("step_id")) or f"@{offset}")
        if own is not None:
            self._steps.setdefault(own, source_id)
        written = text_of(record.get("step_type")) or "unknown"
        kind = written
        if _CLOSING.match(written):
            kind = "session_end"
        if not _TYPE.match(kind) or kind in _RESERVED:
            kind = "unknown"
        parent = self._steps.get(text_of(record.get("parent_step_hash")) or "")
        return Step(
            session=self._session or self._name,
            type=kind,
            source=Source.IMPORT,
            source_id=source_id,
            ts=ts,
            meta=_members(record, kind, written, self._session),
            values=_values(record, kind),
            after=(Ref(parent),) if parent is not None else (),
            input=Input.HIDDEN if kind == "model_call" else None,
        )

    def _source_id(self, step_id: str) -> str:
        """The record's id, made unlike those of earlier records with the same: the format does not forbid them."""
        count = self._copies[step_id] = self._copies.get(step_id, 0) + 1
        if count == 1:
            return step_id
        return f"{step_id}~{count}"


def _members(record: dict[str, Json], kind: str, written: str, session: str | None) -> dict[str, Json]:
    named = text_of(record.get("tool_name"))
    other_session = text_of(record.get("session_id"))
    members: dict[str, Json] = {
        _NAMED.get(kind, "tool"): named,
        "corr": text_of(record.get("step_id")) if kind == "tool_call" else None,
        "duration_ms": int_of(record.get("duration_ms")),
        "step_type": written if written != kind else None,
        "record_session": other_session if other_session != session else None,
        "status": "completed" if kind == "session_end" else None,
    }
    return known(members)


def _values(record: dict[str, Json], kind: str) -> dict[str, Json]:
    """The hashes, which are of content and so never go to `meta`; content, where a ledger holds it; what is unknown."""
    values: dict[str, Json] = {f"content.{key}": record.get(key) for key in _HASHES}
    values["content.args" if kind == "tool_call" else "content.input"] = record.get("input")
    values["content.output"] = record.get("output")
    unknown: dict[str, Json] = {key: value for key, value in record.items() if key not in _MEMBERS}
    for key, fits in (
        ("step_id", str),
        ("session_id", str),
        ("step_type", str),
        ("tool_name", str),
        ("duration_ms", int),
    ):
        if record.get(key) is not None and not isinstance(record[key], fits):
            unknown[key] = record[key]
    values["content.extra"] = unknown or None
    return known(values)
