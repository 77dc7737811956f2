"""Who wrote the texts that an agent loads by itself: a recorded call, a download, a commit, or no one on record.

Owns asking the index, then git, and that the answer for one version of one file is looked for once. Must not know which
files an agent loads, nor what follows from an answer.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections import OrderedDict
from collections.abc import Callable, Collection
from hashlib import sha256
from pathlib import Path

from msgspec.structs import replace

from tallystick.capture.tracking import content_in
from tallystick.errors import TallystickError
from tallystick.graph.authorship import version_maker
from tallystick.graph.graph import Graph
from tallystick.journal.home import Home
from tallystick.policy.world import Content
from tallystick.recording.run_config.gathered import Gathered
from tallystick.sessions.configuration import INSTRUCTIONS, SKILLS, Author, By, Given

_MOST_FILES = 256
"""Of one look; the rest are reported without an author."""
_MOST_KNOWN = 4096
_PATIENCE_S = 0.2
_LONGEST_WAIT_S = 2.0
_AGAIN_S = 0.05
_SEALED_S = 5.0
"""So long after a call its step is sealed."""

_Key = tuple[str, str]


class Authors:
    """The authors of files, as one store tells them. For one thread."""

    def __init__(
        self,
        home: Home,
        is_current: Callable[[], bool] = lambda: True,
        sleep: Callable[[float], object] = time.sleep,
        now: Callable[[], float] = time.time,
    ) -> None:
        """Ask the index of a store. is_current: whether it has all that was sealed."""
        self._home = home
        self._is_current = is_current
        self._sleep = sleep
        self._now = now
        self._known: OrderedDict[_Key, Author] = OrderedDict()

    def __call__(self, gathered: Gathered) -> Gathered:
        """What was gathered, with the author of each text that a model reads. Never raises for what is in a file."""
        wanted = [given for given in gathered.given if _is_text(given)][:_MOST_FILES]
        keys = {id(given): _key(given) for given in wanted if given.problem is None}
        self._ask({key for key in keys.values() if key not in self._known})
        unsaid = {key for key in keys.values() if key not in self._known}
        is_current = not unsaid or self._wait()
        self._ask(unsaid)  # a session that has just ended may have written it
        told = {id(given): Author(by=By.UNKNOWN) for given in wanted}
        told |= {of: self._author(key, is_current=is_current) for of, key in keys.items()}
        return replace(gathered, given=tuple(replace(one, author=told.get(id(one))) for one in gathered.given))

    def _author(self, key: _Key, *, is_current: bool) -> Author:
        known = self._known.get(key)
        if known is not None:
            return known
        found = _in_git(*key)
        if found.by is By.OUTSIDE and not (is_current and self._is_settled(key)):
            return Author(by=By.UNKNOWN)
        return found

    def _is_settled(self, key: _Key) -> bool:
        """Whether a file was changed so long ago that a call which did it is sealed."""
        try:
            return self._now() - Path(key[0]).stat().st_ctime >= _SEALED_S
        except OSError:
            return False

    def _wait(self) -> bool:
        """Wait for the index, but not for long; whether it has all."""
        waited = 0.0
        while not self._is_current():
            if waited >= _LONGEST_WAIT_S:
                return False
            self._sleep(_AGAIN_S)
            waited += _AGAIN_S
        return True

    def _ask(self, keys: Collection[_Key]) -> None:
        """Ask the index for the authors of some versions, and keep those that it has."""
        if not keys or not self._home.graph.exists():
            return
        locked = contextlib.suppress(TallystickError)  # someone has it locked, or makes it again
        with locked, Graph(self._home.graph, patience_s=_PATIENCE_S) as graph:
            for key in keys:
                author = _on_record(graph, *key)
                if author is not None:
                    self._keep(key, author)

    def _keep(self, key: _Key, author: Author) -> None:
        self._known[key] = author
        while len(self._known) > _MOST_KNOWN:
            self._known.popitem(last=False)


def _key(given: Given) -> _Key:
    """A version of a file: where it is, and what it holds."""
    return str(given.path), f"sha256:{sha256(given.data).hexdigest()}"


def _is_text(given: Given) -> bool:
    return given.path is not None and given.section in (INSTRUCTIONS, SKILLS)


def _on_record(graph: Graph, path: str, digest: str) -> Author | None:
    """The recorded call that wrote what a file holds: by the name that it is loaded by, then by where a link leads."""
    for name in dict.fromkeys((path, os.path.realpath(path))):
        try:
            modified_us = Path(name).stat().st_mtime_ns // 1000
        except OSError:
            continue
        found = version_maker(graph, name, digest, modified_us)
        if found is not None:
            by = By.SESSION
            if found.is_download:
                by = By.DOWNLOAD
            return Author(by=by, step=f"{found.session[:12]}:{found.n}")
    return None


def _in_git(path: str, digest: str) -> Author:
    """Whether the last commit holds a file as it is; else no record has it."""
    found = content_in(os.path.realpath(path), "HEAD")
    if isinstance(found, Content) and found.digest == digest:
        return Author(by=By.COMMIT)
    return Author(by=By.OUTSIDE)
