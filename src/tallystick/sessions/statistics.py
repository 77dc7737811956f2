"""Counts, times and tokens of a session.

Owns two sets of figures: those of the headless agent's own replay, so that they can be compared number for number, and
those that it leaves out (failures, goals, time with models, tokens of unnamed models). Must not know prices beyond those
it is given, nor how figures are shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta

import msgspec

from tallystick.model.recorded import Recorded
from tallystick.model.step import Json

_NAMED_CALLS = ("model_call", "phase_supervise", "security_triage", "security_supervisor", "bash_security")
"""Steps whose tokens the replay counts, where they name a model."""


class Timing(msgspec.Struct, frozen=True):
    """How often something was timed, and how long it took in all. What took no measurable time is not among it."""

    count: int = 0
    total_ms: int = 0

    @property
    def average_ms(self) -> int:
        """The mean, cut to whole milliseconds."""
        return self.total_ms // self.count if self.count else 0

    def plus(self, duration_ms: int) -> Timing:
        """With one more."""
        return Timing(self.count + 1, self.total_ms + duration_ms)


class ModelTokens(msgspec.Struct, frozen=True):
    """Tokens of one model, or of a check that stands for one."""

    calls: int = 0
    input: int = 0
    output: int = 0

    def plus(self, calls: int, input_: int, output: int) -> ModelTokens:
        """With more."""
        return ModelTokens(self.calls + calls, self.input + input_, self.output + output)


class Reported(msgspec.Struct, frozen=True):
    """The figures of the headless agent's replay."""

    total_ms: int = 0
    """From the earliest to the latest time in the session."""
    goals: Mapping[str, int] = {}
    """Milliseconds by goal, where its end says them: the agent never does."""
    llm: Timing = Timing()
    """Replies with a latency of their own: the agent writes none."""
    supervisor: Timing = Timing()
    triage: Timing = Timing()
    security_supervisor: Timing = Timing()
    bash_deterministic: int = 0
    bash_llm: Timing = Timing()
    tokens: Mapping[str, ModelTokens] = {}
    """By model, in the order in which they first appear."""

    @property
    def all_tokens(self) -> ModelTokens:
        """The sum over all models."""
        total = ModelTokens()
        for counts in self.tokens.values():
            total = total.plus(counts.calls, counts.input, counts.output)
        return total


class Statistics(msgspec.Struct, frozen=True):
    """All figures of a session. `reported` as the agent's replay has them, the others whole."""

    reported: Reported
    steps: Mapping[str, int]
    """How many of each type."""
    failures: int
    """Calls and sub-agents that failed, refused calls among them."""
    refused: int
    goals: Mapping[str, int]
    """Milliseconds from the start of each goal to its end; a goal that ran twice counts both."""
    llm: Timing
    """Model calls of all agents with a duration or latency."""
    unnamed_tokens: Mapping[str, ModelTokens]
    """Tokens of steps that name no model, by type of step: the replay leaves them out."""


def cost_microusd(tokens: ModelTokens, price: tuple[float, float]) -> int:
    """Millionths of a dollar for tokens at a price: dollars for a million of input, and of output."""
    return round(tokens.input * price[0] + tokens.output * price[1])


def statistics(steps: Iterable[Recorded]) -> Statistics:
    """The figures of a session's steps, in order. A revised step counts once, with what it said last of tokens and time."""
    tally = _Tally()
    for step in steps:
        tally.add(step)
    return tally.result()


class _Figure(msgspec.Struct, frozen=True, gc=False):
    """What counts of one step, small enough to keep for every step that counts."""

    type: str
    ts: str | None
    goal: str | None
    model: str
    duration_ms: int
    latency_ms: int
    input_tokens: int | None
    output_tokens: int | None
    check: str = ""
    is_failure: bool = False
    is_refusal: bool = False


_COUNTED = frozenset((*_NAMED_CALLS, "goal_start", "goal_end", "tool_result", "subagent_end"))


def _figure(step: Recorded) -> _Figure:
    tokens = step.meta.get("tokens")
    counts: Mapping[str, Json] = tokens if isinstance(tokens, dict) else {}
    model, ts = step.member("model"), step.meta.get("ts")
    return _Figure(
        type=step.type,
        ts=ts if isinstance(ts, str) else None,
        goal=step.text("content.goal"),
        model=model if isinstance(model, str) else "",
        duration_ms=_int(step.meta.get("duration_ms")) or 0,
        latency_ms=_int(step.meta.get("latency_ms")) or 0,
        input_tokens=_int(counts.get("input")),
        output_tokens=_int(counts.get("output")),
        check=_bash_check(step) if step.type == "bash_security" else "",
        is_failure=step.type in ("tool_result", "subagent_end") and step.meta.get("success") is False,
        is_refusal=step.type == "tool_result" and step.meta.get("decision") == "deny",
    )


