"""What does not fit together in a session.

Owns the comparisons: calls without results, results without calls, effects of what was denied, numbers that are missing, a
clock that goes back. What they mean is a person's to say: a session that was cut off has calls without results. Must not
know how they are shown.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

import msgspec

from tallystick.sessions.figures import Figure
from tallystick.sessions.pairing import denies, exchanges

_MOST_PLACES = 20
_PATIENCE_US = 1_000_000
"""Agents that do several things at once write them down a little out of order."""
_EFFECTS = frozenset(("file_effect", "network", "process"))


class Kind(enum.StrEnum):
    """What is odd."""

    NO_RESULT = "call without result"
    NO_CALL = "result without call"
    DENIED_RAN = "denied, and ran all the same"
    NUMBER_MISSING = "numbers missing"
    NUMBER_TWICE = "number used twice"
    CLOCK_BACK = "clock goes back"
    GAP = "gap that the recorder noted"


class Anomaly(msgspec.Struct, frozen=True):
    """A kind of oddity: how often, and at which steps, the first twenty of them."""

    kind: Kind
    count: int
    steps: tuple[str, ...]


def anomalies(figures: Sequence[Figure]) -> tuple[Anomaly, ...]:
    """What is odd in one session, kinds in a fixed order."""
    found: dict[Kind, list[Figure]] = {}
    for kind, figure in (*_unpaired(figures), *_ran_though_denied(figures), *_numbers(figures), *_clock(figures)):
        found.setdefault(kind, []).append(figure)
    gaps = [figure for figure in figures if figure.type == "gap"]
    if gaps:
        found[Kind.GAP] = gaps
    return tuple(
        Anomaly(kind, len(found[kind]), tuple(figure.place for figure in found[kind][:_MOST_PLACES]))
        for kind in Kind
        if kind in found
    )


def together(all_of_them: Iterable[tuple[Anomaly, ...]]) -> tuple[Anomaly, ...]:
    """The oddities of several sessions."""
    found: dict[Kind, Anomaly] = {}
    for each in (anomaly for of_one in all_of_them for anomaly in of_one):
        before = found.get(each.kind, Anomaly(each.kind, 0, ()))
        found[each.kind] = Anomaly(each.kind, before.count + each.count, (*before.steps, *each.steps)[:_MOST_PLACES])
    return tuple(found[kind] for kind in Kind if kind in found)


def _unpaired(figures: Sequence[Figure]) -> Iterator[tuple[Kind, Figure]]:
    """Calls and results without the other. What was refused may have either alone."""
    for exchange in exchanges(figures):
        if exchange.is_refused:
            continue
        if exchange.call is None:
            yield Kind.NO_CALL, exchange.results[0]
        elif not exchange.results:
            yield Kind.NO_RESULT, exchange.call


def _ran_though_denied(figures: Sequence[Figure]) -> Iterator[tuple[Kind, Figure]]:
    """What came of calls that a check or a policy denied before."""
    denied: set[str] = set()
    calls: dict[int, str] = {}
    for figure in figures:
        if figure.corr is not None and denies(figure):
            denied.add(figure.corr)
        if figure.type == "tool_call" and figure.corr is not None:
            calls[figure.n] = figure.corr
        elif figure.type == "tool_result" and figure.corr in denied:
            if not figure.is_refusal and not figure.is_failure:
                yield Kind.DENIED_RAN, figure
        elif figure.type in _EFFECTS and figure.parent is not None and calls.get(figure.parent) in denied:
            yield Kind.DENIED_RAN, figure


def _numbers(figures: Sequence[Figure]) -> Iterator[tuple[Kind, Figure]]:
    """Holes in the source's own numbering of its events, at the event after the hole. One event may be several steps."""
    known: set[int] = set()
    last = None
    for figure in figures:
        if figure.seq is None or figure.seq == last:
            continue
        if figure.seq in known:
            yield Kind.NUMBER_TWICE, figure
        known.add(figure.seq)
        last = figure.seq
    first = {figure.seq: figure for figure in reversed(figures) if figure.seq is not None}
    ordered = sorted(known)
    for before, after in pairwise(ordered):
        if after - before > 1:
            yield Kind.NUMBER_MISSING, first[after]


def _clock(figures: Sequence[Figure]) -> Iterator[tuple[Kind, Figure]]:
    """Steps that say a time more than a second before that of the step before them."""
    latest = None
    for figure in figures:
        if figure.at_us is None:
            continue
        if latest is not None and figure.at_us < latest - _PATIENCE_US:
            yield Kind.CLOCK_BACK, figure
        latest = figure.at_us
