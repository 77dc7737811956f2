"""The headless agent's session log: JSON lines of a header, events and footers.

Owns the framing: which record is what, which footer counts, where a session begins and ends, and what is done about events
that were written twice, late, or under a number that another has (memory grows by eight bytes an event). The older form, one
JSON document, is `legacy`; events are `event` and `steps`.
"""

from __future__ import annotations

import heapq
import posixpath
from array import array
from collections.abc import Iterator, Mapping
from hashlib import blake2b
from typing import Literal

import msgspec

from tallystick.agents import Shape, SourceFile
from tallystick.agents.headless.checks import Checked, CheckJoin
from tallystick.agents.headless.event import Happening, happening
from tallystick.agents.headless.steps import Weaver, time_of
from tallystick.agents.kit.columns import known
from tallystick.agents.kit.reading import dict_of, events_of_object, text_of
from tallystick.agents.kit.spelling import words
from tallystick.agents.recognition import count_members, objects
from tallystick.catalog.agents import AGENTS
from tallystick.errors import FormatError
from tallystick.model.raw import bytes_of
from tallystick.model.step import Event, Json, Loss, Opening, Step

_MOST_HELD = 64
_MOST_GAP = 1 << 16


class Duplicates:
    """Which events were seen, by number and digest."""

    def __init__(self) -> None:
        self._dense = array("Q", [0])
        self._sparse: dict[int, int] = {}
        self._others: dict[int, list[int]] = {}

    def place(self, event: Happening) -> Happening | None:
        """The event, marked if its number was taken by a different one; None if it is an exact copy of one before.

        An event without a number is never a copy: nothing tells a repetition from a second event that says the same.
        """
        if not event.seq or event.seq < 0:
            return event
        own = int.from_bytes(blake2b(_content(event), digest_size=8).digest(), "big") or 1
        first = self._first(event.seq)
        if first == 0:
            self._remember(event.seq, own)
            return event
        others = self._others.setdefault(event.seq, [])
        if own == first or own in others:
            return None
        others.append(own)
        return msgspec.structs.replace(event, copy=1 + len(others))

    def _first(self, seq: int) -> int:
        if seq < len(self._dense):
            return self._dense[seq]
        return self._sparse.get(seq, 0)

    def _remember(self, seq: int, digest: int) -> None:
        if seq < len(self._dense):
            self._dense[seq] = digest
        elif seq < len(self._dense) + _MOST_GAP:
            self._dense.extend([0] * (seq - len(self._dense)))
            self._dense.append(digest)
        else:
            self._sparse[seq] = digest


def _content(event: Happening) -> bytes:
    return bytes_of(msgspec.structs.replace(event, place=0))


class InOrder:
    """Puts events that come up to 64 places late where they belong; what comes later still stands where it comes."""

    def __init__(self) -> None:
        self._next = 1
        self._held: list[tuple[int, int, Happening]] = []

    def take(self, event: Happening) -> Iterator[Happening]:
        """The events whose turn it is, now that `event` has come."""
        if event.seq is None or event.seq <= self._next:
            yield from self._let_go(event)
        else:
            heapq.heappush(self._held, (event.seq, event.place, event))
            if len(self._held) > _MOST_HELD:
                yield from self._let_go(heapq.heappop(self._held)[2])

    def finish(self) -> Iterator[Happening]:
        """The events that waited for others that never came."""
        while self._held:
            yield heapq.heappop(self._held)[2]

    def _let_go(self, event: Happening) -> Iterator[Happening]:
        yield event
        self._next = max(self._next, (event.seq or 0) + 1)
        while self._held and self._held[0][0] <= self._next:
            due = heapq.heappop(self._held)[2]
            yield due
            self._next = max(self._next, (due.seq or 0) + 1)


NAME = "headless"
SHAPE = Shape.LINES
GLOBAL_IDS = False
COMPANIONS: tuple[str, ...] = ()

_RECORDS = ("header", "event", "footer")
_MEMBERS = ("id", "workflow_name", "created_at", "updated_at", "seq", "status")
_SNIFFED_BYTES = 256
_STATUSES = {"complete": "completed", "completed": "completed", "failed": "failed"}


def locate() -> tuple[str, ...]:
    """Globs of session logs below the home folder: of single agents, and of those of a swarm."""
    return AGENTS[NAME].histories["transcript"].patterns


def recognises(path: str, head: bytes) -> int:
    """Whether a file holds records of such a log; its first lines may be damaged."""
    if path.endswith(".json"):
        return 0
    records = (record for record in objects(head) if text_of(record.get("_type")) in _RECORDS)
    return max((count_members(record, "_type", also=_MEMBERS) for record in records), default=0)


def reader(file: SourceFile) -> _Reader:
    """A reader for one session log."""
    return _Reader(file)


def detect_format(name: str, head: bytes) -> Literal["jsonl", "json"]:
    """Which form of the log a file has, by the agent's own rules: its name decides, else its first 256 bytes.

    Raises:
        FormatError: the name says nothing and the file is empty.
    """
    if name.endswith(".jsonl"):
        return "jsonl"
    if name.endswith(".json"):
        return "json"
    if not head:
        raise FormatError(f"{name or 'the file'} is empty, and its name does not say which form of a session log it is")
    if b'"_type"' in head[:_SNIFFED_BYTES]:
        return "jsonl"
    return "json"


