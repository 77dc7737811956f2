"""Watching folders and recording what happens to the files in them: one run of the watcher.

Owns which folders are watched, the watcher's own session, and a watch that runs beside something else. Must not know how
effects are seen (`capture.watch`), nor how they are written down (`watch_steps`).
"""

from __future__ import annotations

import os
import threading
import uuid
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from tallystick.capture.watch import Batch, Watch
from tallystick.capture.watch_holders import Holders
from tallystick.capture.watch_tree import Root
from tallystick.errors import UsageError
from tallystick.ingest.watch_attribution import Whose, Working, is_within, only_one, working_now
from tallystick.ingest.watch_steps import AGENT, Effects, Watched, now_text, watch_step
from tallystick.journal.home import Home
from tallystick.model.effect import FileEffect
from tallystick.model.ids import SessionId
from tallystick.model.step import Opening, Source
from tallystick.recording.record import SessionRecord, sealable
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
            values=sealable({"personal.cwd": paths[0], "content.paths": paths}),
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
