"""The Python API: an agent of one's own records its sessions.

    with Recorder() as recorder, recorder.session(agent="my-agent") as session:
        session.prompt("fix the failing test")
        with session.tool_call("Bash", {"command": "pytest -q"}) as call:
            call.output = run(...)

Owns the vocabulary in which a program says what its agent does. Identity, sealing and durability are record.py's and
journal's; which step a step follows from is strands.py's; blocks are calls.py's. A step is acknowledged when the call that
records it returns.
"""

from __future__ import annotations

import itertools
import logging
import os
import threading
import uuid
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from tallystick.errors import JournalError, TallystickError
from tallystick.journal.follow import follow_file
from tallystick.journal.home import Home, default_folder
from tallystick.journal.read import read_session
from tallystick.model.ids import SessionId
from tallystick.model.recorded import Recorded
from tallystick.model.step import Input, Json, Opening, Ref, SessionKind, Source, Step
from tallystick.recording.branching import Branching, end_of
from tallystick.recording.checkpoints.api import Marks
from tallystick.recording.checkpoints.auto import Checkpointing
from tallystick.recording.context import ExecutionContext, Place, owner, place_of, set_current, set_place
from tallystick.recording.conversation import Conversation
from tallystick.recording.event_dedup import Outcome
from tallystick.recording.forks import watch, watch_in_child
from tallystick.recording.isolation import defined
from tallystick.recording.model_inputs import Said
from tallystick.recording.record import OnStep, SessionRecord, sealable
from tallystick.recording.session_writer import SessionWriter, Taken
from tallystick.recording.spans import Attached, ModelCall, Request, Subagent, ToolCall
from tallystick.sessions.states import ENDS

if TYPE_CHECKING:
    from tallystick.recording.run_config.declared import RunsUnder
    from tallystick.sessions.configuration import Configuration

_log = logging.getLogger("tallystick")
_keys = itertools.count()
_shared: dict[tuple[str, bool | None], Recorder] = {}
"""Recorders of stores that sessions came to this process for, pickled."""


