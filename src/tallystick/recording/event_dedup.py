"""The reports of each event in one journal: by whom, when, and the result of a repeated one (format.md 13.3).

Owns the choice between known, revised, corroborated, extended and contradicted, and the search for the other half of an event
whose source gives no id. Must not write: record.py does.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Mapping
from itertools import islice

import msgspec

from tallystick.model.recorded import Recorded
from tallystick.model.step import Json, Step
from tallystick.recording.corroboration import (
    Corroboration,
    Told,
    Waiting,
    corroboration,
    ends_otherwise,
    is_unnamed,
    join_key,
    outranks,
    said_exactly,
    seconds_apart,
    told_already,
    told_by,
)
from tallystick.recording.entry_index import KnownSteps

_MOST_APART_S = 600.0
"""Two sources that tell of one event do so within ten minutes: an equal prompt of yesterday is another one."""
_MOST_CANDIDATES = 64
_LOOK_BACK = 4096
"""How many entries back an event is looked for that a source without ids tells after another source."""


class Outcome(enum.StrEnum):
    """What became of an event."""

    RECORDED = "recorded"
    KNOWN = "known"
    """The same source said the same before."""
    REVISED = "revised"
    """The same source said otherwise before: recorded as a revision."""
    CORROBORATED = "corroborated"
    """Another source said the same: it will be in the next sighting."""
    EXTENDED = "extended"
    """Another source said the same and more: what it adds stands beside."""
    CONTRADICTED = "contradicted"
    """Another source said otherwise: both stand."""


class Judgement(msgspec.Struct, frozen=True):
    """What is to become of an event that entry `n` tells already.

    `same`: values that need not be written again. `is_contradicted`: a source that revises what another said does not only
    say more.
    """

    outcome: Outcome
    n: int
    same: frozenset[str] = frozenset()
    is_contradicted: bool = False


class EventIndex:
    """The events of one journal. Fed with its entries in order, as they are read or appended."""

    def __init__(self, read: Callable[[int], Recorded | None]) -> None:
        """Args: read: gives an entry unchanged on disk, blobs loaded; None if it is not there any more."""
        self.known = KnownSteps()
        self._read = read
        self._unnamed = Waiting()
        self._named: Waiting | None = None

    # Learning -------------------------------------------------------------------------------------------------------

    def needs_blobs(self, source_id: str | None) -> bool:
        """Whether `take` wants the large values of an entry with this source id."""
        return is_unnamed(source_id) or self._named is not None

    def take(self, n: int, source_id: str | None, tells: int | None, step: Step | Recorded) -> None:
        """Entry `n`, which the KnownSteps have, told an event; `tells` is the entry that it revises or corroborates."""
        if tells is not None:
            self._met(tells)
        elif source_id is not None:
            waiting = self._unnamed if is_unnamed(source_id) else self._named
            if waiting is not None:
                _wait(waiting, n, step)

    def take_sighting(self, step: Recorded) -> None:
        """A sighting that is in the journal."""
        source, seen = step.meta.get("source"), step.member("steps")
        for item in seen if isinstance(seen, list) and isinstance(source, str) else ():
            n = None
            if isinstance(item, dict):
                n = item.get("n")
            if type(n) is int and 0 <= n < step.n:
                name = item.get("source_id")
                self.see(n, str(source), name if isinstance(name, str) else None)

    def see(self, n: int, source: str, source_id: str | None) -> None:
        """`source`, which calls it `source_id`, has seen the event of entry `n`, and said nothing new."""
        self.known.see(n, source, source_id)
        self._met(n)

    def _met(self, n: int) -> None:
        """An event without id, or one whose source gives ids, has found its other half, and waits no longer."""
        first = self.known.first(n)
        self._unnamed.remove(first)
        if self._named is not None and any(map(is_unnamed, self.known.names(first))):
            self._named.remove(first)

    # Finding --------------------------------------------------------------------------------------------------------

    def find(self, step: Step) -> int | None:
        """The newest entry that tells the event of `step`: by its id, else as the other half of an event without."""
        if step.source_id is None:
            return None
        n = self.known.find(step.source_id)
        if n is not None:
            return n
        return self._other_half(step)

    def _other_half(self, step: Step) -> int | None:
        if not is_unnamed(step.source_id) and not len(self._unnamed):
            return None
        key = join_key(step, step.values)
        if key is None:
            return None
        if is_unnamed(step.source_id):
            waiting = self._waiting_named()
        else:
            waiting = self._unnamed
        found = self._nearest(step, waiting, waiting.candidates(key))
        if found is None:
            return None
        waiting.remove(found)
        return self.known.reports(found)[-1]

    def _nearest(self, step: Step, waiting: Waiting, candidates: Iterable[int]) -> int | None:
        """Of the entries that say the same, the nearest in time: an agent may do the same twice, one source see it once."""
        nearest, least = None, _MOST_APART_S
        for n in islice(candidates, _MOST_CANDIDATES):
            told = [self._read(each) for each in self.known.reports(n)]
            first = told[0]
            if first is None or self._is_told_by(n, told, step.source.value):
                continue
            apart = seconds_apart(first.meta.get("ts"), step.ts)
            if apart is None:
                return n if nearest is None else nearest
            if abs(apart) < least or (nearest is None and abs(apart) <= least):
                nearest, least = n, abs(apart)
            if apart > _MOST_APART_S:  # its other half is not coming any more
                waiting.remove(n)
            if apart < 0:  # all others are later still
                break
        return nearest

    def _is_told_by(self, n: int, told: list[Recorded | None], source: str) -> bool:
        is_seen = self.known.is_seen(n, source)
        return is_seen or any(each is None or each.meta.get("source") == source for each in told)

    def _waiting_named(self) -> Waiting:
        """What sources with ids told of late; gathered when a source without is first heard."""
        if self._named is None:
            self._named = Waiting()
            for n in range(max(len(self.known) - _LOOK_BACK, 0), len(self.known)):
                source_id = self.known.id_of(n)
                is_first = self.known.first(n) == n and source_id is not None and not is_unnamed(source_id)
                step = None
                if is_first:
                    step = self._read(n)
                if step is not None:
                    _wait(self._named, n, step)
        return self._named

    # Judging --------------------------------------------------------------------------------------------------------

    def judge(self, step: Step, n: int, exactly: bytes) -> Judgement:
        """What is to become of `step`, of whose event entry `n` is the newest report.

        Args:
            step: with its values as they would be sealed. exactly: what `said_exactly` gives for it.
        """
        reports = [self._read(each) for each in reversed(self.known.reports(n))]
        whole = [each for each in reports if each is not None]
        if len(whole) < len(reports):  # the file was rewritten meanwhile: nothing can be compared
            return Judgement(Outcome.KNOWN, n)
        told = told_by(step, step.values, step.raw)
        own = next((each for each in whole if each.meta.get("source") == step.source.value), None)
        if own is None and step.type == "tool_result" and self._revises(step.source.value, told, whole):
            differs = corroboration(self.told(whole[0]), told) is Corroboration.OTHER
            return Judgement(Outcome.REVISED, whole[-1].n, is_contradicted=differs)
        if own is None:
            return self._second_witness(step.source.value, told, whole)
        is_same = own.withheld or (self._repeats(own, told) if "same" in own.meta else said_exactly(own) == exactly)
        return Judgement(Outcome.KNOWN if is_same else Outcome.REVISED, own.n)

    def _revises(self, source: str, told: Told, reports: list[Recorded]) -> bool:
        """Whether a source outranks those that reported a result, and says otherwise how it ended."""
        if not outranks(source, (each.meta.get("source") for each in reports)):
            return False
        return not reports[0].withheld and ends_otherwise(self.told(reports[0]), told)

    def _second_witness(self, source: str, told: Told, reports: list[Recorded]) -> Judgement:
        for each in reports:
            if each.withheld or corroboration(self.told(each), told) is Corroboration.SAME:
                is_seen = self.known.is_seen(each.n, source)
                return Judgement(Outcome.KNOWN if is_seen else Outcome.CORROBORATED, reports[-1].n)
        before = self.told(reports[0])
        is_more = corroboration(before, told) is Corroboration.MORE
        if is_more:
            outcome = Outcome.EXTENDED
        else:
            outcome = Outcome.CONTRADICTED
        return Judgement(outcome, reports[0].n, told_already(before, told))

    def _repeats(self, own: Recorded, told: Told) -> bool:
        """Whether a source says again what is in its entry and, where that is the same, in the one it corroborates."""
        before = self.told(own)
        return before.names() == told.names() and corroboration(before, told) is Corroboration.SAME

    def told(self, step: Recorded) -> Told:
        """What an entry says that 13.3 compares, with what it left to the one it corroborates."""
        own = told_by(step, step.values, step.raw)
        same, other = step.member("same"), step.meta.get("corroborates")
        before = None
        if isinstance(same, list) and type(other) is int and 0 <= other < step.n:
            before = self._read(other)
        if before is None:
            return own
        first = self.told(before)
        values = {name: value for name, value in first.values.items() if name in same}
        raw = {name: data for name, data in first.raw.items() if name in same}
        return msgspec.structs.replace(own, values={**values, **own.values}, raw={**raw, **own.raw})


def links(judgement: Judgement) -> Mapping[str, Json]:
    """The members by which an entry names the one that told its event before."""
    if judgement.outcome is Outcome.REVISED:
        return {"revises": judgement.n, **({"agrees": False} if judgement.is_contradicted else {})}
    agrees = {"agrees": judgement.outcome is Outcome.EXTENDED}
    if judgement.same:
        same = {"same": sorted(judgement.same)}
    else:
        same = {}
    return {"corroborates": judgement.n, **agrees, **same}


def without_same(step: Step, judgement: Judgement) -> Step:
    """A second report without the values that are the same in the first: large outputs are kept once."""
    values = {name: value for name, value in step.values.items() if name not in judgement.same}
    raw = {name: data for name, data in step.raw.items() if name not in judgement.same}
    return msgspec.structs.replace(step, values=values, raw=raw)


def _wait(waiting: Waiting, n: int, step: Step | Recorded) -> None:
    key = join_key(step, step.values)
    if key is not None:
        waiting.add(key, n)
