"""Several sessions on one clock.

Owns the order of steps of different sessions: by time, but never before what they follow from, whatever the clocks say.
Must not know where steps are read from.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator

from tallystick.model.recorded import Recorded
from tallystick.sessions.timeline import Beat, Read, Track, time_of


def merged(tracks: Iterable[tuple[Track, int]], read: Read) -> Iterator[Beat]:
    """The steps of all tracks (each with its depth) in one order.

    Within a session that of its journal. A step comes after all its parents in other sessions of the merge, and the
    first step of a session after the one that the session belongs to; what else follows is decided by time, in which no
    session goes back. A session is opened when its time comes. A parent that is nowhere, or comes only later by its own
    parents, is not waited for for ever.
    """
    return _Merge(tracks, read).beats()


class _Stream:
    """One session on its way."""

    __slots__ = ("depth", "head", "order", "steps", "time", "track")

    def __init__(self, track: Track, depth: int, order: int) -> None:
        self.track, self.depth, self.order = track, depth, order
        self.time = track.started or ""
        self.steps: Iterator[Recorded] | None = None
        self.head: Recorded | None = None


class _Merge:
    def __init__(self, tracks: Iterable[tuple[Track, int]], read: Read) -> None:
        self._read = read
        self._streams: dict[str, _Stream] = {}
        for order, (track, depth) in enumerate(tracks):
            self._streams.setdefault(track.session, _Stream(track, depth, order))
        self._ready = [(stream.time, stream.order, stream) for stream in self._streams.values()]
        heapq.heapify(self._ready)
        self._waiting: dict[tuple[str, str], list[_Stream]] = {}
        self._given: dict[str, set[int]] = {session: set() for session in self._streams}
        self._has_others = len(self._streams) > 1

    def beats(self) -> Iterator[Beat]:
        while self._ready or self._waiting:
            if not self._ready:
                self._give_way()
            stream = heapq.heappop(self._ready)[2]
            if stream.steps is None:
                stream.steps = iter(self._read(stream.track))
                self._advance(stream)
                continue
            step = stream.head
            if step is None:
                continue
            parent = self._missing(stream, step)
            if parent is not None:
                self._waiting.setdefault(parent, []).append(stream)
                continue
            yield Beat(step, stream.track, stream.depth)
            if self._has_others:
                self._note(stream.track.session, step.hash)
            self._advance(stream)

    def _advance(self, stream: _Stream) -> None:
        """Take the next step of a session and put the session in its place. At its end, let go who waits for it."""
        if stream.steps is not None:
            stream.head = next(stream.steps, None)
        else:
            stream.head = None
        if stream.head is None:
            session = stream.track.session
            for key in [key for key in self._waiting if key[0] == session]:
                self._free(key)
            del self._given[session]
            return
        stream.time = max(stream.time, time_of(stream.head))
        heapq.heappush(self._ready, (stream.time, stream.order, stream))

    def _note(self, session: str, digest: str) -> None:
        self._given[session].add(_short(digest))
        self._free((session, digest))

    def _free(self, key: tuple[str, str]) -> None:
        for stream in self._waiting.pop(key, ()):
            heapq.heappush(self._ready, (stream.time, stream.order, stream))

    def _missing(self, stream: _Stream, step: Recorded) -> tuple[str, str] | None:
        """A parent in another session that has not been given yet, and may still come."""
        for parent in step.parents:
            session, mark, digest = parent.rpartition("#")
            if mark and not self._is_past(session, digest):
                return session, digest
        track = stream.track
        if step.n or track.parent is None or track.hangs_on is None or self._is_past(track.parent, track.hangs_on):
            return None
        return track.parent, track.hangs_on

    def _is_past(self, session: str, digest: str) -> bool:
        """Whether a step was given, or will never be: its session is at its end, or not among these."""
        given = self._given.get(session)
        return given is None or _short(digest) in given

    def _give_way(self) -> None:
        """All wait for one another: let the oldest go, as if its parent had been given."""
        key = min(self._waiting, key=lambda key: min((stream.time, stream.order) for stream in self._waiting[key]))
        self._given[key[0]].add(_short(key[1]))
        self._free(key)


def _short(digest: str) -> int:
    """Enough of a hash to know it again: a million of them are to be kept."""
    try:
        return int(digest[:15], 16)
    except ValueError:
        return -1