class Recorder:
    """Records sessions into one store. Use it as a context manager, or call `close`: that seals what is pending.

    Several recorders, in threads or processes, may write to one store and to one session. A forked child may go on with
    the recorder and the sessions it inherits; pickled, they open the store again where they arrive.
    """

    def __init__(self, home: str | Path | None = None, *, always_sync: bool | None = None) -> None:
        """Open the store at `home` (default: TALLY_HOME, else ~/.tally); it is made if it is not there.

        Args:
            always_sync: make every step survive a loss of power before the call that records it returns; default: what
                the setting `journal.fsync` says. Otherwise steps do so at most 100 ms later.

        Raises:
            JournalError: the store cannot be opened or made. FormatError: its config.toml is damaged.
        """
        self.home = Home(Path(home) if home is not None else default_folder(os.environ))
        self._always_sync = always_sync
        self._opening = threading.Lock()
        self._callbacks: list[OnStep] = []
        self._session_writer: SessionWriter | None = SessionWriter(self.home, always_sync=always_sync, aside=True)
        self._session_writer.callbacks = self._callbacks
        self._checkpoints: Checkpointing | None = None
        watch(self)

    @property
    def session_writer(self) -> SessionWriter:
        """What takes the steps down; opened again in a child that was forked.

        Raises:
            JournalError: the recorder was closed.
        """
        if self._session_writer is not None:
            return self._session_writer
        return self._open_again()

    def _open_again(self) -> SessionWriter:
        with self._opening:
            if self._session_writer is None:
                self._session_writer = SessionWriter(self.home, always_sync=self._always_sync, aside=True)
                self._session_writer.callbacks = self._callbacks
                watch_in_child(self)
            return self._session_writer

    @property
    def checkpoints(self) -> Checkpointing:
        """Makes the automatic checkpoints of what is recorded here."""
        if self._checkpoints is None:
            self._checkpoints = Checkpointing(self.session_writer)
        return self._checkpoints

    @property
    def busy(self) -> threading.RLock | None:
        """What is held while a step is written: who forks waits for it."""
        if self._session_writer is None:
            return None
        return self._session_writer.lock

    def abandon(self) -> None:
        """In a forked child: leave what was inherited alone, and open the store again when something is recorded."""
        inherited, self._session_writer = self._session_writer, None
        self._checkpoints = None  # those that wait are the parent's to make
        self._opening = threading.Lock()
        if inherited is not None:
            inherited.archive.close()  # this gives up the descriptors and, being copies, none of the parent's locks

    def __reduce__(self) -> tuple[Any, ...]:
        return _recorder_of, (str(self.home.folder), self._always_sync)

    def __enter__(self) -> Recorder:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def on_step(self, callback: OnStep) -> None:
        """Have `callback` called with every step recorded here, once it is sealed, before the recording call returns."""
        self._callbacks.append(callback)

    def session(
        self,
        agent: str,
        session: str | None = None,
        *,
        cwd: str | None = None,
        kind: SessionKind = SessionKind.ROOT,
        parent: Ref | None = None,
        source: Source = Source.SDK,
        goal: str | None = None,
        workspace: str | None = None,
        configuration: RunsUnder | None = None,
        **meta: Json,
    ) -> Session:
        """Begin a session, or go on with the one that has this id.

        Args:
            agent: the agent's name. session: its own id of the session; a new one is made up if it has none.
            source: by which way its steps reach us, where that is not this API.
            goal: what it is for. workspace: the program's name for the place it works on. Child sessions share it.
            configuration: what it runs under (`Session.runs_under`); None: its agent, version and model, which are in its
                start.
            meta: further members of `session_start`, for example `model`, `agent_version`, or `run`, which is inherited too.
        """
        values = {"personal.cwd": cwd, "content.goal": goal, "content.workspace": workspace}
        opening = Opening(
            session=session if session is not None else uuid.uuid4().hex,
            agent=agent,
            kind=kind,
            parent=parent,
            source=source,
            meta=meta,
            values=sealable({name: value for name, value in values.items() if value is not None}),
        )
        if kind is SessionKind.CHILD:
            opening = defined(self.session_writer, opening)
        begun = Session(self, self.session_writer.open(opening), opening)
        if configuration is not None:
            begun.runs_under(configuration)
        return begun

    def seal(self) -> None:
        """Make everything recorded so far durable, and sign a head that covers it."""
        self.session_writer.seal()

    def close(self) -> None:
        """Seal what is pending and close the store's files. Sessions that were not closed stay open in the record."""
        if self._session_writer is not None:
            self.checkpoints.settle()
            self._session_writer.close()


def _recorder_of(folder: str, always_sync: bool | None) -> Recorder:
    key = (folder, always_sync)
    if key not in _shared:
        _shared[key] = Recorder(folder, always_sync=always_sync)
        watch_in_child(_shared[key])
    return _shared[key]


def _session_of(recorder: Recorder, opening: Opening, is_prompted: bool, stands: tuple[int | None, ...]) -> Session:
    session = Session(recorder, recorder.session_writer.open(opening), opening)
    session.is_prompted = is_prompted
    strand = ExecutionContext(owner(), session.place().strand, None)
    session.move(Place(strand, *stands))
    session.is_concurrent = True
    return session


