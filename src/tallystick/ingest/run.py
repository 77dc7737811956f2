"""Running a command as a monitored session: what it ran, what it did to its folder, how it ended.

Owns what of that becomes a step, and that the command runs as it would without us: same terminal, same signals, same exit
code, also if nothing can be recorded. Must not know how processes and files are looked at.
"""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import subprocess
import threading
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType

import msgspec
from msgspec.structs import replace

from tallystick.capture.processes import Holders, ProcessTree, Seen, adopt_orphans
from tallystick.capture.watch import Watch
from tallystick.capture.watch_tree import Root
from tallystick.capture.workspace import Effect, FileState, Kind, Look, effects, look
from tallystick.errors import TallystickError
from tallystick.ingest.watch import Beside, left_out
from tallystick.ingest.watch_steps import UNKNOWN
from tallystick.journal.home import Home
from tallystick.model.effect import EffectKind, FileEffect
from tallystick.model.ids import SessionId
from tallystick.model.step import Json, Opening, Ref, SessionKind, Source, Step
from tallystick.recording.record import SessionRecord, as_said
from tallystick.recording.session_writer import SessionWriter

AGENT = "run"
VARIABLE = "TALLY_SESSION"
"""What names the session to hooks of agents below it: theirs then belong to it."""
_NOT_FOUND = 127
_NOT_STARTED = 126
_BY_SIGNAL = 128
_MOST_PROCESSES = 10_000
_MOST_EFFECTS = 5_000
_WATCH_S = 5.0
"""For how long the command waits for the watch on its folder to begin."""
_FROM_TERMINAL = (signal.SIGINT, signal.SIGQUIT)
_FORWARDED = (signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2, signal.SIGCONT)


class Ran(msgspec.Struct, frozen=True, kw_only=True):
    """How a command ended. `session` is None if it could not be recorded; `remarks` say what was not."""

    exit_code: int
    signal: str | None
    duration_ms: int
    session: SessionId | None
    processes: int
    effects: dict[str, int]
    remarks: tuple[str, ...]


class Command(msgspec.Struct, frozen=True):
    """A command that is to be run."""

    words: Sequence[str]
    cwd: Path
    environment: Mapping[str, str]


def run_command(home: Home, command: Command, *, files: bool = True, roots: Sequence[Root] = ()) -> Ran:
    """Run a command with our own terminal, recording it; it is run whether or not it can be recorded.

    Call it from the main thread: signals that reach us are handed on to the command.

    Args:
        files: look at the files of its folder before and after. roots: folders to watch meanwhile.
    """
    recording = _Recording(home, command)
    recording.begin(files=files, roots=roots)
    began = time.monotonic()
    with _signals() as to_child:
        try:
            environment = {**command.environment, VARIABLE: recording.session}
            process = subprocess.Popen(command.words, cwd=command.cwd, env=environment, close_fds=False)
        except OSError as error:
            recording.not_started(error)
            code = _NOT_STARTED
            if isinstance(error, FileNotFoundError):
                code = _NOT_FOUND
            return recording.end(code, None, began)
        to_child.start(process.pid)
        recording.watch(process.pid)
        status = process.wait()
        to_child.end()
    if status < 0:
        return recording.end(_BY_SIGNAL - status, _signal_name(-status), began)
    return recording.end(status, None, began)


class _Forwarding:
    """Hands signals on to one process; what came before its number was known is handed on when it is."""

    def __init__(self) -> None:
        self._pid: int | None = None
        self._early: list[int] = []

    def start(self, pid: int) -> None:
        self._pid = pid
        for number in self._early:
            self._send(number)

    def end(self) -> None:
        self._pid = None

    def take(self, number: int, _frame: FrameType | None) -> None:
        if number in _FROM_TERMINAL and _in_foreground():
            return
        if self._pid is None:
            self._early.append(number)
        else:
            self._send(number)

    def _send(self, number: int) -> None:
        if self._pid is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._pid, number)


@contextlib.contextmanager
def _signals() -> Iterator[_Forwarding]:
    """While this holds, signals go to the process that is given to what is yielded, and not to us.

    What is typed at a terminal reaches the command by itself, as it is in the foreground with us.
    """
    forwarding = _Forwarding()
    before = {number: signal.signal(number, forwarding.take) for number in (*_FROM_TERMINAL, *_FORWARDED)}
    try:
        yield forwarding
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _in_foreground() -> bool:
    for descriptor in (0, 1, 2):
        with contextlib.suppress(OSError):
            return os.tcgetpgrp(descriptor) == os.getpgrp()
    return False


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"SIG{number}"


