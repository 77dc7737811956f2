"""The second witness: the transcripts of live sessions, followed while their agents write them (DESIGN 2, format.md 13).

Owns which files are followed and when how much of them is read, so that no one who waits for an answer waits for this.
What a file's events become is transcript_events.py's.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path

from tallystick.agents import Adapter, Shape
from tallystick.capture.discover import read_head
from tallystick.catalog.agents import AGENTS
from tallystick.errors import SourceError, TallystickError
from tallystick.ingest.file_followers import FollowedLines, FollowedWhole
from tallystick.ingest.transcript_events import Followed, Refresh, TranscriptFile
from tallystick.recording.session_writer import SessionWriter
from tallystick.workspace.indexing import refresh_index

_LOG = logging.getLogger(__name__)
_SLICE_S = 0.002
"""How long other threads wait at most for one that reads on: the time after which it lets go of everything."""
_PATIENCE_S = 0.02
"""How long `poll` reads itself before it leaves the rest to the thread."""
_LOOK_FOR_CHILDREN_S = 1.0
_MOST_FILES = 256
_IDLE_S = 1800.0
"""After how long without anything new a file is let go of, so that memory does not grow with sessions that never end."""
_CHILDREN: Mapping[str, tuple[str, ...]] = {
    name: histories.subagents
    for name, facts in AGENTS.items()
    for histories in facts.histories.values()
    if histories.subagents
}
"""By agent: where the files of sub-agents lie, seen from the folder of their session's file."""


