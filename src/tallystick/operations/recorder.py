"""The Python API: an agent of one's own records its sessions.

    with Recorder() as recorder, recorder.session(agent="my-agent") as session:
        session.prompt("fix the failing test")
        with session.tool_call("Bash", {"command": "pytest -q"}) as call:
            call.output = run(...)

Owns the vocabulary in which a program says what its agent does. Identity, sealing and durability are record.py's and
journal's. A step is acknowledged when the call that records it returns.
"""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import TracebackType

from tallystick.errors import JournalError
from tallystick.journal.follow import follow_file
from tallystick.journal.home import Home, default_folder
from tallystick.journal.read import read_session
from tallystick.model.ids import SessionId
from tallystick.model.recorded import Recorded
from tallystick.model.step import Input, Json, Opening, Ref, SessionKind, Source, Step
from tallystick.operations.record import OnStep, SessionRecord, sealable
from tallystick.operations.scribe import Scribe


class Recorder:
    """Records sessions into one store. Use it as a context manager, or call `close`: that seals what is pending.

    Several recorders, in threads or processes, may write to one store and to one session.
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
        self.scribe = Scribe(self.home, always_sync=always_sync)

    def __enter__(self) -> Recorder:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def on_step(self, callback: OnStep) -> None:
        """Have `callback` called with every step recorded here, once it is sealed, before the recording call returns."""
        self.scribe.callbacks.append(callback)

    def session(
        self,
        agent: str,
        session: str | None = None,
        *,
        cwd: str | None = None,
        kind: SessionKind = SessionKind.ROOT,
        parent: Ref | None = None,
        **meta: Json,
    ) -> Session:
        """Begin a session, or go on with the one that has this id.

        Args:
            agent: the agent's name. session: its own id of the session; a new one is made up if it has none.
            meta: further members of `session_start`, for example `model` or `agent_version`.
        """
        opening = Opening(
            session=session if session is not None else uuid.uuid4().hex,
            agent=agent,
            kind=kind,
            parent=parent,
            source=Source.SDK,
            meta=meta,
            values=sealable({"personal.cwd": cwd}) if cwd is not None else {},
        )
        return Session(self, self.scribe.open(opening), opening.session)

    def add(self, record: SessionRecord, step: Step) -> int:
        """Record a step of a session of this recorder; the number of the entry that has it."""
        return self.scribe.add_to(record, step).n

    def seal(self) -> None:
        """Make everything recorded so far durable, and sign a head that covers it."""
        self.scribe.seal()

    def close(self) -> None:
        """Seal what is pending and close the store's files. Sessions that were not closed stay open in the record."""
        self.scribe.close()


class Session:
    """One session that is being recorded. As a context manager it is closed at the end, as failed after an exception."""

    def __init__(self, recorder: Recorder, record: SessionRecord, source_session: str) -> None:
        self.recorder = recorder
        self.source_session = source_session
        self._record = record
        self._continuations = 0

    @property
    def id(self) -> SessionId:
        """The journal's id."""
        return self._record.sid

    @property
    def path(self) -> Path:
        """The journal's file."""
        return self._record.journal.path

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self._record.journal.ended:
            self.close("completed" if error is None else "failed")

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
            after: what it follows from, main parent first; nothing: the step before.
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
            source=Source.SDK,
            source_id=source_id,
            meta=sealable(meta),
            values=sealable(values),
            raw=raw or {},
            after=after,
            within=within,
            input=input,
            opens_request=opens_request,
        )
        n = self.recorder.add(self._record, step)
        recorded = self._record.read(n)
        if recorded is None:
            raise JournalError(f"{self.path}: step {n} cannot be read back", hint="run `tally verify`")
        return recorded

    def prompt(self, text: str, **meta: Json) -> Recorded:
        """A prompt that a human gave: the steps that follow belong to its request."""
        return self.step("user", content={"text": text}, opens_request=True, **meta)

    def model_call(self, model: str, *, tokens: Mapping[str, int] | None = None, **meta: Json) -> Recorded:
        """A model call, given all steps on the path so far."""
        return self.step("model_call", model=model, tokens=dict(tokens or {}), input=Input.PATH, **meta)

    def tool_call(self, tool: str, args: Json, *, call_id: str | None = None) -> ToolCall:
        """A tool call as a context manager: the call is recorded before its body runs, the result after."""
        return ToolCall(self, tool, args, call_id if call_id is not None else f"call_{uuid.uuid4().hex}")

    def child(self, agent: str | None = None, session: str | None = None, **meta: Json) -> Session:
        """A session of a sub-agent, hanging on the last step of this one."""
        return self._begin(SessionKind.CHILD, agent, session, meta)

    def fork(self, session: str | None = None, **meta: Json) -> Session:
        """A session that goes another way from the last step of this one."""
        return self._begin(SessionKind.FORK, None, session, meta)

    def _begin(self, kind: SessionKind, agent: str | None, session: str | None, meta: Mapping[str, Json]) -> Session:
        return self.recorder.session(
            agent if agent is not None else self._record.agent,
            session if session is not None else f"{self.source_session}/{uuid.uuid4().hex[:16]}",
            kind=kind,
            parent=Ref(session=self.source_session),
            **meta,
        )

    def compact(self, summary: str, **meta: Json) -> Session:
        """End this session with a `compaction` step and go on in a continuation that begins with the summary."""
        step = self.step("compaction", content={"text": summary}, source_id=f"compaction/{self._continuations}", **meta)
        self.close("completed")
        base, _, number = self.source_session.rpartition("~")
        next_id = f"{base}~{int(number) + 1}" if base and number.isdigit() else f"{self.source_session}~1"
        parent = Ref(session=self.source_session, source_id=f"compaction/{self._continuations}")
        following = self.recorder.session(self._record.agent, next_id, kind=SessionKind.CONTINUATION, parent=parent)
        following.step("user", content={"text": summary}, origin="summary", compaction=step.n)
        return following

    def close(self, status: str = "completed") -> None:
        """End the session and seal it. Statuses: `completed`, `failed`, `discarded`, `merged`."""
        self.step("session_end", status=status)
        self.recorder.seal()

    def __iter__(self) -> Iterator[Recorded]:
        """The steps recorded so far, in order."""
        return read_session(self.recorder.home, self.id)

    def follow(self, *, stop: Callable[[], bool] | None = None) -> Iterator[Recorded]:
        """The steps of the session from the first on, then those that come, until it ends or `stop()` says so."""
        return (step for step in follow_file(self.recorder.home, self.path, stop=stop) if step is not None)


class ToolCall:
    """A tool call that is being recorded. Set `output` (and `success`) before leaving the block.

    An exception in the block is recorded as the call's failure, and goes on.
    """

    def __init__(self, session: Session, tool: str, args: Json, call_id: str) -> None:
        self.call_id = call_id
        self.output: Json = None
        self.success: bool | None = None
        self._session = session
        self._tool = tool
        self._args = args
        self._began = 0.0

    def __enter__(self) -> ToolCall:
        self._session.step(
            "tool_call", content={"args": self._args}, source_id=self.call_id, corr=self.call_id, tool=self._tool
        )
        self._began = time.monotonic()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        content: dict[str, Json] = {"output": self.output}
        if error is not None:
            content["error"] = f"{type(error).__name__}: {error}"
        self._session.step(
            "tool_result",
            content=content,
            source_id=f"{self.call_id}/result",
            after=(Ref(self.call_id),),
            corr=self.call_id,
            tool=self._tool,
            success=error is None if self.success is None else self.success,
            duration_ms=round((time.monotonic() - self._began) * 1000),
        )
