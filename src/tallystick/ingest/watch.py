"""Watching folders and recording what happens to the files in them: one run of the watcher.

Owns which folders are watched, the watcher's own session, and a watch that runs beside something else; and in whose
session effects are recorded: in that of an agent only if it is the one live session that works in the watched folders.
Must not know how effects are seen (`capture.watch`), nor how they are written down (`watch_steps`).
"""

from __future__ import annotations

import os
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import msgspec

from tallystick.capture.processes import Holders
from tallystick.capture.recorder import working
from tallystick.capture.watch import Batch, Watch
from tallystick.capture.watch_tree import Root
from tallystick.errors import UsageError
from tallystick.ingest.watch_steps import AGENT, Effects, Watched, now_text, watch_step
from tallystick.journal.home import Home
from tallystick.model.effect import FileEffect
from tallystick.model.ids import SessionId
from tallystick.model.step import Opening, Source
from tallystick.recording.record import SessionRecord, as_said
from tallystick.recording.session_writer import SessionWriter

SENSITIVE = (".ssh", ".aws", ".config/gcloud")
"""Folders below the home folder that are watched by name, where they are."""
_MOST_REMEMBERED = 100_000


def watched_roots(folders: Iterable[Path], user: Path, *, sensitive: bool = True) -> list[Root]:
    """The folders to watch: those that are given, and the sensitive ones of the user that are there.

    Without `sensitive` those outside the given folders are not watched; inside them they stay folders of which names alone
    are looked at.

    Raises: UsageError: one of them is not a folder.
    """
    given = list(
        dict.fromkeys(os.path.realpath(folder) for folder in folders)
    )  # what the system tells has no links in it
    for path in given:
        if not Path(path).is_dir():
            raise UsageError(f"{path} is not a folder", hint="give the folder to watch")
    names = [os.path.realpath(user / name) for name in SENSITIVE if (user / name).is_dir()]
    kept = [path for path in dict.fromkeys(names) if sensitive or any(is_within(path, root) for root in given)]
    roots = {path: Root(path, any(is_within(path, name) for name in names)) for path in given}
    return list((roots | {path: Root(path, True) for path in kept}).values())


class FolderWatch:
    """Some folders, and how they are watched."""

    def __init__(
        self,
        home: Home,
        roots: Sequence[Root],
        *,
        pid: int | None = None,
        ask: Callable[[], Iterable[Working]] | None = None,
    ) -> None:
        """Watch `roots` and record into the store `home`.

        Args:
            pid: the agent's process, whose descendants may be named. ask: which sessions are live.
        """
        self._home = home
        self._roots = roots
        self._pid = pid
        self._ask = ask or (lambda: working_now(home))

    def run(
        self,
        stop: threading.Event,
        *,
        seen: Callable[[Batch], None] = lambda _: None,
        ready: Callable[[SessionId], None] = lambda _: None,
    ) -> Watched:
        """Watch the folders and record what happens, until `stop` is set.

        Args:
            seen: is given every batch once it is recorded. ready: is called with the watcher's own session once nothing
                is missed any more.

        Raises:
            SourceError: the system gives no watches. JournalError: the store cannot be written.
        """
        counts = Watched()
        holders = None
        if self._pid is not None:
            holders = Holders(self._pid)
        watch = Watch(self._roots, leave_out=left_out(self._home), holders=holders)
        with SessionWriter(self._home) as session_writer:
            own = session_writer.open(self._opening())
            counts.session = own.sid
            watch.begin()
            ready(own.sid)
            effects = Effects(session_writer, Whose(session_writer, own, self._only_one), counts)
            for batch in watch.batches(stop):
                effects.take(batch)
                seen(batch)
            session_writer.add_to(own, watch_step("session_end", {"status": "completed"}, {}, ts=now_text()))
        return counts

    def _opening(self) -> Opening:
        paths = [root.path for root in self._roots]
        return Opening(
            session=uuid.uuid4().hex,
            agent=AGENT,
            source=Source.WATCH,
            ts=now_text(),
            meta={"pid": self._pid} if self._pid is not None else {},
            values=as_said({"personal.cwd": paths[0], "content.paths": paths}),
        )

    def _only_one(self) -> Working | None:
        return only_one(self._ask(), self._roots)