class TranscriptFollower:
    """Follows transcripts and records what they say. Safe to use from several threads."""

    def __init__(
        self,
        session_writer: SessionWriter,
        adapters: Mapping[str, Adapter],
        *,
        clock: Callable[[], float] = time.monotonic,
        refresh: Refresh | None = None,
    ) -> None:
        """`refresh` brings the index up to date; None: this process does it."""
        self._session_writer = session_writer
        self._adapters = adapters
        self._clock = clock
        self._refresh = refresh or partial(refresh_index, session_writer.home)
        self._lock = threading.Lock()
        self._files: dict[str, Followed] = {}
        self._looked_at: dict[str, float] = {}
        self._news = 0
        self._told_news = 0
        self._wake = threading.Event()
        self._stopped = False
        self._thread: threading.Thread | None = None
        self._error: TallystickError | None = None

    # What is followed -----------------------------------------------------------------------------------------------

    def watch(self, agent: str, session: str, path: str) -> None:
        """Follow a transcript from now on: the file that `agent` writes `session` to. It need not be there yet.

        An agent of which we read no files, and a path that is none, is passed over.
        """
        if not path.startswith("/") or "\0" in path:
            return
        with self._lock:
            self._watch(agent, session, Path(path))

    def _watch(self, agent: str, session: str, path: Path, *, parent: str | None = None) -> None:
        known = self._files.get(str(path))
        if known is not None:
            known.sessions.add(session)
            self._files[str(path)] = self._files.pop(str(path))  # the last one named is the last one given up
            return
        adapter = self._adapter(agent, path)
        if adapter is None:
            return
        kind = FollowedLines if adapter.SHAPE is Shape.LINES else FollowedWhole
        file = TranscriptFile(adapter, session, path, parent)
        self._files[str(path)] = kind(self._session_writer, file, self._refresh, self._clock)
        while len(self._files) > _MOST_FILES:
            self._end(next(iter(self._files.values())))

    def _adapter(self, agent: str, path: Path) -> Adapter | None:
        """The agent's adapter; of several for one agent, the one that knows the file."""
        own = [each for name, each in self._adapters.items() if name == agent or name == f"{agent}-legacy"]
        if len(own) > 1:
            with suppress(SourceError):
                head = read_head(path)
                own = [each for each in own if each.recognises(str(path), head)] or own
        if own:
            return own[0]
        return None

    def _watch_children(self) -> None:
        """Follow the files of sub-agents too, which no hook may have named."""
        now = self._clock()
        for path, file in list(self._files.items()):
            if file.parent is None and now - self._looked_at.get(path, 0.0) >= _LOOK_FOR_CHILDREN_S:
                self._looked_at[path] = now
                for child in _children(file):
                    self._watch(file.adapter.NAME, file.session, child, parent=path)

    def _of(self, agent: str | None, session: str | None) -> list[Followed]:
        """The files of a session, its own first; all of them, if none is named."""
        files = self._files.values()
        chosen = [
            file
            for file in files
            if (agent is None or file.agent == agent)
            and (session is None or any(_is_of(session, each) or _is_of(each, session) for each in file.sessions))
        ]
        return sorted(chosen, key=lambda file: file.parent is not None)

    # Reading --------------------------------------------------------------------------------------------------------

    def poll(self, agent: str | None = None, session: str | None = None) -> bool:
        """Record what is new in all files, or in one session's; whether there was anything, or there is more to come.

        Returns soon: what takes longer than 20 ms is read on in another thread.

        Raises:
            JournalError: the store cannot be written; what was not recorded is recorded by a later `poll`.
        """
        self._raise()
        with self._lock:
            self._watch_children()
            if session is None:
                self._end_idle()
            files = self._of(agent, session)
            is_more = not self._read_on(files, self._after(_PATIENCE_S), is_quick=True)
            news, self._told_news = self._news > self._told_news, self._news
        if is_more or any(file.waits_for_thread for file in files):
            self._start_thread()
            return True
        return news

    def _read_on(self, files: list[Followed], is_time: Callable[[], bool], *, is_quick: bool) -> bool:
        """Read and record until nothing is new (True) or it is time to stop."""
        for file in files:
            while True:
                if is_time():
                    return False
                if is_quick and file.is_slow:
                    break
                recorded = file.advance()
                if recorded is None:
                    break
                self._news += recorded
        return True

    def _after(self, seconds: float) -> Callable[[], bool]:
        until = self._clock() + seconds
        return lambda: self._clock() >= until

    def settle(self, timeout: float = 30.0) -> bool:
        """Wait until everything that is in the files now is recorded; False if that takes too long."""
        until = self._clock() + timeout
        while self.poll():
            if self._clock() > until:
                return False
            time.sleep(_SLICE_S)
        return True

    # The thread that reads on ---------------------------------------------------------------------------------------

    def _start_thread(self) -> None:
        self._wake.set()
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="tallystick-witness", daemon=True)
            self._thread.start()

    def _run(self) -> None:
        while not self._stopped:
            self._wake.wait()
            self._wake.clear()
            try:
                self._read_all()
            except TallystickError as error:
                self._error = error
            except Exception:  # a thread that is gone would never read anything again
                _LOG.exception("transcripts could not be read on")

    def _read_all(self) -> None:
        """Read on in all files, letting go of everything again and again."""
        is_more = True
        while is_more and not self._stopped:
            for file in self._snapshot():
                file.prepare()
            with self._lock:
                is_more = not self._read_on(self._of(None, None), self._after(_SLICE_S), is_quick=True)
            time.sleep(_SLICE_S)  # a lock is not fair: anyone who waits for it gets it only while no one wants it

    def _snapshot(self) -> list[Followed]:
        with self._lock:
            return list(self._files.values())

    def _raise(self) -> None:
        error, self._error = self._error, None
        if error is not None:
            raise error

    # Ending ---------------------------------------------------------------------------------------------------------

    def finish(self, agent: str, session: str) -> None:
        """Record what is left in a session's files, and note in the ledger how far they were read: an import skips them.

        The files are followed no longer; a hook that names one again has it followed again.

        Raises:
            JournalError: the store cannot be written.
        """
        with self._lock:
            self._watch_children()
            for file in self._of(agent, session):
                if all(_is_of(each, session) for each in file.sessions):
                    self._end(file)
                else:
                    file.sessions.discard(session)
            self._told_news = self._news

    def _end_idle(self) -> None:
        """Let go of one file that has been quiet for long. A hook that names it again has it followed again."""
        idle = next((file for file in self._files.values() if file.quiet_s > _IDLE_S), None)
        if idle is not None:
            self._end(idle)

    def _end(self, file: Followed) -> None:
        try:
            file.prepare()
            self._read_on([file], lambda: False, is_quick=False)
            file.finish()
        except TallystickError:
            raise  # it is followed on, and its end tried again
        except Exception:  # one file that no one can read must not keep all the others from being read
            _LOG.exception("the end of a transcript of %s could not be read", file.agent)
        self._files.pop(str(file.path), None)
        self._looked_at.pop(str(file.path), None)

    def close(self) -> None:
        """Finish all files. Nothing is followed any more."""
        self._stopped = True
        self._wake.set()
        if self._thread is not None:
            self._thread.join()
        with self._lock:
            self._watch_children()
            for file in self._of(None, None):
                self._end(file)


def _children(file: Followed) -> Iterator[Path]:
    for pattern in _CHILDREN.get(file.adapter.NAME, ()):
        named = pattern.replace("{stem}", _literal(file.path.stem)).replace("{session}", _literal(file.session))
        folder = file.path.parent
        while named.startswith("../"):
            folder, named = folder.parent, named.removeprefix("../")
        with suppress(OSError, ValueError):
            yield from sorted(path for path in folder.glob(named) if path.is_file())


def _is_of(session: str, root: str) -> bool:
    """Whether a session is `root`, a continuation of it, or one of its sub-agents' (docs/format.md 13.1)."""
    return session == root or session.startswith((f"{root}/", f"{root}~"))


def _literal(name: str) -> str:
    """A name as a pattern that matches nothing else."""
    return "".join(f"[{char}]" if char in "*?[" else char for char in name)
