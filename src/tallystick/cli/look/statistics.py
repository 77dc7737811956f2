"""Statistics on the terminal: what `tally replay --stats` prints.

Owns the sections and their order; empty sections are left out. The figures come from sessions.statistics.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING

import click

from tallystick.catalog.agents import read_as
from tallystick.cli import spending
from tallystick.cli.context import Run, counted, labelled, table
from tallystick.cli.prices import prices_for
from tallystick.cli.steps import short
from tallystick.display.amounts import count_or_blank
from tallystick.display.bars import bar
from tallystick.display.outcome import duration_text
from tallystick.display.text import cut, first_line, one_line

if TYPE_CHECKING:
    from tallystick.review.replay_sources import Cast
    from tallystick.review.statistics import Report, SessionStatistics
    from tallystick.sessions.anomalies import Anomaly
    from tallystick.sessions.funnel import Funnel, Phases, Stage
    from tallystick.sessions.statistics import PartFigures, Statistics

_NAME = 36
_MOST_ROWS = 40
_MOST_WORDS = 12


def show_statistics(run: Run, cast: Cast, specs: tuple[str, ...], *, without_sub_agents: bool) -> None:
    """Print the statistics of a replay."""
    from tallystick.review.statistics import SubAgents, statistics_of

    found = statistics_of(cast, prices_for(run, specs), SubAgents.WITHOUT if without_sub_agents else SubAgents.WITH)
    if run.json:
        run.warnings += [
            *cast.remarks,
            *cast.failures,
        ]  # the caller prints them after the answer; here they are the whole answer
    run.answer("statistics", found, report_text(found, run.width))


def report_text(found: Report, width: int) -> Iterator[str]:
    """The figures as text: each session's, then those of all."""
    if not found.sessions:
        yield "no sessions"
    for number, one in enumerate(found.sessions):
        if number:
            yield ""
        yield from _session(one, width)
    if found.total is not None:
        yield ""
        yield click.style(f"all {len(found.sessions)} together", bold=True)
        yield from statistics_text(found.total, width)


def _session(one: SessionStatistics, width: int) -> Iterator[str]:
    head = f"{short(one.session)}  {one_line(one.agent)[:40]}  "
    yield click.style(head + first_line(one.title or "(no prompt)", max(width - len(head), 20)), bold=True)
    if one.origin is not None:
        yield f"  from {cut(one_line(one.origin), max(width - 7, 20))}"
    if one.sub_agents:
        named = ", ".join(map(short, one.sub_agents[:_MOST_WORDS]))
        yield (
            f"  with {counted(len(one.sub_agents), 'sub-agent')} that {'have' if len(one.sub_agents) > 1 else 'has'} "
            + (f"a session: {named}{' …' if len(one.sub_agents) > _MOST_WORDS else ''}")
        )
    yield from statistics_text(one.statistics, width)
    facts = read_as(one.agent)
    if facts is not None and facts.replays:
        yield from _section("as counted by the agent's own replay", _reported(one.statistics))


def statistics_text(figures: Statistics, width: int) -> Iterator[str]:
    """Sections of figures; empty ones are left out."""
    yield from labelled(_within(_summary(figures), width - 4), indent="  ")
    yield from _section("tools", _tools(figures))
    yield from _section("models", _models(figures))
    if len(figures.agents) > 1:
        yield from _section("agents", _parts("AGENT", figures.agents.items(), figures))
    yield from _section("goals", _parts("GOAL", figures.goals.items(), figures))
    if len(figures.requests) > 1:
        prompts = ((f"{short(one.session)}:{one.n}  {first_line(one.prompt, 24)}", one) for one in figures.requests)
        yield from _section("requests", _parts("PROMPT", prompts, figures))
    yield from _section("checks", labelled(_within(_funnel(figures.funnel), width - 6)))
    yield from _section("phases", labelled(_within(_phases(figures.phases), width - 6)))
    yield from _section("odd", labelled(_within(map(_odd, figures.anomalies), width - 6)))
    unpriced = [
        (name, one.spending.unpriced_tokens) for name, one in figures.models.items() if one.spending.unpriced_tokens
    ]
    for remark in spending.remarks(figures.spending, sorted(unpriced, key=lambda one: -one[1])):
        yield click.style(f"  {remark}", dim=True)


