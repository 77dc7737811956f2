"""What changed in the instructions that agents load by themselves since a person last saw them, and who wrote it.

Owns the file `instructions/seen.json` and the texts beside it: for each file the version that counts as seen and the one that
was reported last. Seen is what was there when a file was first met, what its user committed, and what was reported and
acknowledged. Works in the thread that reads the files: no hook waits for it. Must not know which files are instructions,
nor how changes are reported. Source: decision 0088.
"""

from __future__ import annotations

import contextlib
import difflib
import threading
from collections.abc import Iterable
from hashlib import sha256
from itertools import islice

import msgspec

from tallystick.capture.own_commits import last_commit
from tallystick.display.text import counted
from tallystick.errors import JournalError, TallystickError
from tallystick.graph.alerts import AlertFilter, list_alerts
from tallystick.graph.graph import Graph, GraphError, Mode
from tallystick.graph.resources import Named, versions_of
from tallystick.journal.durable import replace_file
from tallystick.journal.home import Home
from tallystick.journal.opening import read_whole
from tallystick.policy.alert import CHANGED_INSTRUCTIONS
from tallystick.sessions.configuration import INSTRUCTIONS, SKILLS, Author, By, Given
from tallystick.workspace.indexing import refresh_index

_MOST_FILES = 200
_MOST_KNOWN = 2000
_LARGEST = 256 << 10
"""Of a larger file no text is kept: that it changed is reported, and not how."""
_MOST_LINES = 4000
_MOST_DIFF = 8000


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """What is new in a file. `diff` is empty where no text was kept; lines are counted where there is one."""

    added: int = 0
    removed: int = 0
    diff: str = ""

    def __str__(self) -> str:
        if not self.diff:
            return "what it held before was not kept"
        return f"{counted(self.added, 'line')} added, {self.removed} removed"


class InstructionNews(msgspec.Struct, frozen=True, kw_only=True):
    """A file of instructions that is not as its user saw it, and who wrote it."""

    path: str
    name: str
    digest: str
    author: Author
    change: Change

    @property
    def writer(self) -> str:
        """Who wrote it, in words."""
        return _WRITERS[self.author.by].format(self.author.step)


_WRITERS = {
    By.SESSION: "written in {}",
    By.DOWNLOAD: "downloaded in {}",
    By.COMMIT: "committed by another author, or by a recorded session",
    By.OUTSIDE: "written outside of any recorded session",
    By.UNKNOWN: "written by a call that is not in the index yet, or by no one on record",
}


class _Known(msgspec.Struct, omit_defaults=True):
    """A file: digests of the version that counts as seen, and of the last one that was reported."""

    seen: str
    told: str | None = None


