"""Counts, times, tokens and money of a session, or of several together.

Owns what is counted as what: calls by tool, models, agents, goals and requests, and how long someone was at work.
Prices are asked of anyone who knows them. Must not know where steps come from, nor how figures are shown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise

import msgspec

from tallystick.model.recorded import Recorded
from tallystick.sessions.anomalies import Anomaly, anomalies, together
from tallystick.sessions.figures import Figure, figures
from tallystick.sessions.funnel import Funnel, Phases, funnel, phases
from tallystick.sessions.pairing import Exchange, exchanges
from tallystick.sessions.reported import Reported, Timing, reported, span_ms, timing
from tallystick.sessions.spending import NOTHING, Pricing, Spending, Usage, spent

IDLE_MS = 5 * 60_000
"""A longer silence counts as no one being at work, unless a step says that it took that long."""
_US = 1000


class Durations(msgspec.Struct, frozen=True):
    """How long calls took: how many said so, and where most and nearly all of them lay."""

    count: int = 0
    total_ms: int = 0
    p50_ms: int = 0
    p95_ms: int = 0
    max_ms: int = 0


class ToolFigures(msgspec.Struct, frozen=True, kw_only=True):
    """The calls of one tool."""

    calls: int = 0
    """Those that are in the record, by the call or by its result."""
    failed: int = 0
    """Those that say that they did not succeed; refused ones mostly do."""
    denied: int = 0
    durations: Durations = Durations()
    """As results say them, else from the call to its result."""


class ModelFigures(msgspec.Struct, frozen=True, kw_only=True):
    """The calls of one model."""

    calls: int
    time: Timing
    spending: Spending


class PartFigures(msgspec.Struct, frozen=True, kw_only=True):
    """What belongs to one agent, goal or request."""

    steps: int
    tool_calls: int
    """By the call, or by its result where only that is in the record, as it is of a denied one."""
    failures: int
    total_ms: int
    """From its first step to its last, in each session; of a goal, from each start to its end."""
    spending: Spending


class RequestFigures(PartFigures, frozen=True, kw_only=True):
    """What came of one prompt."""

    session: str
    n: int
    prompt: str
    """Its beginning."""


class Statistics(msgspec.Struct, frozen=True, kw_only=True):
    """All figures of a session or of several. `reported` as the headless agent's replay has them, the others whole."""

    sessions: int
    steps: int
    total_ms: int
    """From the earliest step to the latest one."""
    active_ms: int
    """Of it, without waiting for a prompt, and without silences of more than five minutes."""
    types: Mapping[str, int]
    """Steps of each type, the most frequent first."""
    failures: int
    """Calls and sub-agents that failed."""
    refused: int
    """Calls that were denied: by anyone who was asked, by the agent's rules, by a policy."""
    tools: Mapping[str, ToolFigures]
    llm: Timing
    """Model calls with a duration or latency."""
    models: Mapping[str, ModelFigures]
    """By name; the empty name stands for steps that use tokens and name no model."""
    spending: Spending
    agents: Mapping[str, PartFigures]
    goals: Mapping[str, PartFigures]
    requests: Sequence[RequestFigures]
    funnel: Funnel
    phases: Phases
    checkpoints: Mapping[str, int]
    """By trigger."""
    compactions: int
    anomalies: Sequence[Anomaly]
    reported: Reported
    unnamed_tokens: Mapping[str, Spending]
    """Tokens of steps that name no model, by type of step: the replay leaves them out."""


class Counted(msgspec.Struct, frozen=True):
    """A session by the figures of its steps, in order."""

    figures: Sequence[Figure]
    prompt: tuple[str, int] | None = None
    """Of a sub-agent's session: the prompt that it worked for, as a session and a step's number."""


def statistics(steps: Iterable[Recorded], pricing: Pricing | None = None) -> Statistics:
    """The figures of a session's steps, in order. A revised step counts once, with what it said last."""
    return summary([Counted(figures(steps))], pricing)


