"""Sessions as they grow, with those that begin meanwhile.

Owns noticing new steps, new sessions below those that are followed, and the end. Polls, so that it works on every file
system, and survives that a journal is rewritten (an erasure does) or goes away. The index is not asked: it is someone's
who has time. Which steps are wanted is replay.py's.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

import msgspec

from tallystick.errors import TallystickError
from tallystick.journal.home import Home
from tallystick.journal.read import read_at, read_file
from tallystick.model.recorded import Recorded
from tallystick.review.replay import Asked, chosen, up_to, walk_of
from tallystick.review.replay_sources import LARGEST_LOADED, Cast, track_of
from tallystick.sessions.merging import merged
from tallystick.sessions.timeline import Beat, Below, Counts, Track

POLL_S = 0.1
_TURNS_A_LOOK = 5
_MOST_NEW = 256
"""Of so many new sessions it is asked again whether they belong to one that is followed: that one may be new, too."""
_YOUNG_S = 5.0
"""A session that was written to so shortly before may have begun after the sessions to follow were looked up."""
_TURNS_GONE = 50
"""A journal that is away for so many turns is not coming back: rewriting one takes no time at all."""


def follow_cast(
    cast: Cast, asked: Asked, *, stop: Callable[[], bool] | None = None, wait: Callable[[float], None] = time.sleep
) -> Iterator[Beat]:
    """The steps that are asked for, then those that come, in the order in which they come.

    Ends when all sessions that were named have ended, or when `stop()` says so.
    """
    beats: Iterator[Beat] = _Live(cast, stop or (lambda: False), wait).beats()
    if asked.start is not None:
        walk = walk_of(cast, asked.start)
        beats = (beat for beat in beats if walk.takes(beat.step))
    beats = up_to(beats, asked.stop, cast)
    if asked.below is not Below.INLINE:
        beats = _folded_below(beats, asked.below)
    return islice(chosen(beats, asked), asked.limit)


def _folded_below(beats: Iterator[Beat], below: Below) -> Iterator[Beat]:
    """Of sessions that belong to others only that they began, and what they came to; or nothing."""
    running: dict[str, Beat] = {}
    for beat in beats:
        if beat.depth == 0:
            yield beat
            continue
        if below is Below.HIDE:
            continue
        session = beat.track.session
        held = running.pop(session, None)
        counts = (held.folded if held is not None and held.folded is not None else Counts()).plus(beat.step)
        if held is None and beat.step.n == 0:
            yield Beat(beat.step, beat.track, beat.depth, Counts())
        now = Beat(beat.step, beat.track, beat.depth, counts)
        if beat.step.type == "session_end":
            yield now
        else:
            running[session] = now
    yield from running.values()


class _Growing:
    """A journal on its way."""

    def __init__(self, cast: Cast, track: Track, depth: int) -> None:
        self.track, self.depth = track, depth
        self._cast = cast
        self._home = cast.homes.get(track.session, cast.home)
        self._path: Path | None = cast.files.get(track.session)
        self._offset = self._inode = self._next_n = self._gone = 0
        self.has_ended = False

    def steps(self) -> Iterator[Recorded]:
        """What has come since the last time."""
        path = self._path
        if path is None:
            path = self._home.journal(self.track.session)
        try:
            status = None
            if path is not None:
                status = path.stat()
        except OSError:
            status = None
        if path is None or status is None:
            self._gone += 1
            if self._gone == _TURNS_GONE:
                self._lose("its journal is gone")
            return
        self._gone = 0
        if status.st_ino != self._inode or status.st_size < self._offset:
            self._offset, self._inode = 0, status.st_ino
        if status.st_size == self._offset:
            return
        try:
            yield from self._read(path)
        except TallystickError as error:
            self._lose(str(error))

    def _read(self, path: Path) -> Iterator[Recorded]:
        loads = self._cast.loads_blobs
        for placed in read_file(self._home, path, start=self._offset, load_blobs=loads, largest=LARGEST_LOADED):
            self._offset = placed.end
            if placed.step.n >= self._next_n:
                self._next_n = placed.step.n + 1
                self.has_ended = placed.step.type == "session_end"
                self._cast.noted(placed.step)
                yield placed.step

    def _lose(self, why: str) -> None:
        self.has_ended = True
        self._cast.fail(f"{self.track.session[:8]}: {why}")


def _written(path: Path) -> float:
    """When a file was last written to, in seconds since 1970; 0 if it is gone."""
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


class _Live:
    def __init__(self, cast: Cast, stop: Callable[[], bool], wait: Callable[[float], None]) -> None:
        self._cast = cast
        self._stop = stop
        self._wait = wait
        self._growing = {track.session: _Growing(cast, track, depth) for track, depth in cast.family()}
        self._new: dict[str, tuple[Recorded, Home]] = {}
        self._known = {home: self._old(home) for home in {cast.home, *cast.homes.values()}}

    def _old(self, home: Home) -> set[str]:
        """The sessions of a store that need not be looked at: followed already, or there since before the replay began."""
        young = time.time() - _YOUNG_S
        return {sid for sid, path in home.sessions() if sid in self._growing or _written(path) < young}

    def beats(self) -> Iterator[Beat]:
        turn = 0
        while True:
            yield from self._turn()
            is_over = all(self._growing[track.session].has_ended for track in self._cast.tops)
            if is_over or self._stop():
                if self._look():  # whatever began just before the end
                    yield from self._turn()
                return
            self._wait(POLL_S)
            turn += 1
            if turn % _TURNS_A_LOOK == 1:
                self._cast.refresh()
                self._look()

    def _turn(self) -> Iterator[Beat]:
        tracks = [(growing.track, growing.depth) for growing in self._growing.values()]
        return merged(tracks, lambda track: self._growing[track.session].steps())

    def _look(self) -> bool:
        """Take in sessions that have begun and belong to those that are followed; whether there are any."""
        for home, known in self._known.items():
            for session in home.session_ids(known):
                path = home.journal(session)
                first = None
                if path is not None:
                    first = read_at(home, path, 0)
                if first is not None:  # else it is not written yet
                    known.add(session)
                    self._new[session] = (first, home)
        found = False
        while (grown := self._grown()) is not None:  # one may belong to another that is new as well
            first, home, parent, step = grown
            del self._new[first.session]
            self._add(first, parent, step, home)
            found = True
        self._new = dict(list(self._new.items())[-_MOST_NEW:])
        return found

    def _grown(self) -> tuple[Recorded, Home, _Growing | None, str | None] | None:
        """A new session that belongs to one that is followed, or that a file which is followed holds by now."""
        for first, home in self._new.values():
            parent, step = self._parent(first)
            is_of_file = home is not self._cast.home and not first.parents and first.member("parent_source") is None
            if parent is not None or is_of_file:
                return first, home, parent, step
        return None

    def _parent(self, first: Recorded) -> tuple[_Growing | None, str | None]:
        """The session that a new one belongs to, sealed or as the agent says."""
        session, mark, digest = (first.parents[0] if first.parents else "").rpartition("#")
        if mark:
            return self._growing.get(session), digest
        claim = first.member("parent_source")
        named = None
        if isinstance(claim, dict):
            named = claim.get("session")
        agent = first.member("agent")
        for growing in self._growing.values():
            track = growing.track
            if named is not None and track.source_session == named and track.agent == agent:
                return growing, None
        return None, None

    def _add(self, first: Recorded, parent: _Growing | None, step: str | None, home: Home) -> None:
        track = track_of(first)
        if home is not self._cast.home:
            self._cast.homes[track.session] = home
        if parent is None:
            self._cast.tops.append(track)
            self._growing[track.session] = _Growing(self._cast, track, 0)
            return
        track = msgspec.structs.replace(track, parent=parent.track.session, hangs_on=step)
        self._growing[track.session] = _Growing(self._cast, track, parent.depth + 1)
        below = self._cast.children.get(parent.track.session, ())
        self._cast.children[parent.track.session] = (*below, track)