def _bash_check(step: Recorded) -> str:
    """Which of the two checks of a command this was: its member says it, in old logs its text begins with it."""
    check = step.meta.get("check")
    text = step.text("content.text") or ""
    return check if isinstance(check, str) else text[1:].partition("]")[0] if text.startswith("[") else ""


class _Tally:
    """Takes steps in order. A revision counts in the place of what it revises."""

    def __init__(self) -> None:
        self._types: dict[str, int] = {}
        self._kept: dict[int, _Figure] = {}
        self._first_states: dict[int, int] = {}
        self._first = self._last = ""

    def add(self, step: Recorded) -> None:
        revised, ts = step.meta.get("revises"), step.meta.get("ts")
        number = step.n
        if isinstance(revised, int):
            number = self._first_states[step.n] = self._first_states.get(revised, revised)
        else:
            self._types[step.type] = self._types.get(step.type, 0) + 1
        if isinstance(ts, str) and not step.type.startswith("session_"):  # those two are no events of the log
            self._first, self._last = min(self._first or ts, ts), max(self._last, ts)
        if step.type in _COUNTED:
            self._kept[number] = _figure(step)

    def result(self) -> Statistics:
        figures = list(self._kept.values())
        return Statistics(
            reported=_reported(figures, _between_ms(self._first, self._last) if self._first else 0),
            steps=self._types,
            failures=sum(figure.is_failure for figure in figures),
            refused=sum(figure.is_refusal for figure in figures),
            goals=_goals(figures),
            llm=_timing(figure for figure in figures if figure.type == "model_call"),
            unnamed_tokens=_tokens(
                (figure.type, figure) for figure in figures if not figure.model and _has_tokens(figure)
            ),
        )


def _reported(figures: list[_Figure], total_ms: int) -> Reported:
    by_type: dict[str, list[_Figure]] = {}
    for figure in figures:
        by_type.setdefault(figure.type, []).append(figure)
    checks = by_type.get("bash_security", [])
    return Reported(
        total_ms=total_ms,
        goals={str(figure.goal): figure.duration_ms for figure in by_type.get("goal_end", []) if figure.duration_ms},
        llm=_sum(figure.latency_ms for figure in by_type.get("model_call", [])),
        supervisor=_sum(figure.duration_ms for figure in by_type.get("phase_supervise", [])),
        triage=_timing(by_type.get("security_triage", [])),
        security_supervisor=_timing(by_type.get("security_supervisor", [])),
        bash_deterministic=sum(figure.check == "deterministic" for figure in checks),
        bash_llm=_timing(figure for figure in checks if figure.check == "llm"),
        tokens=_tokens((figure.model, figure) for figure in figures if figure.model and figure.type in _NAMED_CALLS),
    )


def _goals(figures: list[_Figure]) -> dict[str, int]:
    began: dict[str, str] = {}
    took: dict[str, int] = {}
    for figure in figures:
        if figure.goal is None or figure.ts is None:
            continue
        if figure.type == "goal_start":
            began[figure.goal] = figure.ts
        elif figure.type == "goal_end" and figure.goal in began:
            took[figure.goal] = took.get(figure.goal, 0) + _between_ms(began.pop(figure.goal), figure.ts)
    return took


def _between_ms(began: str, ended: str) -> int:
    return (datetime.fromisoformat(ended) - datetime.fromisoformat(began)) // timedelta(milliseconds=1)


def _timing(figures: Iterable[_Figure]) -> Timing:
    """By each step's duration, else by its latency."""
    return _sum(figure.duration_ms or figure.latency_ms for figure in figures)


def _sum(durations: Iterable[int]) -> Timing:
    timing = Timing()
    for duration in durations:
        timing = timing.plus(duration) if duration else timing
    return timing


def _has_tokens(figure: _Figure) -> bool:
    return figure.input_tokens is not None or figure.output_tokens is not None


def _tokens(named: Iterable[tuple[str, _Figure]]) -> dict[str, ModelTokens]:
    found: dict[str, ModelTokens] = {}
    for name, figure in named:
        before = found.get(name, ModelTokens())
        found[name] = before.plus(1, figure.input_tokens or 0, figure.output_tokens or 0)
    return found


def _int(value: Json) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