def summary(counted: Sequence[Counted], pricing: Pricing | None = None) -> Statistics:
    """The figures of some sessions together."""
    sessions = [one.figures for one in counted]
    every = [figure for session in sessions for figure in session]
    paired = [exchange for session in sessions for exchange in exchanges(session)]
    counting = _Counting(every, pricing, paired)
    tools = _tools(paired)
    return Statistics(
        sessions=len(sessions),
        steps=len(every),
        total_ms=span_ms(every),
        active_ms=_active_ms(every),
        types=dict(Counter(figure.type for figure in every).most_common()),
        failures=sum(figure.is_failure for figure in every if figure.type in ("tool_result", "subagent_end")),
        refused=sum(tool.denied for tool in tools.values()),
        tools=tools,
        llm=timing(figure for figure in every if figure.type == "model_call"),
        models=_models(every, counting),
        spending=counting.spent_by(every),
        agents=_parts(every, counting, lambda figure: figure.agent),
        goals=_goals(sessions, counting),
        requests=_requests(counted, counting),
        funnel=funnel(every),
        phases=phases(every),
        checkpoints=_checkpoints(every),
        compactions=sum(figure.type == "compaction" for figure in every),
        anomalies=together(anomalies(session) for session in sessions),
        reported=reported(every),
        unnamed_tokens={
            kind: counting.spent_by(some)
            for kind, some in _grouped(
                (figure for figure in every if figure.tokens and not figure.model), lambda figure: figure.type
            ).items()
        },
    )


# Money ---------------------------------------------------------------------------------------------------------------


class _Counting:
    """What each step spent, asked once, and which steps stand for a call of a tool: its result where that is all there is."""

    def __init__(self, every: Iterable[Figure], pricing: Pricing | None, paired: Iterable[Exchange]) -> None:
        self._spent = {
            (figure.session, figure.n): _spent(figure, pricing)
            for figure in every
            if figure.tokens is not None or figure.said_microusd is not None
        }

        firsts = (exchange.call or exchange.results[0] for exchange in paired)
        self._calls = {(figure.session, figure.n) for figure in firsts}

    def calls_of(self, some: Iterable[Figure]) -> int:
        """How many calls of tools some steps are."""
        return sum((figure.session, figure.n) in self._calls for figure in some)

    def spent_by(self, some: Iterable[Figure]) -> Spending:
        """What some steps spent together."""
        total = NOTHING
        for figure in some:
            spending = self._spent.get((figure.session, figure.n))
            if spending is not None:
                total = total.plus(spending)
        return total


def _spent(figure: Figure, pricing: Pricing | None) -> Spending:
    tokens = figure.tokens or {}
    usage = Usage(
        figure.model,
        tokens,
        at_ms=figure.at_ms,
        said_microusd=figure.said_microusd,
        half_told_calls=int(figure.is_partial or ("input" not in tokens and tokens.get("output", 0) > 0)),
    )
    return spent(usage, pricing)


def _models(every: Iterable[Figure], counting: _Counting) -> dict[str, ModelFigures]:
    """Models, the dearest first."""
    used = (figure for figure in every if figure.tokens is not None or figure.type == "model_call")
    found = {
        model: ModelFigures(calls=len(some), time=timing(some), spending=counting.spent_by(some))
        for model, some in _grouped(used, lambda figure: figure.model).items()
    }
    return dict(sorted(found.items(), key=lambda item: _dearest(item[1].spending)))


def _dearest(spending: Spending) -> tuple[int, int]:
    return -(spending.cost_microusd or 0), -spending.tokens


# Parts ---------------------------------------------------------------------------------------------------------------


def _grouped(some: Iterable[Figure], key: Callable[[Figure], str | None]) -> dict[str, list[Figure]]:
    found: dict[str, list[Figure]] = {}
    for figure in some:
        name = key(figure)
        if name is not None:
            found.setdefault(name, []).append(figure)
    return found


def _part(some: list[Figure], counting: _Counting, total_ms: int) -> PartFigures:
    return PartFigures(
        steps=len(some),
        tool_calls=counting.calls_of(some),
        failures=sum(figure.is_failure for figure in some),
        total_ms=total_ms,
        spending=counting.spent_by(some),
    )


def _parts(some: Iterable[Figure], counting: _Counting, key: Callable[[Figure], str | None]) -> dict[str, PartFigures]:
    return {name: _part(part, counting, _spans_ms(part)) for name, part in _grouped(some, key).items()}