class _Recording:
    """The session of one command. A fault of the record becomes a remark; the command does not notice."""

    def __init__(self, home: Home, command: Command) -> None:
        self.session = uuid.uuid4().hex
        self._home = home
        self._command = command.words
        self._cwd = command.cwd
        self._parent = command.environment.get(VARIABLE)
        self._session_writer: SessionWriter | None = None
        self._record: SessionRecord | None = None
        self._before: Look | None = None
        self._remarks: list[str] = []
        self._seen: set[tuple[int, int]] = set()
        self._stop = threading.Event()
        self._watcher: threading.Thread | None = None
        self._left = 0
        self._beside: Beside | None = None

    # Beginning ------------------------------------------------------------------------------------------------------

    def begin(self, *, files: bool, roots: Sequence[Root]) -> None:
        """Open the session, look at the files, and watch the folders."""
        opening = Opening(
            session=self.session,
            agent=AGENT,
            kind=SessionKind.CHILD if self._parent is not None else SessionKind.ROOT,
            parent=Ref(session=self._parent, agent=AGENT) if self._parent is not None else None,
            source=Source.WATCH,
            ts=_now(),
            values=as_said({"personal.cwd": str(self._cwd), "content.args": list(self._command)}),
        )
        with self._noting():
            self._session_writer = SessionWriter(self._home)
            self._record = self._session_writer.open(opening)
        watch = self._watch_beside(roots)
        if files and self._record is not None:
            self._before = look(self._cwd, leave_out=self._home.folder)
        if self._beside is not None:
            self._beside.wait(_WATCH_S)
            if self._before is not None:
                watch.learn({self._absolute(path): state for path, state in self._before.files.items()})
        adopt_orphans()
        self._tree = ProcessTree()

    def _watch_beside(self, roots: Sequence[Root]) -> Watch:
        """Watch the folders in a thread of its own; anyone who of our descendants has a file open may be named."""
        watch = Watch(roots, leave_out=left_out(self._home), holders=Holders(os.getpid()))
        if roots and self._session_writer is not None and self._record is not None:
            self._beside = Beside(self._session_writer, self._record, watch)
            self._beside.start()
        return watch

    def _absolute(self, path: str) -> str:
        return f"{str(self._cwd).rstrip('/')}/{path}"

    def watch(self, pid: int) -> None:
        """Follow the processes that the command starts, in a thread of its own."""
        if self._record is None:
            return
        with self._noting():
            self._saw(self._tree.begin(pid, self._command))
        self._watcher = threading.Thread(target=self._follow, name="tallystick-run", daemon=True)
        self._watcher.start()

    def _follow(self) -> None:
        tree = self._tree
        while True:
            with self._noting():
                for seen in tree.look():
                    self._saw(seen)
            if self._stop.wait(tree.pause):
                break
        self._left = tree.left()

    def _saw(self, seen: Seen) -> None:
        if seen.key not in self._seen:
            if len(self._seen) >= _MOST_PROCESSES:
                return
            self._seen.add(seen.key)
        meta: dict[str, Json] = {"action": "start", "pid": seen.pid}
        if seen.parent is not None:
            meta["ppid"] = seen.parent[0]
        within = None
        if seen.parent is not None:
            within = Ref(_process_id(seen.parent))
        # When it was seen: what systems say of a process's beginning is off by up to a second.
        step = self._step("process", meta, {"content.args": list(seen.args)}, _process_id(seen.key))
        self._add(replace(step, ts=_now(), within=within))

    # Ending ---------------------------------------------------------------------------------------------------------

    def not_started(self, error: OSError) -> None:
        """The command could not be started at all."""
        self._remarks.append(f"{self._command[0]}: {error.strerror or error}")
        with self._noting():
            values: dict[str, Json] = {"content.error": f"{self._command[0]}: {error.strerror or error}"}
            self._add(self._step("warning", {"action": "start", "errno": error.errno}, values))

    def end(self, exit_code: int, signal_name: str | None, began: float) -> Ran:
        """Record what the command did and how it ended."""
        duration_ms = round((time.monotonic() - began) * 1000)
        self._stop.set()
        if self._watcher is not None:
            self._watcher.join()
        counts: dict[str, int] = {}
        if self._beside is not None:
            told = self._beside.stop()
        else:
            told = {}
        if self._beside is not None:
            self._remarks += self._beside.counts.remarks
        with self._noting():
            counts = self._record_effects(told)
            self._record_exit(exit_code, signal_name, duration_ms)
        with self._noting():
            if self._session_writer is not None:
                self._session_writer.close()
        return Ran(
            exit_code=exit_code,
            signal=signal_name,
            duration_ms=duration_ms,
            session=self._record.sid if self._record is not None else None,
            processes=len(self._seen),
            effects=counts,
            remarks=tuple(self._remarks),
        )

    def _record_effects(self, told: Mapping[str, FileEffect]) -> dict[str, int]:
        """Record the differences at the end that were not reported when they happened; return counts by kind."""
        if self._before is None:
            return {}
        found, is_cut = effects(self._cwd, self._before, leave_out=self._home.folder)
        counts: dict[str, int] = {}
        for effect in found:
            counts[effect.kind.value] = counts.get(effect.kind.value, 0) + 1
        untold = [effect for effect in found if not _is_told(effect, told.get(self._absolute(effect.path)))]
        for effect in untold[:_MOST_EFFECTS]:
            meta, values = _effect_members(effect, self._absolute(effect.path))
            self._add(self._step("file_effect", meta, values, f"file/{effect.path}"))
        if is_cut or len(untold) > _MOST_EFFECTS:
            more = max(len(untold) - _MOST_EFFECTS, 0)
            self._add(self._step("gap", {"reason": "too-many-files", "files": more}, {}))
            self._remarks.append("there are more files than are looked at: see the gap in the record")
        return counts

    def _record_exit(self, exit_code: int, signal_name: str | None, duration_ms: int) -> None:
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        meta: dict[str, Json] = {
            "action": "exit",
            "exit_code": exit_code,
            "success": exit_code == 0,
            "duration_ms": duration_ms,
            "cpu_ms": round((used.ru_utime + used.ru_stime) * 1000),
        }
        if signal_name is not None:
            meta["signal"] = signal_name
        if self._left:
            meta["left_running"] = self._left
        self._add(replace(self._step("process", meta, {}, "exit"), ts=_now()))
        if len(self._seen) >= _MOST_PROCESSES:
            self._add(self._step("gap", {"reason": "too-many-processes"}, {}))
        end = self._step("session_end", {"status": "completed" if exit_code == 0 else "failed"}, {})
        self._add(replace(end, ts=_now()))

    # Recording ------------------------------------------------------------------------------------------------------

    def _step(self, kind: str, meta: dict[str, Json], values: dict[str, Json], source_id: str | None = None) -> Step:
        return Step(
            session=self.session,
            type=kind,
            source=Source.WATCH,
            source_id=source_id,
            meta=as_said(meta),
            values=as_said(values),
        )

    def _add(self, step: Step) -> None:
        if self._session_writer is not None and self._record is not None:
            self._session_writer.add_to(self._record, step)

    @contextlib.contextmanager
    def _noting(self) -> Iterator[None]:
        try:
            yield
        except (TallystickError, OSError) as error:
            if str(error) not in self._remarks:
                self._remarks.append(str(error))


