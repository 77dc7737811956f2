"""One file of an agent, followed: a transcript that grows line by line, or a document or database that is read again.

Owns when lines are read, what is told of lines that are not there any more as they were, and which events of a whole file
are handed on: those that are new or changed, of sessions that are watched. Must not know how an event is recorded
(transcript_events.py), nor how a change is noticed (capture/transcript.py).
"""

from __future__ import annotations

import copy
import threading
from collections import deque
from collections.abc import Iterator
from hashlib import blake2b

from tallystick.agents import Shape
from tallystick.capture.history import Piece, prefix_digest
from tallystick.capture.transcript import Change, Clock, Damage, LineTranscript, WholeTranscript
from tallystick.errors import SourceError
from tallystick.ingest.transcript_events import Recording, Refresh, TranscriptFile
from tallystick.model.raw import bytes_of
from tallystick.model.step import Event, Json, Loss, Opening, Step
from tallystick.recording.session_writer import SessionWriter

_QUIET_S = 2.0


class FollowedLines(Recording):
    """A transcript that grows line by line."""

    def __init__(self, session_writer: SessionWriter, file: TranscriptFile, refresh: Refresh, clock: Clock) -> None:
        super().__init__(session_writer, file, refresh, clock)
        self._file = LineTranscript(file.path, file.adapter, clock=clock)
        self._reading: Iterator[Piece] | None = None
        self._skip_to: int | None = None
        self._is_peeked = True
        self._is_unreadable = False

    @property
    def is_slow(self) -> bool:
        """Only asking the index may take long."""
        return self.needs_index

    @property
    def waits_for_thread(self) -> bool:
        """Whether the index is to be asked."""
        return self.needs_index

    def prepare(self) -> None:
        """Have the index ready to be asked."""
        if self.needs_index:
            self.refresh_index()

    def advance(self) -> int | None:
        """Record one event, read one line, or look whether there is one."""
        if self._pending:
            return self._record_next()
        if self._reading is None and not self._begin_reading():
            return self._at_the_end()
        piece = self._next_piece()
        if piece is None:
            self._reading = None
            return self._at_the_end()
        self._is_unreadable, self._is_peeked, self._last_news = False, False, self._clock()
        self._take(piece)
        return 0

    def _at_the_end(self) -> int | None:
        """Nothing more can be read now: what waited for the next event waits no longer."""
        if self._pending or self._release_all():
            return 0
        return None

    def _next_piece(self) -> Piece | None:
        try:
            if self._reading is None:
                return None
            return next(self._reading, None)
        except SourceError as error:
            self._cannot_read(error)
            return None
        except Exception as error:  # a reader must not raise, but other packages have readers too
            self._reading = self._file.read()
            return _failed(error, self._file)

    def _begin_reading(self) -> bool:
        """Look at the file; False if no line is to be read. What happened to those that were read waits to be recorded."""
        try:
            if self._skip_to is None:
                self._skip_to = self._begins = self._begin()
            damage = self._file.check()
        except SourceError as error:
            self._cannot_read(error)
            return False
        if damage is not None:
            self._take_damage(damage)
        if not self._file.has_more():
            self._peek()
            return False
        self._reading = self._file.read()
        return True

    def _take(self, piece: Piece) -> None:
        """Let a line's events wait, unless they were recorded when the file was followed or imported before."""
        is_old = piece.number > 0 and piece.offset < (self._skip_to or 0)
        self._pending.extend((event, piece) for event in piece.events if not is_old or isinstance(event, Opening))

    def _begin(self) -> int:
        """How far the file was read before, as the ledger has it; if that is not there any more, it is reported."""
        mark = self._session_writer.archive.ledger.watermarks.get(str(self.path))
        size = self._file.size
        if mark is None or size == 0:
            return 0
        now = prefix_digest(self.path, min(size, mark.offset))
        if now == mark.digest:
            return mark.offset
        if size < mark.offset:
            change = Change.CUT
        else:
            change = Change.EDITED
        self._take_damage(
            Damage(
                change=change,
                first=0,
                last=mark.offset,
                read=mark.offset,
                size=size,
                had=mark.digest,
                now=now,
            )
        )
        return 0

    def _take_damage(self, damage: Damage) -> None:
        """Have it recorded, and the file read again from its beginning: what is known of it is not recorded again."""
        meta = {
            "change": damage.change.value,
            "first_byte": damage.first,
            "end_byte": damage.last,
            "read_bytes": damage.read,
            "size_bytes": damage.size,
        }
        where = f"bytes {damage.first:,} to {damage.last:,}"
        said = f"the transcript was {damage.change.value}: {where} are not as they were read"
        values: dict[str, Json] = {"content.text": said, "content.digests": {"had": damage.had, "now": damage.now}}
        step = self._note("warning", meta, values)
        self._pending.append((step, Piece((), 0, 0)))
        if self._skip_to is not None:
            self._skip_to = 0
        else:
            self._skip_to = None
        self._reading = None
        if damage.change is not Change.DELETED:
            self._losses.clear()  # they are met again
            self._begins = 0
        self._common.restart()
        self._file.restart()

    def _peek(self) -> None:
        """Let what the reader holds back be recorded, once the agent is quiet.

        The reader itself is left as it is: if more comes, it may say otherwise, and then it revises this.
        """
        reader = self._file.reader
        if self._is_peeked or reader is None or self.quiet_s < _QUIET_S:
            return
        self._is_peeked = True
        try:
            held = list(copy.deepcopy(reader).finish())
        except Exception:  # other packages have readers too; at the end it is counted
            return
        named = [event for event in held if isinstance(event, Step) and event.source_id is not None]
        self._take(Piece(tuple(named), self._file.offset, 0))

    def _cannot_read(self, error: SourceError) -> None:
        """Say so once; it is tried again."""
        self._reading = None
        if not self._is_unreadable:
            self._is_unreadable = True
            step = self._note("gap", {"change": "unreadable"}, {"content.error": str(error)})
            self._pending.append((step, Piece((), 0, 0)))

    def finish(self) -> None:
        """Look at all of the file once more, and record what its reader held back."""
        try:
            damage = self._file.check(whole=True)
            if damage is not None:
                self._take_damage(damage)
                self._reading = self._file.read()
                while self.advance() is not None:
                    pass
            for piece in self._file.finish():
                self._take(piece)
        except SourceError as error:
            self._cannot_read(error)
        except Exception as error:
            self._take(_failed(error, self._file))
        while self._pending or self._release_all():
            self._record_next()
        for session in self._openings:
            with self._session_writer.lock:
                self._open(session)
        if self._file.offset:
            self._note_read(self._file.offset, self._file.digest)


def _failed(error: Exception, file: LineTranscript) -> Piece:
    """What is told of a line that its reader could not bear."""
    loss = Loss(kind="bad_line", detail=f"{type(error).__name__}: {error}"[:300], fault=True)
    return Piece((loss,), file.offset, file.number)


_MOST_NAMED = 100


class FollowedWhole(Recording):
    """A document or a database, read again as a whole when it has changed; what is in the record is not recorded again."""

    def __init__(self, session_writer: SessionWriter, file: TranscriptFile, refresh: Refresh, clock: Clock) -> None:
        super().__init__(session_writer, file, refresh, clock)
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
        digest = blake2b(bytes_of(event), digest_size=8).digest()
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
        if self._pending or self._release_all():
            return self._record_next()
        return None

    def finish(self) -> None:
        """A document was read to its end; of a database, only some sessions were, and an import reads the others."""
        while self.advance() is not None:
            pass
        if self.adapter.SHAPE is Shape.DOCUMENT and self._file.digest:
            self._note_read(self._file.offset, self._file.digest)
