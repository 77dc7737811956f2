"""One session that a program records.

Owns the vocabulary in which a program says what its agent does in it, which session is the current one, and how sessions
split and come together again: sub-agents, forks, continuations, merges, discards. A session that has ended may still be
forked, merged or discarded; one that was merged or discarded is that for good. Must not know how a step finds its
parents, nor how a store is opened. Sources: docs/format.md 7, sessions/states.py.
"""

from __future__ import annotations

import logging
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from tallystick.errors import UsageError
from tallystick.journal.follow import follow_file
from tallystick.journal.home import Home
from tallystick.journal.read import read_session
from tallystick.model.recorded import Recorded
from tallystick.model.step import Input, Json, Opening, Ref, SessionKind, Step
from tallystick.recording.checkpoints.auto import folder_of, git_of
from tallystick.recording.checkpoints.write import Mark, mark
from tallystick.recording.context import ExecutionContext, Place, owner
from tallystick.recording.conversation import ConversingSession
from tallystick.recording.model_inputs import Said
from tallystick.recording.record import SessionRecord, as_said
from tallystick.recording.spans import Block, Enclosing, ModelCall, Request, ToolCall, said_error
from tallystick.recording.writable_session import WritableSession, Writes
from tallystick.sessions.checkpoints import Trigger
from tallystick.sessions.states import ENDS, Status, meaning

if TYPE_CHECKING:
    from tallystick.recording.run_config.declared import RunsUnder
    from tallystick.sessions.configuration import Configuration

_log = logging.getLogger("tallystick")
_current: ContextVar[Session | None] = ContextVar("tallystick_session", default=None)


def current_session() -> Session | None:
    """The session whose block this code runs in, in this task or thread; None outside of any."""
    return _current.get()


def set_current(session: Session | None) -> Session | None:
    """Make a session the current one in this context; the one that was."""
    before = _current.get()
    _current.set(session)
    return before


class Begins(Writes, Protocol):
    """What a session of a program needs of its recorder: with it, other sessions are begun."""

    home: Home

    def session(self, agent: str, session: str | None = None, **start: Any) -> Session:
        """Begin a session, or go on with one."""
        ...

    def seal(self) -> None:
        """Make everything recorded so far durable."""
        ...


def _session_of(recorder: Begins, opening: Opening, is_prompted: bool, stands: tuple[int | None, ...]) -> Session:
    session = Session(recorder, recorder.session_writer.open(opening), opening)
    session.is_prompted = is_prompted
    strand = ExecutionContext(owner(), session.place().strand, None)
    session.move(Place(strand, *stands))
    session.is_concurrent = True
    return session