class SessionLog:
    """The records of one session, whatever form they came in, as events of ours.

    Args:
        name: the session's id if no header says it.
        keeps_errors: whether the form keeps what went wrong in a call (the lines do not: the writer loses it).
    """

    def __init__(self, name: str, *, keeps_errors: bool) -> None:
        self._name = name
        self._keeps_errors = keeps_errors
        self._session: str | None = None
        self._duplicates, self._order, self._join = Duplicates(), InOrder(), CheckJoin()
        self._weaver: Weaver | None = None
        self._places = 0
        self._newest_seq = 0
        self._footer: tuple[Mapping[str, Json], int] | None = None

    def header(self, record: Mapping[str, Json], offset: int) -> Iterator[Event]:
        """The header: it opens the session, unless an event did so before."""
        if self._session is not None:
            yield Loss(kind="extra_header", detail=f"byte {offset}: the session was opened before")
            return
        ts, spelling = time_of(text_of(record.get("created_at")))
        values = {
            "content.title": text_of(record.get("workflow_name")) or None,
            "content.inputs": record.get("inputs") or None,
        }
        yield self._open(text_of(record.get("id")) or self._name, ts, spelling, values)

    def _open(
        self, session: str, ts: str | None = None, meta: Mapping[str, Json] = {}, values: Mapping[str, Json] = {}
    ) -> Opening:
        self._session = session
        self._weaver = Weaver(session, keeps_errors=self._keeps_errors)
        found = known(values)
        return Opening(session=session, agent=NAME, ts=ts, meta=meta, values=found)

    def event(self, record: Mapping[str, Json], offset: int) -> Iterator[Event]:
        """An event: its steps come when its turn has come and it is known which call it was about."""
        event = happening(record, self._places)
        if event is None:
            yield Loss(kind="empty_event", detail=f"byte {offset}: an event without any member")
            return
        self._places += 1
        if self._session is None:
            yield self._open(self._name)
        placed = self._duplicates.place(event)
        if placed is None:
            yield Loss(kind="duplicate_event", detail=f"byte {offset}: event {event.seq} again, word for word")
            return
        self._newest_seq = max(self._newest_seq, placed.seq or 0)
        for due in self._order.take(placed):
            for item in self._join.take(due):
                yield from self._steps(item)

    def _steps(self, item: Checked) -> Iterator[Step]:
        if self._weaver is not None:
            return self._weaver.steps(item)
        return iter(())

    def footer(self, record: Mapping[str, Json], offset: int) -> Iterator[Event]:
        """A footer: only the last one counts, the others are superseded."""
        if self._footer is not None:
            yield Loss(kind="footer", detail=f"byte {self._footer[1]}: a later footer takes its place")
        self._footer = (record, offset)

    def finish(self) -> Iterator[Event]:
        """What was held back, and the end of the session if the last footer says that it ended."""
        for due in self._order.finish():
            for item in self._join.take(due):
                yield from self._steps(item)
        for item in self._join.finish():
            yield from self._steps(item)
        if self._footer is not None:
            yield from self._end(*self._footer)

    def _end(self, record: Mapping[str, Json], offset: int) -> Iterator[Event]:
        status = text_of(record.get("status")) or ""
        if status in ("", "running"):
            yield Loss(kind="footer", detail=f"byte {offset}: the session was running; how it ended is not known")
            return
        if self._session is None:
            yield self._open(self._name)
        ts, spelling = time_of(text_of(record.get("updated_at")))
        values = {f"content.{key}": record.get(key) or None for key in ("result", "error", "outputs", "state")}
        yield Step(
            session=self._session or self._name,
            type="session_end",
            source_id=f"#{self._newest_seq}/end",
            ts=ts,
            meta={"status": _STATUSES.get(status, status), **spelling},
            values=known(values),
        )


class _Reader:
    """Feeds the records of a file of lines to a SessionLog."""

    def __init__(self, file: SourceFile) -> None:
        self._log = SessionLog(session_name(file.path), keeps_errors=False)

    def feed(self, data: bytes, offset: int) -> Iterator[Event]:
        """The events that one line lets us know."""
        unknown = Loss(kind="unknown_record", detail=f"byte {offset}: no header, event or footer")
        data, losses = mended(data, offset)
        yield from losses
        yield from events_of_object(data, offset, lambda value: self._record(folded(value), offset, unknown), unknown)

    def _record(self, record: dict[str, Json], offset: int, unknown: Loss) -> Iterator[Event]:
        kind = record.get("_type")
        if kind == "header":
            yield from self._log.header(record, offset)
        elif kind == "event":
            yield from self._log.event(record, offset)
        elif kind == "footer":
            yield from self._log.footer(record, offset)
        else:
            yield unknown

    def finish(self) -> Iterator[Event]:
        """The events that were held back."""
        return self._log.finish()


_FRAME_KEYS = frozenset(words("headless", "frame"))


def folded(value: Json) -> dict[str, Json]:
    """A record with the keys of its frame in lower case: the agent's own reader takes them in any."""
    record = dict_of(value)
    return {key.lower() if key.lower() in _FRAME_KEYS else key: item for key, item in record.items()}


def mended(data: bytes, offset: int) -> tuple[bytes, tuple[Loss, ...]]:
    """A record as the agent's own reader takes it: what is not UTF-8 is U+FFFD; and that it was so."""
    try:
        data.decode()
    except UnicodeDecodeError as error:
        told = Loss(kind="bad_text", detail=f"byte {offset + error.start}: not UTF-8, read as U+FFFD", fault=True)
        return data.decode("utf-8", "replace").encode(), (told,)
    return data, ()


def session_name(path: str) -> str:
    """A file is named by its session's id."""
    return posixpath.splitext(posixpath.basename(path))[0] or path
