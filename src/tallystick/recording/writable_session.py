"""A session that steps can be put into, from several tasks, threads and processes of a program.

Owns at which step each of them is, what a step follows from, the automatic checkpoints around a step, and the
count of what could not be recorded. Must not know what the steps mean, nor who else records.
"""

from __future__ import annotations

import itertools
import logging
from collections import deque
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol

from msgspec.structs import replace

from tallystick.errors import JournalError, TallystickError
from tallystick.model.ids import SessionId
from tallystick.model.recorded import Recorded
from tallystick.model.step import Input, Json, Opening, Ref, Step
from tallystick.recording.checkpoints.auto import Checkpointing
from tallystick.recording.context import ExecutionContext, Place, owner, place_of, set_place
from tallystick.recording.event_dedup import Outcome
from tallystick.recording.record import SessionRecord, as_said
from tallystick.recording.session_writer import SessionWriter, Taken
from tallystick.sessions.checkpoints import occasion

_log = logging.getLogger("tallystick")
_keys = itertools.count()
_MOST_SECONDS = 5.0
"""So long the end of a session waits for what git says of its folder; in an event loop nothing waits for that."""


class Writes(Protocol):
    """What a session needs of the recorder that it was begun with."""

    @property
    def session_writer(self) -> SessionWriter:
        """What takes its steps down."""
        ...

    @property
    def checkpoints(self) -> Checkpointing:
        """What makes its automatic checkpoints."""
        ...


