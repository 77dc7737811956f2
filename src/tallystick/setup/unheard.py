"""Sessions of agents that run without our hooks: the file of one grows, and no hook spoke of it.

Owns when that is certain enough to be said. A session that began before its agent's hooks were installed is left alone, and
so is a file that someone copied. Must not know what is done about it, nor what is in the files.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path

import msgspec

from tallystick.capture.discover import first_time, read_head
from tallystick.capture.grown import Written
from tallystick.catalog.agents import AGENTS
from tallystick.errors import SourceError
from tallystick.live.heard import Spoke

_GRACE_SECONDS = 6.0
"""For so long after a file was written a hook may still speak."""
_COVERED_SECONDS = 3600.0
"""After a hook has spoken, a session may write for so long without another word: a long answer, a call that takes long."""
_FORGOTTEN_SECONDS = 300.0
_SLACK_SECONDS = 60.0
_MOST = 256
_SURE_CHARACTERS = 8
_SINCE_BOOT = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)

Recorded = Callable[[str, Path], bool]
"""Whether the session of an agent's file is recorded while it runs in another way than by hooks."""


class _Grown(msgspec.Struct):
    """A file that was written, and of which no hook spoke."""

    agent: str
    seen: float
    size: int
    is_new: bool
    """The session began since files were looked at."""
    has_grown: bool = False


class Unheard:
    """The files of one user."""

    def __init__(self, user: Path, spoke: Callable[[], Sequence[Spoke]], recorded: Recorded) -> None:
        self._written = Written(user)
        self._spoke = spoke
        self._recorded = recorded
        self._grown: dict[Path, _Grown] = {}

    def look(self, installed: Mapping[str, float], *, since: float, now: float) -> dict[str, Path]:
        """The agents that work unheard, each with a file that shows it.

        Args:
            installed: the agents that have our hooks, and since when. since: when was looked last. All in seconds since 1970.
        """
        spoke = self._spoke()
        for agent, at in installed.items():
            facts = AGENTS.get(agent)
            if facts is not None and facts.hooks is not None and facts.hooks.names_its_history:
                for path, status in self._written.since(facts.own_history, since):
                    self._saw(_Grown(agent, now, status.st_size, is_new=False), path, max(at, 0.0), since)
        return dict(self._judged(spoke, now))

    def _saw(self, grown: _Grown, path: Path, installed: float, since: float) -> None:
        known = self._grown.get(path)
        if known is not None:
            known.has_grown = known.has_grown or grown.size > known.size
            return
        began = _began(path)
        booted = time.time() - time.clock_gettime(_SINCE_BOOT)
        if began is not None and (began >= installed or booted > installed) and len(self._grown) < _MOST:
            grown.is_new = began >= since - _SLACK_SECONDS
            self._grown[path] = grown

    def _judged(self, spoke: Sequence[Spoke], now: float) -> Iterator[tuple[str, Path]]:
        for path, grown in list(self._grown.items()):
            is_certain = now - grown.seen >= _GRACE_SECONDS and (grown.is_new or grown.has_grown)
            is_covered = _is_covered(grown, path, spoke)
            if is_certain or is_covered or now - grown.seen > _FORGOTTEN_SECONDS:
                del self._grown[path]
            if is_certain and not is_covered and not self._recorded(grown.agent, path):
                yield grown.agent, path


def _is_covered(grown: _Grown, path: Path, spoke: Sequence[Spoke]) -> bool:
    """Whether a hook spoke of a file's session lately."""
    since = grown.seen - _COVERED_SECONDS
    known = [one for one in spoke if one.agent == grown.agent and one.at >= since]
    if any(one.transcript == str(path) or _is_named(one.session, str(path), names_in(path)) for one in known):
        return True
    head = _head(path).decode("utf-8", "replace")  # of a sub-agent's file, which has the id inside
    return any(_is_named(one.session, head, ()) for one in known)


def _is_named(session: str, text: str, names: Sequence[str]) -> bool:
    """Whether a text has the id of a session; a short one may be anywhere by chance."""
    return session in names or (len(session) >= _SURE_CHARACTERS and session in text)


def names_in(path: Path) -> tuple[str, ...]:
    """What in a path may be the id of its session."""
    return (path.stem, path.parent.name, *_ID.findall(path.name))


_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def _head(path: Path) -> bytes:
    try:
        return read_head(path)
    except SourceError:
        return b""


def _began(path: Path) -> float | None:
    """When the session of a file began, as it says itself; None: it does not."""
    try:
        return datetime.fromisoformat(first_time(_head(path))).timestamp()
    except ValueError:
        return None