def _spans_ms(some: Iterable[Figure]) -> int:
    return sum(span_ms(part) for part in _grouped(some, lambda figure: figure.session).values())


def _goals(sessions: Sequence[Sequence[Figure]], counting: _Counting) -> dict[str, PartFigures]:
    """Goals by name. Their time is from each start to its end: phases of sub-agents name goals of their own."""
    took: Counter[str] = Counter()
    for session in sessions:
        began: dict[str, int] = {}
        for figure in session:
            if figure.goal is None or figure.at_us is None:
                continue
            if figure.type == "goal_start":
                began[figure.goal] = figure.at_us
            elif figure.type == "goal_end" and figure.goal in began:
                took[figure.goal] += (figure.at_us - began.pop(figure.goal)) // _US
    grouped = _grouped((figure for session in sessions for figure in session), lambda figure: figure.goal)
    return {goal: _part(some, counting, took[goal]) for goal, some in grouped.items()}


def _requests(counted: Sequence[Counted], counting: _Counting) -> list[RequestFigures]:
    """What came of each prompt, in order, with what its sub-agents did in sessions of their own."""
    prompts = {(prompt.session, prompt.n): prompt for one in counted for prompt in one.figures if prompt.is_prompt}
    belonging: dict[tuple[str, int], list[Figure]] = {place: [] for place in prompts}
    for one in counted:
        for figure in one.figures:
            own = (figure.session, figure.n if figure.is_prompt else figure.request or -1)
            if own not in belonging:
                place = one.prompt
            else:
                place = own
            if place in belonging:
                belonging[place].append(figure)
    return [
        RequestFigures(
            session=session,
            n=n,
            prompt=prompts[session, n].text,
            **{name: getattr(part, name) for name in PartFigures.__struct_fields__},
        )
        for (session, n), some in belonging.items()
        for part in (_part(some, counting, span_ms(some)),)
    ]


def _checkpoints(every: Iterable[Figure]) -> dict[str, int]:
    """Checkpoints by trigger; those that the headless agent writes mark its phases."""
    found = Counter(
        str(figure.said.get("trigger") or ("phase" if "ckpt_type" in figure.said else "unknown"))[:200]
        for figure in every
        if figure.type == "checkpoint"
    )
    return dict(found.most_common())


# Tools ---------------------------------------------------------------------------------------------------------------


def _tools(paired: Iterable[Exchange]) -> dict[str, ToolFigures]:
    """Calls by tool, the most frequent first."""
    found: dict[str, list[Exchange]] = {}
    for exchange in paired:
        found.setdefault(exchange.tool, []).append(exchange)
    counted = {tool: _tool(some) for tool, some in found.items()}
    return dict(sorted(counted.items(), key=lambda item: (-item[1].calls, item[0])))


def _tool(some: list[Exchange]) -> ToolFigures:
    return ToolFigures(
        calls=len(some),
        failed=sum(exchange.is_failed for exchange in some),
        denied=sum(exchange.is_refused for exchange in some),
        durations=durations([took for exchange in some if (took := exchange.took_ms) is not None]),
    )


def durations(took: Sequence[int]) -> Durations:
    """How long calls took. A percentile is the smallest duration that so many of them do not exceed."""
    if not took:
        return Durations()
    ordered = sorted(took)

    def percentile(part: int) -> int:
        return ordered[max(-(-len(ordered) * part // 100) - 1, 0)]

    return Durations(len(ordered), sum(ordered), percentile(50), percentile(95), ordered[-1])


# Time ----------------------------------------------------------------------------------------------------------------


def _active_ms(every: Iterable[Figure]) -> int:
    """How long someone was at work: the time between steps, but for waiting for a prompt and for long silences."""
    timed = sorted(
        (figure for figure in every if figure.at_us is not None),
        key=lambda figure: (figure.at_us or 0, figure.is_prompt),
    )
    active = 0
    for before, figure in pairwise(timed):
        silence = ((figure.at_us or 0) - (before.at_us or 0)) // _US
        if figure.is_prompt and not before.is_prompt:
            continue
        if silence <= IDLE_MS:
            active += silence
        else:
            active += min(silence, figure.took_ms)
    return active