class Session(Branching, Marks):
    """One session that is being recorded.

    As a context manager it is the current session of its block, and is closed at the end, as failed after an exception.
    """

    def __init__(self, recorder: Recorder, record: SessionRecord, opening: Opening) -> None:
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
        self._key = next(_keys)
        self._trunk = ExecutionContext(owner(), None, None)
        self.is_concurrent = False
        """Whether several tasks, threads or processes record here: then each step names the one it follows from."""
        self.late: deque[Callable[[], None]] = deque()
        """What was noticed at a moment when nothing can be recorded: a stream that was dropped unread."""
        self.is_prompted = False
        """Whether the program says itself which prompts there are."""
        self._outer: list[Session | None] = []
        self.conversation = Conversation(self)
        self.configuration: Configuration | None = None
        """What the program said last that it runs under."""

    def __reduce__(self) -> tuple[Any, ...]:
        place = self.place()
        opening = Opening(session=self.source_session, agent=self.agent, kind=self.kind, source=self.source)
        return _session_of, (self.recorder, opening, self.is_prompted, (place.tip, place.within, place.request))

    # Being current --------------------------------------------------------------------------------------------------

    def __enter__(self) -> Session:
        self._outer.append(set_current(self))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._outer:
            set_current(self._outer.pop())
        else:
            set_current(None)
        if not self.record().journal.ended:
            if error is None:
                self.close("completed")
            else:
                self.close("failed")

    def attached(self) -> Attached:
        """Make this the current session of a block without closing it: in a thread that has no copy of the context."""
        return Attached(self)

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
            meta=sealable(meta),
            values=sealable(values),
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

    # Blocks ---------------------------------------------------------------------------------------------------------

    def prompt(self, text: str, **meta: Json) -> Recorded:
        """A prompt that a human gave: the steps that follow belong to its request."""
        self.is_prompted = True
        return self.step("user", content={"text": text}, opens_request=True, **meta)

    def request(self, text: str, **meta: Json) -> Request:
        """A human prompt and what is done for it, as a block: several may be served at once, in tasks or threads."""
        self.is_prompted = True
        return Request(self, text, meta)

    def model_call(self, model: str, *, tokens: Mapping[str, int] | None = None, **meta: Json) -> Recorded:
        """A model call, given all steps on the path so far."""
        return self.step("model_call", model=model, tokens=dict(tokens or {}), input=Input.PATH, **meta)

    def ask(self, model: str, messages: Sequence[Json | Said] | None = None, **settings: Json) -> ModelCall:
        """A model call as a block: what it is given is recorded before its body runs, the call and its answer after.

        Args:
            messages: the whole conversation that the model is given, as `{"role": …, "content": …}`; what is recorded
                already is not recorded again. None: all steps on the path so far.
            settings: temperature and similar.
        """
        return ModelCall(self, model, messages, settings)

    def tool_call(self, tool: str, args: Json, *, call_id: str | None = None) -> ToolCall:
        """A tool call as a block: the call is recorded before its body runs, the result after.

        Without `call_id`, a call with this tool and these arguments that a recorded model asked for, and that has not
        been made yet, is taken to be this one.
        """
        return ToolCall(self, tool, args, call_id)

    def subagent(self, role: str, goal: str | None = None, session: str | None = None, **meta: Json) -> Subagent:
        """A sub-agent as a block: its session is the current one in it, and belongs to a `subagent_start` of this one."""
        return Subagent(self, role, goal, session, meta)

    # Ending ---------------------------------------------------------------------------------------------------------

    def close(self, status: str = "completed") -> None:
        """End the session and seal it. Statuses: `completed`, `failed`, `discarded`, `merged`; `error` and similar mean one.

        One that has ended stays as it ended: only a further step makes it go on. In an event loop it is sealed a moment
        later: others must not wait for the disk meanwhile.

        Raises:
            UsageError: the status is no end of a session.
        """
        end = end_of(status)
        if self.record().status in ENDS:
            _log.warning("session %s has ended and stays as it is: it is not %s", self.id[:8], end.value)
            return
        self.step("session_end", status=end.value)
        if owner().task:
            self.recorder.session_writer.seal_soon()
        else:
            self.recorder.seal()

    # Reading --------------------------------------------------------------------------------------------------------

    def __iter__(self) -> Iterator[Recorded]:
        """The steps recorded so far, in order."""
        return read_session(self.recorder.home, self.id)

    def follow(self, *, stop: Callable[[], bool] | None = None) -> Iterator[Recorded]:
        """The steps of the session from the first on, then those that come, until it ends or `stop()` says so."""
        return (step for step in follow_file(self.recorder.home, self.path, stop=stop) if step is not None)
