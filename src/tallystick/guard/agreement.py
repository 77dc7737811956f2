"""Recent decisions, made again from the record: the same call, the same machine, and what the journals say was done before.

Owns which decisions are made again and when, and when two of them differ. Files are not looked at again: they answer as they
did (`judgement`). A state that a decider holds, and the index as it had it open, are not used: the journals of the family are
read from their beginning, and the index is opened again. Must not know what becomes of a difference.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

import msgspec

from tallystick.errors import PolicyError, TallystickError
from tallystick.guard.decide import Decider
from tallystick.guard.differing import Compared, Difference, Outcome, answer_of, compare
from tallystick.guard.family_reader import FamilyReader
from tallystick.guard.judgement import LAG_US, Judgement, NotedMachine
from tallystick.guard.live_world import LiveWorld
from tallystick.guard.recorded_context import Before
from tallystick.guard.session_families import FamilyJournal
from tallystick.journal.home import Home
from tallystick.journal.kept_states import erasure_mark
from tallystick.journal.read import read_file
from tallystick.model.moments import microseconds
from tallystick.model.recorded import Recorded
from tallystick.policy.world import Provenance
from tallystick.state.families import Family, base_of
from tallystick.state.family_state import FamilyState
from tallystick.state.reducer import about_to
from tallystick.state.steps import moment_of

_LATE_US = 1_000_000
"""What was recorded so shortly before a call need not have been read for it: another process may have written it."""
_PATIENCE_US = 60_000_000
"""What the index does not have by then is not compared."""
_MOST_READ = 5_000
"""Steps that a family may have, to be read for this."""
_MOST_FAMILIES = 4
_MOST_LOOKED_AT = 256
"""Entries after what was read, among which that of the call is."""
_MOST_PATHS = 20_000
"""Paths that histories ask about, before they are forgotten and read again."""
_AT_ONCE = 4
_SLICE_S = 0.05


class _Place(NamedTuple):
    """The step that a call is."""

    sid: str
    n: int
    at_us: int


class Agreement:
    """Makes the recent decisions of one decider again. For one thread at a time; another one may decide meanwhile."""

    def __init__(self, home: Home, decider: Decider) -> None:
        self._home = home
        self._decider = decider
        self._asked: set[str] = set()
        self._looked: dict[Family, set[str]] = {}
        """Files that the histories of families were read with, as they were when they were read here."""
        self._family: Family = ("", "")
        self._record = decider.record_again(self._asked.add, self._look)
        self._readers: OrderedDict[Family, FamilyReader] = OrderedDict()
        self._erased = erasure_mark(home)

    def _look(self, path: str) -> None:
        self._looked.setdefault(self._family, set()).add(path)

    def work(self, now_us: int) -> list[Compared]:
        """Make some decisions again, the oldest first. It stops soon, and goes on with the next call of it."""
        self._forget()
        until = time.monotonic() + _SLICE_S
        found: list[Compared] = []
        for _ in range(_AT_ONCE):
            if not self._decider.has_old_judgement or time.monotonic() > until:
                break
            judged = self._decider.judgements[0]
            try:
                compared = self._compared(judged, now_us, until)
            except Exception:  # once is enough
                self._drop(judged)
                raise
            if compared is None:
                break
            self._drop(judged)
            found.append(compared)
        return found

    def _drop(self, judged: Judgement) -> None:
        waiting = self._decider.judgements
        if waiting and waiting[0] is judged:
            waiting.popleft()

    def _forget(self) -> None:
        if len(self._asked) > _MOST_PATHS:
            self._asked.clear()
            self._looked.clear()
            self._readers.clear()
        mark = erasure_mark(self._home)
        if mark != self._erased:
            self._erased = mark
            self._readers.clear()
            self._decider.judgements.clear()

    def _compared(self, judged: Judgement, now_us: int, until: float) -> Compared | None:
        """What making a decision again shows; None: not yet."""
        if sum(judged.read.values()) > _MOST_READ:
            return Compared(outcome=Outcome.UNKNOWN)
        family, reader = self._reader(judged)
        self._family = family
        journals = self._record.journals(family)
        reader.is_due = _was_there(judged)
        if not reader.follow(journals, until):
            return None
        place = _place_of(self._home, judged, reader, journals)
        if place is None or not self._record.index.has_step(place.sid, place.n):
            is_late = now_us - judged.at_us > _PATIENCE_US
            return Compared(outcome=Outcome.UNKNOWN) if is_late else None
        return self._with(judged, family, reader, place)

    def _reader(self, judged: Judgement) -> tuple[Family, FamilyReader]:
        """What has read the journals of a family as far as they were at a judgement, or less."""
        family, fresh = self._record.family_reader(judged.call)
        known = self._readers.pop(family, None)
        if known is None or any(at.n > judged.read.get(sid, 0) for sid, at in known.positions.items()):
            known = fresh
            self._looked.pop(family, None)
        self._readers[family] = known
        while len(self._readers) > _MOST_FAMILIES:
            self._readers.popitem(last=False)
        return family, known

    def _with(self, judged: Judgement, family: Family, reader: FamilyReader, place: _Place) -> Compared:
        call, then = judged.call, judged.decision
        world = _Again(judged, self._before(judged, family, reader, place))
        try:
            now = self._decider.decide_in(world, call)
        except PolicyError:
            return Compared(outcome=Outcome.OTHER_RULES)
        if self._decider.policies.settings != judged.settings:
            return Compared(outcome=Outcome.OTHER_RULES)
        outcome = compare(answer_of(then), answer_of(now))
        if outcome is not Outcome.DIFFERENT:
            return Compared(outcome=outcome)
        since_us = judged.at_us - LAG_US
        has_changed = any(self._has_changed(path, since_us) for path in world.asked | self._asked)
        if has_changed or self._looked.get(family) or self._is_anyone_s(world, reader.state, place):
            return Compared(outcome=Outcome.CHANGED)
        named = msgspec.structs.replace(call, args=None, cwd=None)
        return Compared(
            outcome=outcome, difference=Difference(call=named, sid=place.sid, n=place.n, then=then, now=now)
        )

    def _before(self, judged: Judgement, family: Family, reader: FamilyReader, place: _Place) -> Before:
        """What the record says was there before a call: no change of a file that came with it or later."""
        state = about_to(reader.state, judged.call.call_id)
        return self._record.of_state(family, state, min(judged.at_us, place.at_us))

    def _is_anyone_s(self, world: _Again, state: FamilyState, place: _Place) -> bool:
        """Whether two sessions wrote the same bytes to a file, or to one it was made from: live it is the second one's."""
        used: set[str] = set()
        left = list(world.asked)
        while left:
            path = left.pop()
            made = state.files.made(path)
            if path not in used and made is not None:
                left += made.sources
            used.add(path)
        return any(self._record.index.is_written_again(path, place.at_us) for path in used)

    def _has_changed(self, path: str, since_us: int) -> bool:
        last = self._record.index.last_change(path)
        return last is not None and last.at_us >= since_us


