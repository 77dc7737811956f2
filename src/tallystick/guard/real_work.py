"""How often each shipped rule stopped real work, as far as that was measured.

Owns the figures, which `python -m bench.policy --histories --write` keeps beside this module, and their sum over histories.
Must not know how histories are judged, nor who said which stop is wrong.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import msgspec

FIGURES = Path(__file__).with_name("real_work.json")
"""Figures of real histories: name → what was measured, and when. Pages and commands show these."""


class Counted(msgspec.Struct):
    """How often one rule was the first that stopped a call, and how often wrongly."""

    stops: int = 0
    sessions: int = 0
    wrong: int = 0
    unlabelled: int = 0


class RealWork(msgspec.Struct):
    """What was measured on some histories."""

    calls: int
    sessions: int
    stops: int
    wrong: int
    unlabelled: int
    sessions_stopped: int
    sessions_wrongly_stopped: int
    rules: dict[str, Counted]
    measured: str = ""
    """The day."""


class OnRealWork(msgspec.Struct, frozen=True):
    """How often one rule stopped calls of real sessions, and how often a person called that wrong."""

    calls: int
    """All that were judged, whatever they did."""
    stops: int
    wrong: int
    wrong_per_1000_calls: float


def kept() -> dict[str, RealWork]:
    """What is kept, by name."""
    return msgspec.json.decode(FIGURES.read_bytes(), type=dict[str, RealWork]) if FIGURES.exists() else {}


def keep(name: str, found: RealWork) -> None:
    """Keep the figures of some histories under a name."""
    FIGURES.write_bytes(msgspec.json.format(msgspec.json.encode({**kept(), name: found}), indent=1) + b"\n")


def calls_judged() -> int:
    """How many calls of real sessions were judged."""
    return sum(one.calls for one in kept().values())


@cache
def by_rule() -> dict[str, OnRealWork]:
    """Of each rule that ever fired: its figures over all histories."""
    found = kept()
    calls = calls_judged()
    stops: dict[str, int] = {}
    wrong: dict[str, int] = {}
    for measured in found.values():
        for name, one in measured.rules.items():
            stops[name] = stops.get(name, 0) + one.stops
            wrong[name] = wrong.get(name, 0) + one.wrong
    return {name: OnRealWork(calls, stops[name], wrong[name], round(wrong[name] * 1000 / calls, 3)) for name in stops}
