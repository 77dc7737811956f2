"""Watching folders: what happens to the files below them, as values.

Owns the order of things: an event, or a look, says where something is different, differences become effects, storms become
counts. Nothing is read but names, sizes, times, and, for digests, small files outside sensitive folders. Must not know what
is recorded, nor which agent works there.
"""

from __future__ import annotations

import os
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec

from tallystick.capture.processes import Holders
from tallystick.capture.watch_effects import MOST_READ_BYTES, Paired, Times, digest_of, pair
from tallystick.capture.watch_notify import ADDED, MODIFIED, Notify, Stopping, Told, is_watchable
from tallystick.capture.watch_storm import MOST_EFFECTS, Storm, WatchGap
from tallystick.capture.watch_tree import Difference, Entry, Root, Tree
from tallystick.capture.workspace import FileState
from tallystick.errors import SourceError
from tallystick.model.effect import EffectKind, FileEffect

_STORM_EVENTS = 4_000
"""So many events at once may be more than the system's queue has held (16,384 on Linux): everything is looked at again."""
_QUIET_S = 0.5
_RESTING = 10
"""Comparing everything takes at most one part in so many of the time."""
_WAIT_S = 1.0
_AGAIN_S = 1.0
"""A file that keeps changing is reported once in so many seconds."""
_GAP_S = 60.0
"""The same fault is reported once in so many seconds, with its number."""


class Batch(msgspec.Struct, frozen=True):
    """What was seen at one time, in the order in which it happened as well as that is known."""

    effects: tuple[FileEffect, ...] = ()
    gaps: tuple[WatchGap, ...] = ()


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


class Clocks(NamedTuple):
    """What a watch reads the time from."""

    now_ms: Callable[[], int] = _now_ms
    """Milliseconds since 1970."""
    monotonic: Callable[[], float] = time.monotonic


class _Seen(NamedTuple):
    """The result of one look."""

    found: list[Difference]
    """Differences that events led to."""
    looked: list[Difference]
    """Differences that comparing everything found."""
    told: Mapping[str, set[int]]
    """What events say, by path."""


