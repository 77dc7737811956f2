"""The figures of the headless agent's own replay, number for number, so that the two can be compared.

Owns what that replay counts and what it leaves out (specs: agent-replay's statistics): latencies but not durations of
replies, tokens only where a model is named, times cut to milliseconds. Whole figures are statistics.py's.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from tallystick.sessions.figures import Figure

_NAMED_CALLS = ("model_call", "phase_supervise", "security_triage", "security_supervisor", "bash_security")
"""Steps whose tokens the replay counts, where they name a model."""


class Timing(msgspec.Struct, frozen=True):
    """How often something was timed, and how long it took in all. What took no measurable time is not among it."""

    count: int = 0
    total_ms: int = 0

    @property
    def average_ms(self) -> int:
        """The mean, cut to whole milliseconds."""
        if self.count:
            return self.total_ms // self.count
        return 0


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


def reported(figures: Iterable[Figure]) -> Reported:
    """The replay's figures of one session."""
    every = list(figures)
    kinds: dict[str, list[Figure]] = {}
    for figure in every:
        kinds.setdefault(figure.type, []).append(figure)
    checks = kinds.get("bash_security", [])
    return Reported(
        total_ms=span_ms(every),
        goals={str(figure.goal): figure.duration_ms for figure in kinds.get("goal_end", []) if figure.duration_ms},
        llm=_sum(figure.latency_ms for figure in kinds.get("model_call", [])),
        supervisor=_sum(figure.duration_ms for figure in kinds.get("phase_supervise", [])),
        triage=timing(kinds.get("security_triage", [])),
        security_supervisor=timing(kinds.get("security_supervisor", [])),
        bash_deterministic=sum(bash_check(figure) == "deterministic" for figure in checks),
        bash_llm=timing(figure for figure in checks if bash_check(figure) == "llm"),
        tokens=_tokens(figure for figure in every if figure.model and figure.type in _NAMED_CALLS),
    )


def bash_check(figure: Figure) -> str:
    """Which of the two checks of a command this was: its member says it, in old logs its text begins with it."""
    check = figure.said.get("check")
    if isinstance(check, str):
        return check
    if figure.text.startswith("["):
        return figure.text[1:].partition("]")[0]
    return ""


def span_ms(figures: Iterable[Figure]) -> int:
    """From the earliest time to the latest. Starts and ends of the session are not events of the agent's log."""
    times = [figure.at_us for figure in figures if figure.at_us is not None and not figure.type.startswith("session_")]
    if times:
        return (max(times) - min(times)) // 1000
    return 0


def timing(figures: Iterable[Figure]) -> Timing:
    """By each step's duration, else by its latency."""
    return _sum(figure.took_ms for figure in figures)


def _sum(durations: Iterable[int]) -> Timing:
    known = [duration for duration in durations if duration]
    return Timing(len(known), sum(known))


def _tokens(figures: Iterable[Figure]) -> dict[str, ModelTokens]:
    found: dict[str, ModelTokens] = {}
    for figure in figures:
        counts = figure.tokens or {}
        before = found.get(figure.model, ModelTokens())
        found[figure.model] = before.plus(1, counts.get("input", 0), counts.get("output", 0))
    return found