class Session(ConversingSession):
    """One session that is being recorded.

    As a context manager it is the current session of its block, and is closed at the end, as failed after an exception.
    """

    recorder: Begins

    def __init__(self, recorder: Begins, record: SessionRecord, opening: Opening) -> None:
        super().__init__(recorder, record, opening)
        self._outer: list[Session | None] = []
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
        return Subagent(self, Task(role, goal, session), meta)

    # Other sessions -------------------------------------------------------------------------------------------------

    def child(
        self, agent: str | None = None, session: str | None = None, *, at: int | None = None, **meta: Json
    ) -> Session:
        """A session of a sub-agent, hanging on the last step of this one, or on entry `at` of it. See Recorder.session."""
        return self.recorder.session(
            agent if agent is not None else self.agent,
            session if session is not None else self.new_name(),
            kind=SessionKind.CHILD,
            parent=Ref(session=self.source_session, agent=self.agent, n=at),
            source=self.source,
            **self._handed_on(meta),
        )

    def fork(self, session: str | None = None, *, goal: str | None = None, **meta: Json) -> Session:
        """A session that goes another way from the last step of this one, which says so with a `fork`."""
        fork = self.recorder.session(
            self.agent,
            session if session is not None else self.new_name(),
            kind=SessionKind.FORK,
            parent=Ref(session=self.source_session, agent=self.agent),
            source=self.source,
            **self._handed_on({"goal": goal, **meta}),
        )
        with _open(self, "fork"):
            _put(self, "fork", fork, {"content.goal": goal}, {})
        return fork

    def merge(self, other: Session, *, reason: str | None = None, **meta: Json) -> Recorded:
        """Take over what a sub-agent or a fork did: it ends as merged, and the `merge` here follows from its last step.

        Raises:
            UsageError: it is this session, or it was merged or discarded before.
        """
        return _settle(self, other, Status.MERGED, meta, reason)

    def discard(self, other: Session, *, reason: str | None = None, **meta: Json) -> Recorded:
        """Throw away what a sub-agent or a fork did: it ends as discarded, and a `discard` here says so.

        Raises what `merge` raises.
        """
        return _settle(self, other, Status.DISCARDED, meta, reason)

    def compact(self, summary: str, **meta: Json) -> Session:
        """End this session with a `compaction` step and go on in a continuation that begins with the summary."""
        name = "compaction/0"
        step = self.step("compaction", content={"text": summary}, source_id=name, **meta)
        self.close("completed")
        base, _, number = self.source_session.rpartition("~")
        if base and number.isdigit():
            next_id = f"{base}~{int(number) + 1}"
        else:
            next_id = f"{self.source_session}~1"
        following = self.recorder.session(
            self.agent,
            next_id,
            kind=SessionKind.CONTINUATION,
            parent=Ref(session=self.source_session, source_id=name),
            **self._handed_on({}),
        )
        following.step("user", content={"text": summary}, origin="summary", compaction=step.n)
        return following

    def new_name(self) -> str:
        """A new id for a session that belongs to this one."""
        return f"{self.source_session}/{uuid.uuid4().hex[:16]}"

    def _handed_on(self, meta: Mapping[str, Json]) -> dict[str, Any]:
        """What the start of a session that belongs to this one says: what it has from this one, no matter who began it."""
        start = self.read(0)
        more = {"run": start.member("run"), "workspace": start.text("content.workspace"), **meta}
        return {name: value for name, value in more.items() if value is not None}

    # Checkpoints ----------------------------------------------------------------------------------------------------

    def checkpoint(
        self, label: str, *, at: int | None = None, keep: bool = False, metadata: Mapping[str, str] | None = None
    ) -> Recorded:
        """A labelled mark at the newest step, or at entry `at`, with where the repository of the session's folder stands.

        Args:
            keep: it stays whole, whatever the retention says.

        Raises:
            CheckpointError: checkpoints are off, or the session has as many as it may have. UsageError: there is no label.
            JournalError: it cannot be written.
        """
        wanted = Mark(
            trigger=Trigger.MANUAL,
            label=label,
            position=at,
            git=self._git(),
            metadata=metadata or {},
            meta={"keep": True} if keep else {},
            source=self.source,
        )
        session_writer = self.recorder.session_writer
        with session_writer.lock:
            return self.read(mark(session_writer, self.record(), wanted).n)

    def runs_under(self, configuration: RunsUnder) -> None:
        """Say what the session runs under from now on: sealed as names and keyed digests, never as values.

        The first time that is a checkpoint, later a change if anything is another, and a checkpoint again if hooks have come.

        Raises: UsageError: a section's name is not a word, or Lango has no such input. JournalError: it cannot be
        written.
        """
        from tallystick.recording.run_config.declared import Declared

        session_writer = self.recorder.session_writer
        is_begin = self.configuration is None
        # an event loop waits for nothing
        git = None
        if is_begin and not owner().task:
            git = self._git()
        with session_writer.lock:
            declared = Declared(session_writer, self.record(), self.source)
            self.configuration = declared.tell(configuration, before=self.configuration, git=git)

    def _git(self) -> Mapping[str, Json] | None:
        folder = folder_of(self.record())
        if folder is None:
            return None
        return git_of(folder)

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


class Attached(Block):
    """A block in which a session is the current one. Nothing is recorded by it."""

    session: Session

    def __init__(self, session: Session) -> None:
        self.session = session
        self._outer: Session | None = None

    def begin(self) -> None:
        """Make the session current."""
        self._outer = set_current(self.session)

    def end(self, error: BaseException | None) -> None:
        """Make current again what was."""
        set_current(self._outer)