def _section(title: str, lines: Iterable[str]) -> Iterator[str]:
    some = iter(lines)
    first = next(some, None)
    if first is not None:
        yield click.style(f"  {title}", bold=True)
        yield f"    {first}"
        yield from (f"    {line}" for line in some)


def _within(rows: Iterable[tuple[str, str]], width: int) -> list[tuple[str, str]]:
    """Names and values, the values cut to the width left beside the longest name."""
    kept = list(rows)
    longest = max((len(name) for name, value in kept if value), default=0)
    return [(name, cut(value, max(width - longest, 20))) for name, value in kept]


def _summary(figures: Statistics) -> Iterator[tuple[str, str]]:
    yield (
        "time",
        f"{duration_text(figures.total_ms)} from the first step to the last, {duration_text(figures.active_ms)} at work",
    )
    yield "steps", f"{figures.steps:,}: {_counts_text(figures.types)}"
    calls = sum(tool.calls for tool in figures.tools.values())
    if calls or figures.failures:
        yield "calls", f"{calls:,}, {figures.failures:,} failed, {figures.refused:,} refused"
    if figures.llm.count:
        yield "models", f"{counted(figures.llm.count, 'timed call')}, {duration_text(figures.llm.total_ms)} in all"
    if figures.spending.calls:
        cost = spending.cost_text(figures.spending)
        yield (
            "spent",
            f"{figures.spending.tokens:,} tokens in {counted(figures.spending.calls, 'call')}, {cost or 'no cost'}",
        )
    if figures.checkpoints:
        yield "checkpoints", f"{sum(figures.checkpoints.values()):,}: {_counts_text(figures.checkpoints)}"
    if figures.compactions:
        yield "compactions", f"{figures.compactions:,}"


def _counts_text(counts: Mapping[str, int]) -> str:
    """`3 allow, 1 deny`, the most frequent first."""
    shown = ", ".join(f"{count:,} {cut(one_line(word), _NAME)}" for word, count in islice(counts.items(), _MOST_WORDS))
    return shown + (f" and {len(counts) - _MOST_WORDS} more" if len(counts) > _MOST_WORDS else "")


def _cut_off(total: int) -> Iterator[str]:
    if total > _MOST_ROWS:
        yield f"… and {total - _MOST_ROWS:,} more; --json lists all"


def _time(duration_ms: int) -> str:
    if duration_ms:
        return duration_text(duration_ms)
    return ""


def _tools(figures: Statistics) -> Iterator[str]:
    if not figures.tools:
        return
    most = max(tool.calls for tool in figures.tools.values())
    rows = [
        (
            cut(one_line(name), _NAME),
            f"{tool.calls:,}",
            count_or_blank(tool.failed),
            count_or_blank(tool.denied),
            *map(_time, (tool.durations.p50_ms, tool.durations.p95_ms, tool.durations.max_ms, tool.durations.total_ms)),
            bar(tool.calls, most),
        )
        for name, tool in islice(figures.tools.items(), _MOST_ROWS)
    ]
    head = ("TOOL", "CALLS", "FAILED", "DENIED", "P50", "P95", "MAX", "IN ALL", "")
    yield from table(rows, head=head, right=frozenset(range(1, 8)))
    yield from _cut_off(len(figures.tools))


def _models(figures: Statistics) -> Iterator[str]:
    if not figures.models:
        return
    rows = [
        (
            cut(one_line(name), _NAME) or "(none named)",
            _time(model.time.total_ms),
            _time(model.time.average_ms),
            *spending.cells(model.spending, figures.spending),
        )
        for name, model in islice(figures.models.items(), _MOST_ROWS)
    ]
    yield from table(rows, head=("MODEL", "TIME", "ON AVERAGE", *spending.HEAD), right=frozenset(range(1, 9)))
    yield from _cut_off(len(figures.models))


