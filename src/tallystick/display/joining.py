"""The steps of sessions joined into acts, in the order of time: one act for a call with all that was said of it.

Owns which steps are about one call (its result, decisions, permissions, checks, alerts), and the order: each act at its
best-known time, acts of the same time in the order of the journal. Holds a bounded number of acts. Must not know how an act
is shown, nor where steps are read from.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator
from itertools import chain

import msgspec

from tallystick.model.recorded import Recorded
from tallystick.model.step import Json

WINDOW = 512
"""So many acts are held back, for one that happened earlier and is recorded later."""

LIVE = frozenset(("hook", "acp", "sdk", "watch", "otel"))
"""Sources that report what they see as it happens: the moment of recording is that of happening."""

_BEGIN = frozenset(("tool_call", "subagent_start"))
_END = frozenset(("tool_result", "subagent_end"))
_ABOUT = frozenset(
    (
        *("permission", "decision", "bash_security", "security_static", "security_triage", "security_supervisor"),
        *("security_decision", "alert", "system", "sighting", "file_effect", "process", "network", "recovery"),
    )
)
"""Types of steps that belong to the call that they name."""
_MOST_CALLS = 10_000


class Act(msgspec.Struct, gc=False):
    """Something that was done: the step that began it first, then those that say more of it, as they were recorded.

    `at` is when it happened, in the record's notation; `is_guessed`: no source says so, it is that of the step before it, or
    when it was recorded. `tag` is what the caller gave with the first step.
    """

    steps: list[Recorded]
    at: str
    is_guessed: bool = False
    tag: object = None

    @property
    def lead(self) -> Recorded:
        """The step that it is named by."""
        return self.steps[0]

    @property
    def is_call(self) -> bool:
        """Whether it is a call of a tool."""
        return self.lead.type in ("tool_call", "tool_result")


def joined(steps: Iterable[Recorded]) -> Iterator[Act]:
    """The acts that some steps come to."""
    joiner = Joiner()
    return chain(chain.from_iterable(map(joiner.feed, steps)), joiner.end())


def told_time(step: Recorded) -> str:
    """When a step happened, if a source says so: at least one that reports as it happens. Else empty."""
    ts = step.meta.get("ts")
    if isinstance(ts, str):
        return ts
    recorded = step.meta.get("recorded")
    if isinstance(recorded, str) and step.meta.get("source") in LIVE:
        return recorded
    return ""


class Joiner:
    """Takes steps one after the other, those of each session in the order of its journal, and gives acts."""

    def __init__(self, window: int = WINDOW) -> None:
        self._window = window
        self._held: list[tuple[str, int, Act]] = []
        self._order = 0
        self._calls: dict[tuple[str, Json], Act] = {}
        self._unnamed: dict[tuple[str, Json], list[Act]] = {}
        self._early: dict[tuple[str, Json], list[Recorded]] = {}
        self._last: dict[str, str] = {}

    def feed(self, step: Recorded, *, tag: object = None, at: str = "") -> Iterator[Act]:
        """Take a step; gives the acts that come before all that may follow.

        Args:
            tag: kept with the act that the step begins. at: the best guess of when it happened, if the step does not say.
        """
        act = self._act_of(step)
        if act is not None:
            _put(act, step)
            self._know((step.session, step.n), act)
        else:
            self._begin(step, tag, at)
        return self._due()

    def stand_alone(self, step: Recorded, *, tag: object = None, at: str = "") -> Iterator[Act]:
        """Take a step that stands for others, as a session that is folded: nothing is joined to it."""
        self._hold(step, tag, at)
        return self._due()

    def take(self, act: Act) -> Iterator[Act]:
        """Take an act that is whole."""
        self._order += 1
        heapq.heappush(self._held, (act.at, self._order, act))
        return self._due()

    def end(self) -> Iterator[Act]:
        """The rest."""
        for first, *others in self._early.values():
            self._hold(first, None, "").steps.extend(others)
        self._early.clear()
        while self._held:
            yield heapq.heappop(self._held)[2]

    def _due(self) -> Iterator[Act]:
        while len(self._held) > self._window:
            yield heapq.heappop(self._held)[2]

    # One step -------------------------------------------------------------------------------------------------------

    def _act_of(self, step: Recorded) -> Act | None:
        """The act that a step says more of, if it began before."""
        session, meta = step.session, step.meta
        for member in ("revises", "corroborates"):
            if type(meta.get(member)) is int:
                return self._calls.get((session, meta[member]))
        if step.type not in _END and step.type not in _ABOUT:
            return None
        corr = step.member("corr")
        if isinstance(corr, str) and (session, corr) in self._calls:
            return self._calls[session, corr]
        if step.type == "subagent_end":
            return self._calls.pop((session, _role(step)), None)
        if isinstance(corr, str):
            return None
        if type(meta.get("parent")) is int and step.type in _ABOUT:
            return self._calls.get((session, meta["parent"]))
        if step.type == "tool_result":
            waiting = self._unnamed.get((session, step.member("tool"))) or self._unnamed.get((session, None))
            return waiting.pop(0) if waiting else None
        return None

    def _begin(self, step: Recorded, tag: object, at: str) -> None:
        session, corr = step.session, step.member("corr")
        is_early = step.type in _ABOUT and isinstance(corr, str) and step.type != "system"
        if is_early and len(self._early) < self._window:
            self._early.setdefault((session, corr), []).append(step)
            return
        act = self._hold(step, tag, at)
        self._know((session, step.n), act)
        if step.type not in _BEGIN:
            return
        if isinstance(corr, str):
            self._know((session, corr), act)
            for early in self._early.pop((session, corr), ()):
                _put(act, early)
        elif step.type == "tool_call":
            self._unnamed.setdefault((session, step.member("tool")), []).append(act)
        if step.type == "subagent_start":
            self._know((session, _role(step)), act)

    def _hold(self, step: Recorded, tag: object, at: str) -> Act:
        told = told_time(step)
        recorded = step.meta.get("recorded")
        guess = at or self._last.get(step.session) or (recorded if isinstance(recorded, str) else "")
        if told:
            self._last[step.session] = told
        act = Act([step], told or guess, not told, tag)
        self._order += 1
        heapq.heappush(self._held, (act.at, self._order, act))
        return act

    def _know(self, key: tuple[str, Json], act: Act) -> None:
        if len(self._calls) >= _MOST_CALLS:
            del self._calls[next(iter(self._calls))]
        self._calls[key] = act


def _put(act: Act, step: Recorded) -> None:
    """Add a step to an act; one that revises another takes its place."""
    revised = step.meta.get("revises")
    for place, known in enumerate(act.steps):
        if type(revised) is int and known.n == revised and known.type == step.type:
            act.steps[place] = step
            return
    act.steps.append(step)


def _role(step: Recorded) -> str:
    for member in ("agent_role", "subagent_name", "agent_type"):
        value = step.member(member)
        if isinstance(value, str):
            return f"sub-agent {value}"
    return "sub-agent"
