"""A session log made whole again from its records, and what was wrong with it.

Owns which record counts, the order of events, and what is told of copies, clashes, gaps and clocks that went back. Must not
know where records come from. Source: specs/headless_agent.md 2.2 to 2.7 and 8.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import NamedTuple

import msgspec

from tallystick.model.step import Json
from tallystick.sessions.session_log import Event, JSONLRecord, Log, record_from

_MOST_TOLD = 1_000
_MOST_SPOKEN = 200
_SECOND = timedelta(seconds=1)


class Problem(msgspec.Struct, frozen=True, kw_only=True):
    """Something of a log that is not as its writer meant it. Whatever it is, what could be read was read."""

    kind: str
    """`torn_tail`, `bad_line`, `unknown_record`, `empty_event`, `extra_header`, `duplicate_event`, `number_clash`,
    `number_gap`, `out_of_order`, `clock_back`, `no_header`, `too_many`."""
    detail: str
    offset: int = 0
    """The byte at which it begins."""


class ReadLog(NamedTuple):
    """What a file holds: `header` and `footer` are None where none exists. Of several footers it is the last one."""

    header: JSONLRecord | None
    events: tuple[Event, ...]
    footer: JSONLRecord | None
    problems: tuple[Problem, ...] = ()

    def as_log(self, name: str = "") -> Log:
        """The session. `name`: its id if no header says one."""
        header, footer = self.header or JSONLRecord(record_type="header"), self.footer
        log = Log(
            id=header.id or name,
            workflow_name=header.workflow_name,
            inputs=header.inputs,
            created_at=header.created_at,
            events=self.events,
        )
        if footer is None:
            return log
        return msgspec.structs.replace(
            log,
            **{name: getattr(footer, name) for name in ("status", "result", "error", "outputs", "state", "updated_at")},
        )


class Assembly:
    """Takes the records of one session one after the other."""

    def __init__(self) -> None:
        self._header: JSONLRecord | None = None
        self._footer: JSONLRecord | None = None
        self._events: list[tuple[int, Event]] = []
        self._problems: list[Problem] = []
        self._more = 0

    def note(self, kind: str, detail: str, offset: int) -> None:
        """Tell of something wrong at a byte of the file."""
        if len(self._problems) >= _MOST_TOLD:
            self._more += 1
            return
        self._problems.append(Problem(kind=kind, detail=detail[:_MOST_SPOKEN], offset=offset))

    def take(self, members: Mapping[str, Json], offset: int) -> None:
        """One record."""
        record = record_from(members)
        if record is None:
            is_event = str(members.get("_type")) == "event"
            kind = "unknown_record"
            if is_event:
                kind = "empty_event"
            self.note(kind, "an event without any member" if is_event else "no header, event or footer", offset)
        elif record.event is not None:
            self._events.append((offset, record.event))
        elif record.record_type == "footer":
            self._footer = record
        else:
            self._head(record, offset)

    def _head(self, record: JSONLRecord, offset: int) -> None:
        """A header. A later one of the same session says what was not known when it began."""
        if self._header is not None and record.id != self._header.id:
            self.note("extra_header", f"the header of another session, {record.id}", offset)
            return
        self._header = record

    def finish(self, read: Iterable[tuple[str, str, int]] = ()) -> ReadLog:
        """All that was taken, in order. `read`: what anyone who read the file has to tell."""
        if self._header is None:
            self.note("no_header", "no record says which session this is", 0)
        events = self._in_order()
        for kind, detail, offset in read:
            self.note(kind, detail, offset)
        if self._more:
            self._problems.append(Problem(kind="too_many", detail=f"{self._more} more problems are not told"))
        return ReadLog(self._header, events, self._footer, tuple(self._problems))

    def _in_order(self) -> tuple[Event, ...]:
        """The events by number; one without a number stays behind the one that it was written after."""
        placed: list[tuple[int, int, Event]] = []
        newest = 0
        for offset, event in self._events:
            if 0 < event.seq < newest:
                self.note("out_of_order", f"event {event.seq} comes after event {newest}", offset)
            newest = max(newest, event.seq)
            placed.append((event.seq if event.seq > 0 else newest, offset, event))
        placed.sort(key=lambda each: each[:2])
        return self._without_copies(placed)

    def _without_copies(self, placed: list[tuple[int, int, Event]]) -> tuple[Event, ...]:
        kept: list[Event] = []
        same: list[Event] = []
        before = 0
        for number, offset, event in placed:
            if event.seq > 0 and number == before:
                if event in same:
                    self.note("duplicate_event", f"event {number} again, word for word", offset)
                    continue
                if same:
                    self.note("number_clash", f"a different event has the number {number}", offset)
                same.append(event)
            elif event.seq > 0:
                if number > before + 1:
                    self.note("number_gap", f"events {before + 1} to {number - 1} are not there", offset)
                before, same = number, [event]
            if kept and event.timestamp and _is_before(event.timestamp, kept[-1].timestamp):
                self.note("clock_back", f"event {number} is told to be earlier than the one before it", offset)
            kept.append(event)
        return tuple(kept)


def _is_before(one: str, other: str) -> bool:
    """Whether a time is more than a second before another: less is not a step of a clock, but two writers that took turns."""
    try:
        apart = datetime.fromisoformat(other) - datetime.fromisoformat(one)
    except (ValueError, TypeError, OverflowError):  # no time, or one of them without a zone
        return False
    return apart > _SECOND