class WritableSession:
    """A session of one agent, and the step at which each task, thread and process of this program is."""

    recorder: Writes

    def __init__(self, recorder: Writes, record: SessionRecord, opening: Opening) -> None:
        self.recorder = recorder
        self.source_session = opening.session
        self.agent = record.agent
        self.id: SessionId = record.sid
        """The journal's id."""
        self.path: Path = record.journal.path
        """The journal's file."""
        self.source = opening.source
        self.kind = opening.kind
        self.lost = 0
        """How many steps could not be recorded and are not told of yet (`try_put`)."""
        self.is_concurrent = False
        """Whether several tasks, threads or processes record here: then each step names the one it follows from."""
        self.late: deque[Callable[[], None]] = deque()
        """What was noticed at a moment when nothing can be recorded: a stream that was dropped unread."""
        self._key = next(_keys)
        self._trunk = ExecutionContext(owner(), None, None)

    # Recording ------------------------------------------------------------------------------------------------------

    def step(
        self,
        type: str,
        *,
        content: Mapping[str, Json] | None = None,
        personal: Mapping[str, Json] | None = None,
        local: Mapping[str, Json] | None = None,
        raw: Mapping[str, bytes] | None = None,
        after: tuple[Ref, ...] = (),
        within: Ref | None = None,
        source_id: str | None = None,
        input: Input | None = None,
        opens_request: bool = False,
        **meta: Json,
    ) -> Recorded:
        """Record one step and return it as it was sealed.

        Args:
            type: what it is: `assistant`, `model_call`, `file_effect`… (docs/format.md 6).
            content: what was said, asked or returned: `{"text": …}` becomes `content.text`. personal: who and where.
            local: what never leaves the store. raw: bytes by full field name.
            after: what it follows from, main parent first; nothing: the step before, of this task or thread.
            within: the call that encloses it; None: the one whose block this is.
            meta: operational members: numbers, ids, enums. Free text goes to `content`.

        Raises:
            FormatError: the step cannot be sealed. JournalError: it cannot be written.
        """
        values: dict[str, Json] = {}
        for kind, members in (("content", content), ("personal", personal), ("local", local)):
            values |= {f"{kind}.{name}": value for name, value in (members or {}).items()}
        step = Step(
            session=self.source_session,
            type=type,
            source=self.source,
            source_id=source_id,
            meta=as_said(meta),
            values=as_said(values),
            raw=raw or {},
            after=after,
            within=within,
            input=input,
            opens_request=opens_request,
        )
        return self.read(self.put(step).n)

    def put(self, step: Step) -> Taken:
        """Record a step of this session where this task or thread stands; which entry has it, and how it got there.

        Raises what `step` raises.
        """
        while self.late:
            self.late.popleft()()
        if self.lost:
            self._tell_gap()
        place = self.place()
        changes: dict[str, Any] = {}
        if not step.after and self.is_concurrent:
            changes["after"] = self._ends(place)
        if step.within is None and place.within is not None:
            changes["within"] = Ref(n=place.within)
        if place.request is not None and not step.opens_request:
            changes["meta"] = {"request": place.request, **step.meta}
        self._mark_before(step)
        taken = self.recorder.session_writer.add(self.agent, replace(step, **changes) if changes else step)
        self._mark_after(step, taken)
        if taken.outcome in (Outcome.KNOWN, Outcome.CORROBORATED):
            return taken  # it stands where it was recorded before
        place.strand.advance(taken.n)
        set_place(self._key, replace(place, tip=taken.n, request=taken.n if step.opens_request else place.request))
        return taken

    def try_put(self, step: Step) -> Taken | None:
        """Record a step; None if that fails, which must not break the agent: the next step is preceded by a `gap`."""
        try:
            return self.put(step)
        except (TallystickError, TypeError, ValueError, OSError) as error:
            self.note_loss(step.type, error)
            return None

    def _tell_gap(self) -> None:
        lost, self.lost = self.lost, 0
        try:
            missed = {"reason": "not-recorded", "events": lost}
            self.put(Step(session=self.source_session, type="gap", source=self.source, meta=missed))
        except TallystickError:
            self.lost = lost
            raise

    def note_loss(self, what: str, error: Exception) -> None:
        """Count something that could not be recorded, and say so in the log of the program."""
        self.lost += 1
        _log.error("a %s of session %s was not recorded: %s", what, self.id[:8], error)

    def read(self, n: int) -> Recorded:
        """Entry `n`. Raises JournalError: it cannot be read back."""
        recorded = self.record().read(n)
        if recorded is None:
            raise JournalError(f"cannot read back step {n} of {self.path}", hint="run `tally verify`")
        return recorded

    def record(self) -> SessionRecord:
        """What is known of the journal: asked for again each time, since a recorder forgets what it has not used."""
        session_writer = self.recorder.session_writer
        with session_writer.lock:
            return session_writer.writer.record_of(self.id, self.agent)

    def _mark_before(self, step: Step) -> None:
        """Make the automatic checkpoints that are ready; all of them before the session ends."""
        checkpoints = self.recorder.checkpoints
        if step.type != "session_end":
            checkpoints.tick()
        else:
            checkpoints.settle(seconds=0.0 if owner().task else _MOST_SECONDS)

    def _mark_after(self, step: Step, taken: Taken) -> None:
        """Have a step that was just recorded marked, if it is an occasion."""
        if occasion(step.type, step.meta) is not None:
            self.recorder.checkpoints.saw(self.record(), taken, step)

    # Where this task or thread stands -------------------------------------------------------------------------------

    def place(self) -> Place:
        """Where this task or thread is in the session. A new one begins where its creator stood."""
        me, found = owner(), place_of(self._key)
        if found is not None and found.strand.owner == me:
            return found
        if found is None and self._trunk.owner == me:
            return Place(self._trunk, tip=self._trunk.last)
        self.is_concurrent = True
        if found is None:
            return Place(ExecutionContext(me, self._trunk, None))
        return replace(found, strand=ExecutionContext(me, found.strand, None))

    def move(self, place: Place) -> None:
        """Say where this task or thread stands from now on."""
        set_place(self._key, place)

    def ends(self) -> tuple[Ref, ...]:
        """What a step of this task or thread follows from, for a step that follows from something else as well."""
        return (self._ends(self.place()) if self.is_concurrent else ()) or (Ref(),)

    def _ends(self, place: Place) -> tuple[Ref, ...]:
        """What the next step here follows from: the one before it, and the last ones of branches that came to rest."""
        ends = [Ref(n=n) for n in dict.fromkeys(place.strand.join()) if n != place.tip]
        if place.tip is None:
            if ends:
                return (Ref(), *ends)
            return ()
        return (Ref(n=place.tip), *ends)

    def result_of(self, call: int, before: int | None) -> tuple[Ref, ...]:
        """What the result of a call follows from: the call, then what was done within it, then what came before it."""
        place = self.place()
        ends = (call, place.tip, *place.strand.join(), before)
        return tuple(Ref(n=n) for n in dict.fromkeys(ends) if n is not None)
