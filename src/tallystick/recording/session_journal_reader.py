"""The events of a session of the session log on a sealed journal, read as the journal grows.

Owns which steps are one event: each by itself, and a model call with the answer that has its number. What following a file
is, is journal/log_reader.py's; how steps come back as events, exports/headless.py's.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from tallystick.errors import JournalError
from tallystick.exports.headless import own_events, write
from tallystick.journal.headless_file import read_back, record_in
from tallystick.journal.home import Home
from tallystick.journal.log_reader import LogReader
from tallystick.journal.read import Placed, read_at, read_file
from tallystick.model.recorded import Recorded
from tallystick.seal.limits import LINE_BYTES
from tallystick.sessions.session_log import Event, Log
from tallystick.sessions.session_reading import Assembly

_FRAME = frozenset(("session_start", "session_update", "session_end"))
_SKIPPED = frozenset(("recovery", "sighting"))
_ALONE = -1


class _Meta(msgspec.Struct, frozen=True):
    type: str = ""
    seq: Any = None
    revises: Any = None
    source_id: Any = None


class _Fields(msgspec.Struct, frozen=True):
    meta: _Meta = _Meta()


class _Peek(msgspec.Struct, frozen=True):
    """As much of a line as is needed to place its event."""

    fields: _Fields = _Fields()


_PEEK = msgspec.json.Decoder(_Peek)


class JournalReader(LogReader):
    """The events of one journal."""

    line_limit = LINE_BYTES

    def __init__(self, home: Home, path: Path, session: str) -> None:
        self._home = home
        self._session = session
        super().__init__(lambda: path)

    def _forget(self) -> None:
        super()._forget()
        self._numbers = array("q")
        self._firsts = array("q")
        self._answers = array("q")
        self._frame: list[int] = []
        self._held: int | None = None
        """The number of the model call that was the last event, until it is known what it returned."""
        self._last = 0

    def _take(self, text: bytes, offset: int) -> bool:
        try:
            meta = _PEEK.decode(text).fields.meta
        except (msgspec.DecodeError, UnicodeDecodeError):
            return False
        self._last = offset
        if meta.type in _FRAME:
            self._frame.append(offset)
            return meta.revises is None
        if meta.revises is not None:
            return False
        if meta.type in _SKIPPED:
            return True
        if meta.seq is None:
            return not str(meta.source_id).startswith("@")  # of a log that was read from a file without numbers
        return self._place(meta, offset)

    def _place(self, meta: _Meta, offset: int) -> bool:
        seq = meta.seq
        if meta.type == "assistant" and self._held is not None and seq == self._held:
            self._answers[-1] = offset
            return True
        self._held = seq if meta.type == "model_call" else None
        if type(seq) is not int or seq <= self._newest():
            return False
        if meta.type == "security_block":
            self._blocks.append(len(self._numbers))
        self._numbers.append(seq)
        self._firsts.append(offset)
        self._answers.append(_ALONE)
        return True

    def _known(self) -> int:
        return len(self._numbers)

    def _newest(self) -> int:
        if self._numbers:
            return self._numbers[-1]
        return 0

    def _spots(self, places: Iterable[int]) -> list[tuple[int, ...]]:
        return [(self._numbers[place], self._firsts[place], self._answers[place]) for place in places]

    def _event(self, spot: tuple[int, ...]) -> Event:
        number, *offsets = spot
        return self._event_of(number, [self._step(offset) for offset in offsets if offset != _ALONE])

    def _step(self, offset: int) -> Recorded:
        step = read_at(self._home, self.path, offset, load_blobs=True)
        if step is None:
            raise self._changed()
        return step

    def _changed(self) -> JournalError:
        return JournalError(f"{self.path} was changed while it was read", hint="get the events again")

    def _event_of(self, number: int, steps: Sequence[Recorded]) -> Event:
        members = next(own_events(steps), None)
        event = None
        if members is not None:
            event = read_back({**members, "seq": number})
        if event is None:
            raise self._changed()
        return event

    def _run(self, spots: list[tuple[int, ...]]) -> Iterator[Event]:
        there = read_file(self._home, self.path, start=spots[0][1], load_blobs=True)
        for number, *offsets in spots:
            steps = [self._next_at(offset, there) for offset in offsets if offset != _ALONE]
            yield self._event_of(number, steps)

    def _next_at(self, offset: int, there: Iterator[Placed]) -> Recorded:
        for placed in there:
            if placed.offset == offset:
                return placed.step
        raise self._changed()

    def _members(self) -> Log:
        """Of the steps that tell how the session stands, and the last one: when, and that it goes on after an end."""
        steps = [self._step(offset) for offset in dict.fromkeys((*self._frame, self._last))]
        return msgspec.structs.replace(self._assembled(steps), events=())

    def _load(self) -> Log:
        return self._assembled([placed.step for placed in read_file(self._home, self.path, load_blobs=True)])

    def _assembled(self, steps: Sequence[Recorded]) -> Log:
        assembly = Assembly()
        for text in write(steps, session=self._session, with_content=True):
            assembly.take(record_in(text) or {}, 0)
        return assembly.finish().as_log(self._session)
