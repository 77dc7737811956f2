"""A transcript that grows line by line, followed.

Owns when a line is read and what is told of lines that are not there any more as they were. Must not know how a line is
recorded (followed.py), nor how a change is noticed (capture/transcript.py).
"""

from __future__ import annotations

import copy
import time
from collections.abc import Iterator

from tallystick.capture.history import Piece, prefix_digest
from tallystick.capture.transcript import Change, Clock, Damage, LineTranscript
from tallystick.errors import SourceError
from tallystick.ingest.transcript_events import Recording, TranscriptFile
from tallystick.model.step import Json, Loss, Opening, Step
from tallystick.recording.session_writer import SessionWriter

_QUIET_S = 2.0


class FollowedLines(Recording):
    """A transcript that grows line by line."""

    def __init__(self, session_writer: SessionWriter, file: TranscriptFile, *, clock: Clock = time.monotonic) -> None:
        super().__init__(session_writer, file, clock=clock)
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
            if not self._pending:
                return None
            return 0
        piece = self._next_piece()
        if piece is None:
            self._reading = None
            if self._pending:
                return 0
            return None
        self._is_unreadable, self._is_peeked, self._last_news = False, False, self._clock()
        self._take(piece)
        return 0

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
                self._skip_to = self._begin()
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
        while self._pending:
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