def _parts(what: str, parts: Iterable[tuple[str, PartFigures]], figures: Statistics) -> Iterator[str]:
    every = list(parts)
    rows = [
        (
            cut(one_line(name), _NAME),
            _time(part.total_ms),
            f"{part.steps:,}",
            count_or_blank(part.tool_calls),
            count_or_blank(part.failures),
            count_or_blank(part.spending.tokens),
            *spending.cells(part.spending, figures.spending)[-2:],
        )
        for name, part in every[:_MOST_ROWS]
    ]
    if rows:
        head = (what, "TIME", "STEPS", "CALLS", "FAILED", "TOKENS", "COST", "")
        yield from table(rows, head=head, right=frozenset(range(1, 7)))
        yield from _cut_off(len(every))


def _funnel(funnel: Funnel) -> Iterator[tuple[str, str]]:
    whole = max(funnel.static.checked, funnel.decision.checked, 1)
    for name, stage in (
        ("static", funnel.static),
        ("triage", funnel.triage),
        ("supervisor", funnel.supervisor),
        ("decisions", funnel.decision),
        ("bash, deterministic", funnel.bash_deterministic),
        ("bash, by a model", funnel.bash_llm),
    ):
        if stage.checked:
            yield name, _stage(stage, whole)
    yield "ways", _counts_text(funnel.paths)
    yield "permissions", _counts_text(funnel.permissions)
    yield "policies", _counts_text(funnel.policy)
    for rule, effects in islice(funnel.rules.items(), _MOST_ROWS):
        yield "", f"{cut(one_line(rule), _NAME)}: {_counts_text(effects)}"


def _stage(stage: Stage, whole: int) -> str:
    """`3  █████▌       2 pass, 1 escalate (2 triage_benign), 342 ms on average`."""
    skipped = ""
    if stage.skipped:
        skipped = f" ({_counts_text(stage.skipped)})"
    took = ""
    if stage.time.count:
        took = f", {duration_text(stage.time.average_ms)} on average"
    return f"{stage.checked:>5,}  {bar(stage.checked, whole):<12}  {_counts_text(stage.answers)}{skipped}{took}"


def _phases(phases: Phases) -> Iterator[tuple[str, str]]:
    named = (("commit", phases.commit), ("execute", phases.execute), ("reconcile", phases.reconcile))
    for name, stage in (*named, ("supervise", phases.supervise)):
        took = ""
        if stage.time.count:
            took = f", {duration_text(stage.time.total_ms)} in all"
        triggers = ""
        if name == "reconcile" and phases.triggers:
            triggers = f" ({_counts_text(phases.triggers)})"
        if stage.checked:
            yield name, f"{stage.checked:>5,}  {_counts_text(stage.answers)}{triggers}{took}"


def _odd(anomaly: Anomaly) -> tuple[str, str]:
    places = ", ".join(anomaly.steps[:_MOST_WORDS])
    return anomaly.kind.value, f"{anomaly.count:>5,}  {places}{' …' if anomaly.count > _MOST_WORDS else ''}"


def _reported(figures: Statistics) -> Iterator[str]:
    """The figures of the agent's own replay, by its rules."""
    found = figures.reported
    yield f"total {_replay_time(found.total_ms)}"
    for goal, took_ms in islice(found.goals.items(), _MOST_ROWS):
        yield f"goal, {cut(one_line(goal), _NAME)}: {_replay_time(took_ms)}"
    for name, timing in (
        ("llm", found.llm),
        ("execution supervisor", found.supervisor),
        ("triage", found.triage),
        ("security supervisor", found.security_supervisor),
        ("bash llm", found.bash_llm),
    ):
        if timing.count:
            total, average = _replay_time(timing.total_ms), _replay_time(timing.average_ms)
            yield f"{name}: {timing.count}, total {total}, avg {average}"
    if found.bash_deterministic:
        yield f"bash deterministic: {found.bash_deterministic}"
    for model, tokens in (*found.tokens.items(), ("total", found.all_tokens)):
        calls = ""
        if model != "total":
            calls = f"{tokens.calls} calls, "
        yield f"tokens, {cut(one_line(model), _NAME)}: {calls}{tokens.input:,} in, {tokens.output:,} out"


def _replay_time(took_ms: int) -> str:
    """A time in the format of that replay."""
    if took_ms < 1000:
        return f"{took_ms}ms"
    if took_ms < 60_000:
        return f"{took_ms / 1000:.2f}s"
    return f"{took_ms // 60_000}m{took_ms // 1000 % 60}s"