class _Again(NotedMachine):
    """The machine as it was, and the record as it is to be found."""

    def __init__(self, judged: Judgement, before: Before) -> None:
        super().__init__(LiveWorld(before), judged.machine)
        self.asked: set[str] = set()
        """Paths that the record was asked about."""

    def provenance(self, path: str) -> Provenance:
        """What the record says of a path."""
        self.asked.add(path)
        return super().provenance(path)


def _was_there(judged: Judgement) -> Callable[[Recorded], bool]:
    """Whether an entry had been read for a judgement, or should have been."""
    until_us = judged.at_us - _LATE_US

    def was_there(step: Recorded) -> bool:
        if step.n < judged.read.get(step.session, 0):
            return True
        recorded = microseconds(step.meta.get("recorded"))
        return recorded is not None and recorded < until_us

    return was_there


def _place_of(home: Home, judged: Judgement, reader: FamilyReader, journals: Sequence[FamilyJournal]) -> _Place | None:
    """The step that a call is: one of those that follow what was read for it, or on record already by a transcript."""
    call = judged.call
    pending = reader.state.pending.get(call.call_id or "")
    if pending is not None:
        return _Place(pending.session, int(pending.step.rpartition(":")[2]), pending.at_us)
    own = base_of(call.session)
    for journal in journals:
        if base_of(journal.start.source) == own:
            for step in _following(home, journal, reader):
                if step.type == "tool_call" and _is_of(step, judged):
                    return _Place(step.session, step.n, moment_of(step))
    return None


def _following(home: Home, journal: FamilyJournal, reader: FamilyReader) -> Iterator[Recorded]:
    position = reader.positions.get(journal.start.sid)
    try:
        placed = read_file(home, journal.path, start=0 if position is None else position.end)
        yield from (one.step for one in islice(placed, _MOST_LOOKED_AT))
    except TallystickError:  # what is no line of ours
        return


def _is_of(step: Recorded, judged: Judgement) -> bool:
    """Whether a step is the call: by the agent's id of it; without one, the first of its tool."""
    if judged.call.call_id is not None:
        return bool(step.member("corr") == judged.call.call_id)
    tool = step.member("tool")
    return isinstance(tool, str) and tool in judged.call.tool