class InstructionChanges:
    """What is known of the instructions of all agents here. Safe for several threads."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._folder = home.instructions
        self._lock = threading.Lock()
        self._files: dict[str, _Known] | None = None
        self._saved = b""

    def has_news(self, given: Iterable[Given]) -> bool:
        """Whether a file is neither as it was seen nor as it was reported."""
        with self._lock:
            known = self._load()
            return any(_is_news(known, one) for one in texts_of(given))

    def look(self, given: Iterable[Given]) -> tuple[InstructionNews, ...]:
        """What is new in the files that an agent loads. Never raises for what stands there."""
        texts = texts_of(given)
        with contextlib.ExitStack() as stack:
            graph = None
            if self.has_news(texts):
                with contextlib.suppress(TallystickError):
                    refresh_index(self._home)  # what the user acknowledged counts
                with contextlib.suppress(GraphError):
                    graph = stack.enter_context(Graph(self._home.graph, Mode.READ))
            with self._lock:
                known = self._load()
                found = tuple(news for one in texts if (news := self._looked_at(known, one, graph)) is not None)
                self._save()
        return found

    def told(self, news: InstructionNews) -> bool:
        """It is reported now; whether that is the first time for this version."""
        with self._lock:
            one = self._load().get(news.path)
            if one is None or news.digest in (one.seen, one.told):
                return False
            one.told = news.digest
            self._save()
            return True

    def _looked_at(self, known: dict[str, _Known], given: Given, graph: Graph | None) -> InstructionNews | None:
        path, digest = str(given.path), sha256(given.data).hexdigest()
        one = known.get(path)
        if one is not None and digest in (one.seen, one.told):
            return None
        self._keep(digest, given.data)
        if one is None:
            known[path] = _Known(seen=digest)
            return None
        if one.told is not None and _is_acknowledged(graph, path):
            one.seen, one.told = one.told, None
        if _is_of_the_user(given, graph):
            one.seen, one.told = digest, None
        if digest == one.seen:
            return None
        author = given.author or Author(by=By.UNKNOWN)
        change = self._change(one.seen, given.data)
        return InstructionNews(path=path, name=given.name, digest=digest, author=author, change=change)

    # Texts ------------------------------------------------------------------------------------------------------------

    def _change(self, seen: str, data: bytes) -> Change:
        try:
            before = (self._folder / seen).read_bytes()
        except OSError:
            return Change()
        old, new = _lines(before), _lines(data)
        if old is None or new is None:
            return Change()
        lines = list(difflib.unified_diff(old, new, "before", "now", lineterm="", n=1))
        return Change(
            added=sum(line.startswith("+") for line in lines[2:]),
            removed=sum(line.startswith("-") for line in lines[2:]),
            diff="\n".join(lines[2:])[:_MOST_DIFF],
        )

    def _keep(self, digest: str, data: bytes) -> None:
        if len(data) <= _LARGEST and not (self._folder / digest).exists():
            with contextlib.suppress(JournalError):  # without room: that it changed is reported, and not how
                self._home.make_folder(self._folder)
                replace_file(self._folder / digest, [data])

    # The file ---------------------------------------------------------------------------------------------------------

    def _load(self) -> dict[str, _Known]:
        if self._files is None:
            try:
                self._files = msgspec.json.decode(read_whole(self._folder / "seen.json"), type=dict[str, _Known])
            except (OSError, JournalError, msgspec.DecodeError):
                self._files = {}
        return self._files

    def _save(self) -> None:
        files = self._load()
        for path in list(files)[: max(0, len(files) - _MOST_KNOWN)]:
            del files[path]
        data = msgspec.json.encode(files)
        with contextlib.suppress(JournalError, OSError):  # a full disk: it is known for as long as this process lives
            if self._saved != data:
                self._home.make_folder(self._folder)
                replace_file(self._folder / "seen.json", [data])
                self._saved = data
                self._forget({digest for one in files.values() for digest in (one.seen, one.told) if digest})

    def _forget(self, needed: set[str]) -> None:
        """Remove the texts that no file needs."""
        for kept in self._folder.iterdir():
            if kept.name != "seen.json" and kept.name not in needed:
                kept.unlink(missing_ok=True)


def _lines(data: bytes) -> list[str] | None:
    """The lines of a text; None of one that has too many, or is none."""
    if len(data) > _LARGEST or b"\0" in data:
        return None
    lines = data.decode("utf-8", "replace").splitlines()
    return lines if len(lines) <= _MOST_LINES else None


def texts_of(given: Iterable[Given]) -> list[Given]:
    """The texts of instructions among inputs."""
    texts = (one for one in given if one.path is not None and one.section in (INSTRUCTIONS, SKILLS) and not one.problem)
    return list(islice(texts, _MOST_FILES))


def _is_news(known: dict[str, _Known], given: Given) -> bool:
    one = known.get(str(given.path))
    return one is not None and sha256(given.data).hexdigest() not in (one.seen, one.told)


def _is_of_the_user(given: Given, graph: Graph | None) -> bool:
    """Whether the user committed it: not another author, and no recorded session."""
    commit = last_commit(str(given.path), given.data)
    if commit is None or not commit.is_own:
        return False
    made = graph is not None and versions_of(graph, Named("commit", f"commit:{commit.digest}"), limit=1)
    return not made


def _is_acknowledged(graph: Graph | None, path: str) -> bool:
    """Whether someone has said something of the newest alert of a file."""
    if graph is None:
        return False
    alerts = list_alerts(graph, AlertFilter(rule=CHANGED_INSTRUCTIONS, limit=_MOST_KNOWN))
    newest = next((alert for alert in alerts if alert.path == path), None)
    return newest is not None and newest.reviews > 0
