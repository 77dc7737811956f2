"""The states of the families that called lately, read on to where their journals are.

Owns how long a call waits for that, which is not long: a longer history is read in a thread of its own, and until it is
read the state is one of a part of it. Owns when a state is kept for the next recorder. Must not know what follows from a
state.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import NamedTuple

from tallystick.capture.quick_switches import quick_switches
from tallystick.guard.family_reader import FamilyReader
from tallystick.guard.session_families import SessionFamilies
from tallystick.guard.snapshots import Snapshots
from tallystick.journal.home import Home
from tallystick.state.families import Family
from tallystick.state.family_state import FamilyState
from tallystick.state.reducer import Knowledge

_LOG = logging.getLogger(__name__)
_MOST_FAMILIES = 64
_PATIENCE_S = 0.1
"""So long a call waits for the history of its own session, and for those of others that are live."""
_AT_LEAST = 64
"""So many steps are read for a call, however long that takes."""
_SLICE_S = 0.05
_PAUSE_S = 0.001
"""A history is read in slices: between them it is looked for one that was erased, and for the end."""
_WORTH_STEPS = 100
"""A state is kept again after so many steps: reading fewer takes no longer than loading it."""
_KEEP_AGAIN_S = 30.0


class Standing(NamedTuple):
    """What a family has done, and whether that is all of it."""

    state: FamilyState
    is_whole: bool


class _Held:
    """A family that is in memory."""

    def __init__(self, reader: FamilyReader, erased: str) -> None:
        self.reader = reader
        self.erased = erased
        """What was erased last when its state was begun."""
        self.kept_steps = 0
        """How many steps its reader had taken in when it was kept last."""
        self.kept_at = float("-inf")
        self.is_behind = False
        """Its history is being read by the thread for that."""
        self._heard = reader.state.heard
        self._may_taint = self._heard.may_taint

    @property
    def is_to_be_kept(self) -> bool:
        """Whether reading it again would take longer than loading it."""
        return self.reader.steps - self.kept_steps >= _WORTH_STEPS

    @property
    def may_taint(self) -> bool:
        """Whether anything that it wrote may be other than clean. Of each state it is found out once."""
        heard = self.reader.state.heard
        if heard is not self._heard:
            self._heard, self._may_taint = heard, heard.may_taint
        return self._may_taint


class FamilyStates:
    """The states of one store's families. What is public holds the lock that is given."""

    def __init__(
        self,
        home: Home,
        families: SessionFamilies,
        known: Callable[[Family], Knowledge],
        snapshots: Snapshots,
        lock: threading.RLock,
    ) -> None:
        """`known` gives what is known besides the steps of a family."""
        self._home = home
        self._families = families
        self._known = known
        self._snapshots = snapshots
        self._lock = lock
        self._erased = ""
        """What was erased last when it was looked at last: no state here was begun before that."""
        self._held: OrderedDict[Family, _Held] = OrderedDict()
        self._left: OrderedDict[Family, _Held] = OrderedDict()
        """Those that were in memory, and are to be kept in a quiet moment."""
        self._worker: threading.Thread | None = None
        self._is_closed = False

    # Asked about a call ---------------------------------------------------------------------------------------------

    def standing(self, family: Family, own: str | None = None) -> Standing:
        """What a family has done by now. `own` is the agent's own id of the session that asks."""
        with self._lock:
            self._forget_erased()
            held = self._of(family)
            self._read_on(family, held, time.monotonic() + _PATIENCE_S, own)
            return Standing(held.reader.state, not held.is_behind)

    def read_to(self, family: Family) -> dict[str, int]:
        """How many entries of each of its journals were read, of a family that is in memory."""
        with self._lock:
            held = self._held.get(family)
            if held is None:
                return {}
            return {sid: at.n for sid, at in held.reader.positions.items()}

    def read_all(self, family: Family) -> None:
        """Read all of a family's history, however long that takes."""
        with self._lock:
            held = self._of(family)
            if not held.is_behind:
                held.reader.follow(self._families.journals(family))

    def change(self, family: Family, change: Callable[[FamilyState], FamilyState]) -> FamilyState:
        """What a family has done, with something that no journal tells; of one that is still being read, only for now."""
        with self._lock:
            held = self._of(family)
            changed = change(held.reader.state)
            if not held.is_behind:
                held.reader.state = changed
            return changed

    def others(self, family: Family) -> Iterator[tuple[Family, FamilyState]]:
        """What the other families that are in memory have done, as far as it was read."""
        with self._lock:
            found = [(other, held.reader.state) for other, held in self._held.items() if other != family]
        yield from found

    def tainted(self, family: Family) -> list[FamilyState]:
        """The same, of those only that may have written what is not clean."""
        with self._lock:
            return [held.reader.state for other, held in self._held.items() if held.may_taint and other != family]

    def is_read(self, family: Family | None) -> bool:
        """Whether a family is in memory, with all of its history."""
        with self._lock:
            return family is not None and family in self._held and not self._held[family].is_behind

    def catch_up(self, family: Family) -> None:
        """Read on in the journals of the other families that are in memory."""
        until = time.monotonic() + _PATIENCE_S
        with self._lock:
            for other, held in list(self._held.items()):
                if other == family or not held.reader.may_have_more(self._families.journals(other)):
                    continue
                if time.monotonic() < until:
                    self._read_on(other, held, until)

    def _of(self, family: Family) -> _Held:
        held = self._held.pop(family, None) or self._left.pop(family, None) or self._begun(family)
        self._held[family] = held
        while len(self._held) > _MOST_FAMILIES:
            other, old = self._held.popitem(last=False)
            if old.is_to_be_kept:
                self._left[other] = old
        while len(self._left) > _MOST_FAMILIES:
            self._left.popitem(last=False)
        return held

    def _begun(self, family: Family) -> _Held:
        """A family that is not in memory, as it was kept, or from the beginning."""
        erased = self._snapshots.mark()
        journals = {journal.start.sid: journal.path for journal in self._families.journals(family)}
        snapshot = self._snapshots.load(family, journals) if journals else None
        known = self._known(family)
        if snapshot is None:
            return _Held(FamilyReader(self._home, known), erased)
        return _Held(FamilyReader(self._home, known, snapshot.state, dict(snapshot.positions)), erased)

    def _forget_erased(self) -> None:
        """States that may hold what was erased are made again."""
        mark = self._snapshots.mark()
        if mark == self._erased:
            return
        self._erased = mark
        for table in (self._held, self._left):
            for family in [family for family, held in table.items() if held.erased != mark]:
                del table[family]

    # Reading --------------------------------------------------------------------------------------------------------

    def _read_on(self, family: Family, held: _Held, until: float, own: str | None = None) -> None:
        if held.is_behind:
            return
        least = held.reader.steps + _AT_LEAST
        if not held.reader.follow(self._families.journals(family), until, own, least):
            held.is_behind = True
            self._start_worker()

    def _start_worker(self) -> None:
        if self._worker is None and not self._is_closed:
            self._worker = threading.Thread(target=self._catch_all_up, name="tallystick-history", daemon=True)
            self._worker.start()

    def _catch_all_up(self) -> None:
        """What the thread does: read histories, one after another, a slice at a time."""
        with quick_switches():
            self._catch_up_by_slices()

    def _catch_up_by_slices(self) -> None:
        while True:
            with self._lock:
                behind = next(((family, held) for family, held in self._held.items() if held.is_behind), None)
                if behind is None or self._is_closed:
                    self._worker = None
                    return
                family, held = behind
                journals = self._families.journals(family)
            try:
                is_done = held.reader.follow(journals, time.monotonic() + _SLICE_S)
            except Exception:  # the next call begins again
                _LOG.exception("the history of a session could not be read")
                with self._lock:
                    self._held.pop(family, None)
                continue
            with self._lock:
                held.is_behind = not is_done
            time.sleep(_PAUSE_S)

    # Keeping --------------------------------------------------------------------------------------------------------

    def _to_be_kept(self) -> list[tuple[Family, _Held]]:
        return [(family, held) for family, held in (*self._left.items(), *self._held.items()) if held.is_to_be_kept]

    def _due(self) -> list[tuple[Family, _Held]]:
        """Those of which all is read, and none was kept a moment ago."""
        now = time.monotonic()
        return [one for one in self._to_be_kept() if not one[1].is_behind and now - one[1].kept_at >= _KEEP_AGAIN_S]

    @property
    def is_due(self) -> bool:
        """Whether a state is to be kept for the next recorder."""
        with self._lock:
            return bool(self._due())

    def keep(self) -> None:
        """Keep the states that have changed much."""
        with self._lock:
            found = self._due()
        for family, held in found:
            self._keep(family, held)

    def _keep(self, family: Family, held: _Held) -> None:
        with self._lock:
            read = held.reader.read()
            held.kept_steps, held.kept_at = read.steps, time.monotonic()
            self._left.pop(family, None)
        self._snapshots.keep(family, read.state, read.positions, held.erased)

    def close(self) -> None:
        """Keep what is worth it, also a part of a history, and read no further."""
        with self._lock:
            self._is_closed = True
            found = self._to_be_kept()
        for family, held in found:
            self._keep(family, held)