class Watch:
    """Some folders while they are watched. Call `begin`, then take `batches` until it is stopped."""

    def __init__(
        self,
        roots: Sequence[Root],
        *,
        leave_out: Iterable[str] = (),
        holders: Holders | None = None,
        clocks: Clocks | None = None,
    ) -> None:
        """Watch `roots`, absolute paths of folders; nothing below `leave_out`.

        Args:
            holders: who is asked which process has a file open.
        """
        self.tree = Tree(roots, leave_out=leave_out)
        self._roots = [root.path for root in roots]
        self._now_ms, self._clock = clocks or Clocks()
        self._notify = Notify(self._roots, clock=self._clock)
        self._holders = holders
        self._began_ms = 0
        self._new: set[str] = set()
        """Folders that the system does not watch yet."""
        self._look_at: float | None = None
        """When to compare everything; None: there is no need."""
        self._told_at: dict[str, float] = {}
        self._held: dict[str, float] = {}
        self._gap_at: dict[str, float] = {}
        self._untold: Counter[str] = Counter()
        self._storm = Storm()
        self._look_s = 0.0
        """How long it took to compare everything, the last time."""
        self._said: set[str] = set()
        self._learnt: Mapping[str, FileState] = {}

    def begin(self) -> None:
        """Learn what is there, and have the system watch it.

        Raises:
            SourceError: the system gives no watches.
        """
        self._began_ms = self._now_ms()
        for root in self._roots:
            for _ in self.tree.look(root):
                pass
        self._notify.start(self.tree.folders)
        came = self._look_everywhere()  # between both
        self._new = {item.path for item in came if _is_new_folder(item)}

    def learn(self, states: Mapping[str, FileState]) -> None:
        """Take over the digests of files that someone read already, by path; from any thread."""
        self._learnt = states

    def batches(self, stop: threading.Event) -> Iterator[Batch]:
        """Effects as they happen, until `stop` is set; at the end everything is compared once more."""
        holders = self._holders
        stopping = Stopping(stop.is_set, holders.tick if holders is not None else lambda: None)
        try:
            while not stop.is_set():
                batch = self._step(self._notify.take(self._patience(), stopping))
                if batch is not None:
                    yield batch
            rest = self._notify.take(0.001, Stopping(lambda: False)).paths
            untold = [WatchGap(reason=reason, events=count) for reason, count in self._untold.items()]
            seen = _Seen(self._look_at_paths(rest), self._look_everywhere(), rest)
            last = self._batch(seen, untold, is_last=True)
            if last is not None:
                yield last
        finally:
            self._notify.close()

    # One step -------------------------------------------------------------------------------------------------------

    def _patience(self) -> float:
        """How many seconds to wait for events before something else is due."""
        now = self._clock()
        due = [*self._held.values(), now + _WAIT_S]
        if self._new or self._notify.is_broken:
            due.append(now + self._notify.wait_s)
        due += [at for at in (self._look_at, self._storm.due) if at is not None]
        return max(0.025, min(due) - now)

    def _step(self, told: Told) -> Batch | None:
        self._take_learnt()
        if told.fault is not None:
            gaps = self._fault("not-told", told.fault)
        else:
            gaps = []
        if len(told.paths) >= _STORM_EVENTS and self._look_at is None:
            self._look_at = self._clock() + max(_QUIET_S, self._look_s * _RESTING)
        found = self._look_at_paths(told.paths)
        more, looked = self._restart_if_due(gaps)
        found += self._look_at_paths(more)
        if self._look_at is not None and self._clock() >= self._look_at:
            self._look_at = None
            looked += self._look_everywhere()
        return self._batch(_Seen(found, looked, told.paths | more), gaps)

    def _take_learnt(self) -> None:
        states, self._learnt = self._learnt, {}
        for path, state in states.items():
            entry = self.tree.entry(path)
            if entry is None or state.digest is None or entry.digest is not None:
                continue
            changed_ns = max(entry.content_ns, entry.status_ns)
            if (entry.inode, entry.size, changed_ns) == (state.inode, state.size, state.changed_ns):
                self.tree.know(path, f"sha256:{state.digest}")

    def _look_at_paths(self, paths: Mapping[str, set[int]]) -> list[Difference]:
        return [item for path in self._worth_looking(paths) for item in self.tree.look(path)]

    def _worth_looking(self, paths: Mapping[str, set[int]]) -> list[str]:
        """The paths to look at now: a file that keeps changing waits for its turn."""
        now = self._clock()
        wanted = [path for path in paths if not self._holds_back(path, paths[path], now)]
        due = [path for path, at in self._held.items() if at <= now]
        for path in due:
            del self._held[path]
        roots = [root for root in self._roots if root not in paths]
        return sorted({*wanted, *due, *roots})

    def _holds_back(self, path: str, said: set[int], now: float) -> bool:
        last = self._told_at.get(path)
        if said != {MODIFIED} or last is None or now - last >= _AGAIN_S:
            return False
        self._held.setdefault(path, last + _AGAIN_S)
        return True

    def _restart_if_due(self, gaps: list[WatchGap]) -> tuple[dict[str, set[int]], list[Difference]]:
        """Have the system watch new folders too, or start again what failed; what was reported and missed meanwhile."""
        if not (self._new or self._notify.is_broken) or self._notify.wait_s > 0:
            return {}, []
        was_broken, new, self._new = self._notify.is_broken, self._new, set()
        try:
            rest = self._notify.start(self.tree.folders)
        except SourceError as error:
            self._new = new
            self._look_at = self._clock() + max(_WAIT_S, self._look_s * _RESTING)
            gaps += self._fault("not-watched", str(error))
            return {}, []
        if was_broken:
            return rest.paths, self._look_everywhere()
        return rest.paths, [item for path in sorted(new) for item in self.tree.look_below(path)]

    def _look_everywhere(self) -> list[Difference]:
        began = self._clock()
        found = [item for root in self._roots for item in self.tree.look_below(root)]
        self._look_s = self._clock() - began
        return found

    # What becomes of differences ------------------------------------------------------------------------------------

    def _batch(self, seen: _Seen, gaps: Sequence[WatchGap], *, is_last: bool = False) -> Batch | None:
        """What is to be said of what was seen."""
        found, looked, told = seen
        self._new |= {item.path for item in (*found, *looked) if _is_new_folder(item)}
        gaps = (*gaps, *self._cut())
        budget = [MOST_READ_BYTES]
        brief = self._brief(told, found)
        paired = pair([*found, *looked], brief, read=lambda path, entry: self._digest(path, entry, budget))
        if self._storm.is_one(len(paired), self._clock()):
            self._storm.count(paired)
            paired = []
        gaps = (*gaps, *self._storm.told(self._clock(), at_once=is_last))
        if not paired and not gaps:
            return None
        by_look = {item.path for item in looked} - told.keys() - self._held.keys()
        return Batch(tuple(self._effects(paired, by_look, budget)), tuple(gaps))

    def _brief(self, told: Mapping[str, set[int]], found: Iterable[Difference]) -> list[str]:
        """Paths that came and are gone again, so that there is no difference."""
        different = {item.path for item in found}
        return [
            path
            for path, said in told.items()
            if ADDED in said and path not in different and self._is_ours(path) and not os.path.lexists(path)
        ]

    def _is_ours(self, path: str) -> bool:
        return self.tree.root_of(path) is not None and (path.rpartition("/")[0] or "/") in self.tree.folders

    def _digest(self, path: str, entry: Entry, budget: list[int]) -> str | None:
        root = self.tree.root_of(path)
        if root is None or root.is_sensitive or not entry.is_file:
            return None
        digest = entry.digest or digest_of(path, entry, budget)
        if digest is not None:
            self.tree.know(path, digest)
        return digest

    def _effects(self, paired: Sequence[Paired], by_look: set[str], budget: list[int]) -> list[FileEffect]:
        if paired and self._holders is not None:
            self._holders.stir()
        times = Times(self._began_ms, self._now_ms())
        effects = [self._effect(item, times.of(item), budget, by_look=item.path in by_look) for item in paired]
        now = self._clock()
        if len(self._told_at) > MOST_EFFECTS:
            self._told_at = {path: at for path, at in self._told_at.items() if now - at < _AGAIN_S}
        self._told_at |= dict.fromkeys((item.path for item in paired), now)
        return sorted(effects, key=lambda effect: effect.at_ms)

    def _effect(self, item: Paired, at_ms: int, budget: list[int], *, by_look: bool) -> FileEffect:
        root = self.tree.root_of(item.path)
        entry = item.after or item.before
        is_writing = item.kind in (EffectKind.CREATE, EffectKind.MODIFY) and not item.is_metadata
        return FileEffect(
            kind=item.kind,
            path=item.path,
            at_ms=at_ms,
            old_path=item.old_path,
            size_bytes=item.after.size if item.after is not None and not item.after.is_folder else None,
            digest=self._digest(item.path, item.after, budget) if item.after is not None else None,
            before=item.before.digest if item.before is not None else None,
            is_folder=entry is not None and entry.is_folder,
            is_link=entry is not None and not (entry.is_folder or entry.is_file),
            is_sensitive=root is not None and root.is_sensitive,
            is_metadata=item.is_metadata,
            is_replaced=item.is_replaced,
            is_brief=entry is None,
            by_look=by_look,
            holder=self._holders.of(item.path) if self._holders is not None and is_writing else None,
        )

    # What is not reported
    # -----------------------------------------------------------------------------------------------

    def _fault(self, reason: str, detail: str) -> list[WatchGap]:
        """A gap for a fault, at most one a minute for each kind; the others are counted and told later."""
        self._untold[reason] += 1
        now = self._clock()
        if now - self._gap_at.get(reason, float("-inf")) < _GAP_S:
            return []
        self._gap_at[reason] = now
        return [WatchGap(reason=reason, events=self._untold.pop(reason), detail=detail)]

    def _cut(self) -> list[WatchGap]:
        """Say once of each what is not watched at all."""
        found = []
        if self.tree.is_cut and "cut" not in self._said:
            self._said.add("cut")
            found.append(WatchGap(reason="too-many-files", detail="there are more files or folders than are looked at"))
        unwatched = [folder for folder in self._new if not is_watchable(folder)]
        if unwatched and "names" not in self._said:
            self._said.add("names")
            found.append(WatchGap(reason="not-watched", detail="folders whose names are no UTF-8 are only looked at"))
        return found


def _is_new_folder(difference: Difference) -> bool:
    """Whether a folder came, or another one took the place of one."""
    before, after = difference.before, difference.after
    return after is not None and after.is_folder and (before is None or before.inode != after.inode)
