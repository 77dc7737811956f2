"""A document or a database of an agent, followed: read again as a whole when it has changed.

Owns which of its events are handed on: those that are new or changed, of sessions that are watched. Must not know how they
are recorded (followed.py).
"""

from __future__ import annotations

import threading
import time
from collections import deque
from hashlib import blake2b

import msgspec

from tallystick.agents import Shape
from tallystick.capture.history import Piece
from tallystick.capture.transcript import Clock, WholeTranscript
from tallystick.ingest.transcript_events import Recording, TranscriptFile
from tallystick.model.step import Event, Loss, Opening, Step
from tallystick.recording.session_writer import SessionWriter

_MOST_NAMED = 100


class FollowedWhole(Recording):
    """A document or a database, read again as a whole when it has changed; what is in the record is not recorded again."""

    def __init__(self, session_writer: SessionWriter, file: TranscriptFile, *, clock: Clock = time.monotonic) -> None:
        super().__init__(session_writer, file, clock=clock)
        self._file = WholeTranscript(file.path, file.adapter, clock=clock)
        self._given: dict[str, bytes] = {}
        self._ready: deque[tuple[Event, Piece]] = deque()
        self._wanted: set[str] = set()
        self._is_unreadable = False
        self._reading = threading.Lock()

    @property
    def is_slow(self) -> bool:
        """What is read already is recorded quickly."""
        return self.needs_index or not (self._ready or self._pending)

    @property
    def waits_for_thread(self) -> bool:
        """Whether the file is being read, or has changed, and it is time to read it."""
        return self._reading.locked() or bool(self._ready or self._pending) or self._file.has_changed()

    def prepare(self) -> None:
        """Read the file if it has changed. Only what was not handed over before is kept."""
        if self.needs_index:
            self.refresh_index()
        if not self._ready:
            self._read_if_changed()

    def _read_if_changed(self, *, now: bool = False) -> None:
        """Read once at a time: anyone who comes second waits, for what the first one reads looks unchanged by then."""
        with self._reading:
            if self._file.has_changed(now=now):
                self._read()

    def _read(self) -> None:
        ids: dict[str, int] = {}
        ready: list[tuple[Event, Piece]] = []
        try:
            for piece in self._file.read():
                ready += [(event, piece) for event in piece.events if self._is_new(event, ids)]
            self._is_unreadable = False
        except Exception as error:  # a reader must not raise, but other packages have readers too
            if not self._is_unreadable:
                self._is_unreadable = True
                note = self._note("gap", {"change": "unreadable"}, {"content.error": str(error)})
                ready.append((note, Piece((), 0, 0)))
        else:
            ready += self._removed(ids)
        self._ready.extend(ready)
        self._last_news = self._clock()

    def _is_new(self, event: Event, ids: dict[str, int]) -> bool:
        """Whether an event is to be recorded: of a session that is watched, and not as it was before.

        `ids` counts how often an id was met in this reading: what a file says twice of one event, it says twice each time.
        """
        if isinstance(event, Loss):
            return self._file.offset == 0  # counted once, not each time that the file is read
        if not self._is_wanted(event):
            return False
        if isinstance(event, Opening):
            return event.session not in self._openings
        digest = blake2b(msgspec.msgpack.encode(event), digest_size=8).digest()
        key = event.source_id
        if key is None:
            key = digest.hex()
        key = f"{event.session}\0{key}"
        ids[key] = ids.get(key, -1) + 1
        if ids[key]:
            key = f"{key}\0{ids[key]}"
        known = self._given.get(key)
        self._given[key] = digest
        return known != digest

    def _is_wanted(self, event: Opening | Step) -> bool:
        """Whether an event is of a session that is watched, or of one that belongs to it. A document has no others."""
        if self.adapter.SHAPE is not Shape.SQLITE:
            return True
        self._wanted |= self.sessions
        base = event.session.partition("~")[0].partition("/")[0]
        if isinstance(event, Opening) and event.parent is not None and event.parent.session in self._wanted:
            self._wanted.add(event.session)
        return event.session in self._wanted or base in self._wanted

    def _removed(self, ids: dict[str, int]) -> list[tuple[Event, Piece]]:
        """A warning about events that the file had and has no more."""
        gone = [key for key in self._given if key.count("\0") == 1 and key not in ids]
        if not gone:
            return []
        for key in gone:
            del self._given[key]
        names = [key.partition("\0")[2] for key in gone[:_MOST_NAMED]]
        note = self._note("warning", {"change": "removed", "events": len(gone)}, {"content.ids": names})
        return [(note, Piece((), 0, 0))]

    def advance(self) -> int | None:
        """Record one event that was read, or read them, if no one has prepared that."""
        if not self._pending and not self._ready:
            self._read_if_changed(now=True)
        if not self._pending:
            self._pending, self._ready = self._ready, deque()
        if self._pending:
            return self._record_next()
        return None

    def finish(self) -> None:
        """A document was read to its end; of a database, only some sessions were, and an import reads the others."""
        while self.advance() is not None:
            pass
        if self.adapter.SHAPE is Shape.DOCUMENT and self._file.digest:
            self._note_read(self._file.offset, self._file.digest)