class Task(msgspec.Struct, frozen=True):
    """What a sub-agent is begun for."""

    role: str
    goal: str | None = None
    session: str | None = None
    """The sub-agent's own id of its session; None: a new one is made up."""


class Subagent(Enclosing):
    """A sub-agent at work. `child` is its session, the current one of the block; set `output` to what it reports."""

    session: Session
    child: Session

    def __init__(self, session: Session, task: Task, meta: Mapping[str, Json]) -> None:
        super().__init__(session)
        self.output: Json = None
        self._task = task
        self.source_session = task.session or session.new_name()
        self._meta = meta

    def __enter__(self) -> Session:
        self.begin()
        return self.child

    async def __aenter__(self) -> Session:
        self.begin()
        return self.child

    def begin(self) -> None:
        """Record the start, and begin the child's session with its goal."""
        name, role = self.source_session, {"agent_role": self._task.role}
        start = self.step("subagent_start", {"content.goal": self._task.goal}, source_id=f"{name}/start", meta=role)
        self.go_in(self.session.put(start).n)
        self.child = self.session.child(session=name, at=self.n, goal=self._task.goal, **role, **self._meta)
        self.child.__enter__()
        if self._task.goal is not None:
            self.child.step("user", content={"text": self._task.goal}, origin="parent")

    def end(self, error: BaseException | None) -> None:
        """End the child's session, and record its result."""
        self.child.__exit__(type(error) if error is not None else None, error, None)
        values = {"content.output": self.output, "content.error": said_error(error) if error is not None else None}
        meta = {"agent_role": self._task.role, "success": error is None, "duration_ms": self.duration_ms()}
        assert self.n is not None, "a sub-agent that could not be recorded was not begun"
        child = Ref(session=self.source_session, agent=self.session.agent)
        after = self.session.result_of(self.n, None)
        self.go_out()
        end = self.step(
            "subagent_end",
            values,
            source_id=f"{self.source_session}/end",
            after=(after[0], child, *after[1:]),
            meta=meta,
        )
        self.session.put(end)


# Other sessions ------------------------------------------------------------------------------------------------------

_TYPES = {Status.MERGED: "merge", Status.DISCARDED: "discard"}


def end_of(word: str) -> Status:
    """The status that a program ends a session with. Raises UsageError: it is no end."""
    found = meaning(word)
    if found not in ENDS:
        raise UsageError(f"{word!r} is not an end of a session", hint=f"use {', '.join(ENDS)}")
    return found


def _settle(session: Session, other: Session, status: Status, meta: Mapping[str, Json], reason: str | None) -> Recorded:
    """End another session as merged into this one, or as discarded, and say so here.

    Raises:
        UsageError: it is this session, or it was merged or discarded before.
    """
    if other.id == session.id:
        raise UsageError(f"session {session.id[:8]} cannot become {status.value} by itself")
    with session.recorder.session_writer.lock:
        now = other.record().status
        if now in _TYPES:
            raise UsageError(f"session {other.id[:8]} is already {now.value}", hint="what goes on is another session")
        other.step("session_end", status=status.value)
        with _open(session, _TYPES[status]):
            return session.read(_put(session, _TYPES[status], other, {"content.reason": reason}, meta))


def _put(
    session: WritableSession, kind: str, other: WritableSession, values: Mapping[str, Json], meta: Mapping[str, Json]
) -> int:
    """A step that follows from where this session stands and from the last step of another."""
    step = Step(
        session=session.source_session,
        type=kind,
        source=session.source,
        meta=as_said({"child": other.source_session, **meta}),
        values=as_said({name: value for name, value in values.items() if value is not None}),
        after=(*session.ends(), Ref(session=other.source_session, agent=other.agent)),
    )
    return session.put(step).n


@contextmanager
def _open(session: WritableSession, reason: str) -> Iterator[None]:
    """Hold a session; one that has ended ends again as it had ended."""
    with session.recorder.session_writer.lock, session.record().reopened(session.source.value, reason):
        yield