_KINDS = {Kind.CREATED: EffectKind.CREATE, Kind.CHANGED: EffectKind.MODIFY, Kind.DELETED: EffectKind.DELETE}


def _is_told(effect: Effect, told: FileEffect | None) -> bool:
    """Whether the last effect that was seen on a path says already what there is in the end."""
    if told is None:
        return False
    if effect.after is None:
        return told.kind is EffectKind.DELETE or (told.kind is EffectKind.RENAME and told.old_path is not None)
    if told.kind is EffectKind.DELETE or told.size_bytes != effect.after.size:
        return False
    return None in (told.digest, effect.after.digest) or told.digest == f"sha256:{effect.after.digest}"


def _effect_members(effect: Effect, path: str) -> tuple[dict[str, Json], dict[str, Json]]:
    """What is different about a file, in the words of `ingest.watch`."""
    meta: dict[str, Json] = {"effect": _KINDS[effect.kind].value, "process": UNKNOWN, "seen": "look"}
    if effect.after is not None:
        meta["bytes"] = effect.after.size
    return meta, {
        "content.path": path,
        "content.digest": _digest(effect.after),
        "content.before": _digest(effect.before),
    }


def _digest(state: FileState | None) -> str | None:
    if state is not None and state.digest is not None:
        return f"sha256:{state.digest}"
    return None


def _process_id(key: tuple[int, int]) -> str:
    return f"process/{key[0]}/{key[1]}"


def _now() -> str:
    return datetime.now(UTC).isoformat()