def left_out(home: Home) -> list[str]:
    """The store itself, under each name it may be met by: what is recorded must not be recorded again."""
    return [os.path.abspath(home.folder), os.path.realpath(home.folder)]  # noqa: PTH100 - both are wanted


class Beside:
    """A watch that runs in a thread beside something else, which it never disturbs: what goes wrong becomes a remark."""

    def __init__(self, session_writer: SessionWriter, record: SessionRecord, watch: Watch) -> None:
        self.counts = Watched(session=record.sid)
        self._last: dict[str, FileEffect] = {}
        self._effects = Effects(session_writer, lambda: record, self.counts, taken=self._remember)
        self._watch = watch
        self._stop = threading.Event()
        self._is_ready = threading.Event()
        self._thread = threading.Thread(target=self._run, name="tallystick-watch", daemon=True)

    def start(self) -> None:
        """Begin; `wait` until nothing is missed."""
        self._thread.start()

    def wait(self, seconds: float) -> None:
        """Wait until it has begun, but no longer than that."""
        self._is_ready.wait(seconds)

    def stop(self) -> dict[str, FileEffect]:
        """End it; the last effect on each path, as far as that was kept."""
        self._stop.set()
        if self._thread.ident is not None:
            self._thread.join()
        return self._last

    def _remember(self, effect: FileEffect) -> None:
        if len(self._last) >= _MOST_REMEMBERED:
            self._last.clear()
        if effect.old_path is not None:
            self._last[effect.old_path] = effect
        self._last[effect.path] = effect

    def _run(self) -> None:
        try:
            self._watch.begin()
            self._is_ready.set()
            for batch in self._watch.batches(self._stop):
                self._effects.take(batch)
        except Exception as error:  # a fault of ours must not end what runs beside it
            self.counts.remarks.append(f"files are not watched: {error}")
        finally:
            self._is_ready.set()


_ASK_S = 1.0


class Working(msgspec.Struct, frozen=True):
    """A live session of an agent, by the agent's own id, and the folder that it works in."""

    agent: str
    session: str
    folder: str


def working_now(home: Home) -> list[Working]:
    """The live sessions that the recorder of a store knows; none, if none runs."""
    return [Working(item["agent"], item["session"], item["folder"]) for item in working(home.folder)]


def is_within(path: str, folder: str) -> bool:
    """Whether a path is a folder or lies below it."""
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def only_one(found: Iterable[Working], roots: Sequence[Root]) -> Working | None:
    """The one live session that works in a watched folder, or None, or more than one.

    Sub-agents work in the session that started them.
    """
    folders = [root.path for root in roots if not root.is_sensitive]
    inside = [item for item in found if any(is_within(item.folder, folder) for folder in folders)]
    tops = [
        item
        for item in inside
        if not any(item.session.startswith(f"{other.session}/") for other in inside if other.agent == item.agent)
    ]
    if len(tops) == 1:
        return tops[0]
    return None


class Whose:
    """Finds the session that effects are recorded in."""

    def __init__(
        self,
        session_writer: SessionWriter,
        own: SessionRecord,
        ask: Callable[[], Working | None],
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Record into `own` where there is not one session of an agent. `ask` tells which one there is (`only_one`)."""
        self._session_writer = session_writer
        self._own = own
        self._ask = ask
        self._clock = clock
        self._asked_at = float("-inf")
        self._found: Working | None = None

    def __call__(self) -> SessionRecord:
        """The record of the session. Which ones are live is asked for once a second at most."""
        now = self._clock()
        if now - self._asked_at >= _ASK_S:
            self._asked_at = now
            self._found = self._ask()
        if self._found is not None:
            current = self._session_writer.writer.current(self._found.agent, self._found.session)
            record = self._session_writer.writer.find(self._found.agent, current)
            if record is not None and not record.journal.ended:
                return record
        return self._own
