"""What was spent: tokens and money by session, model, agent, day, project or request.

Owns joining the index's sums with prices, and what each line is called. Every line names the statement that lists the
steps behind it. Must not know how it is shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import TypeAlias

import msgspec

from tallystick.ask.prices import Prices
from tallystick.graph.graph import Graph
from tallystick.graph.replay_tracks import tracks_below, tracks_of
from tallystick.graph.spending import (
    By,
    UsedFilter,
    UsedSum,
    names_of,
    requests_at,
    steps_query,
    used_models,
    used_sums,
)
from tallystick.sessions.spending import NOTHING, Spending, Usage, spent
from tallystick.workspace.index import Index

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_HALF_HOUR_MS = 1_800_000
_UNASKED = ":0"
_DEEPEST = 32

_Key: TypeAlias = str | int


class CostRow(msgspec.Struct, frozen=True, kw_only=True):
    """One line: what it is of, what that spent, and the statement that lists its steps."""

    key: str
    """A session's id, a model's name and so on; empty where steps name none."""
    label: str | None
    """What a person calls it: the title of a session, the beginning of a prompt."""
    agent: str | None
    """Of a session or a request."""
    spending: Spending
    query: str


class Unpriced(msgspec.Struct, frozen=True):
    """A model whose price no one knows. Its tokens are in no cost."""

    model: str
    calls: int
    tokens: int


class Costs(msgspec.Struct, frozen=True, kw_only=True):
    """The answer: lines, the dearest first (days in order), and all of it together, of lines that are not shown too."""

    by: By
    rows: Sequence[CostRow]
    has_more: int
    """How many lines are left out."""
    total: Spending
    unpriced: Sequence[Unpriced]
    query: str


def costs(index: Index, prices: Prices, by: By, wanted: UsedFilter, *, limit: int | None = None) -> Costs:
    """What was spent.

    Args:
        limit: at most so many lines.

    Raises:
        GraphError: the index cannot be read. UsageError: a time is none.
    """
    graph = index.graph
    lengths = prices.long_prompts(used_models(graph))
    found: dict[_Key, Spending] = {}
    unpriced: dict[str, Unpriced] = {}
    for used in used_sums(graph, by, wanted, lengths=lengths):
        spending = _spending(used, prices, lengths)
        found[used.key] = found.get(used.key, NOTHING).plus(spending)
        if spending.unpriced_tokens:
            before = unpriced.get(used.model, Unpriced(used.model, 0, 0))
            unpriced[used.model] = Unpriced(used.model, before.calls + used.calls, before.tokens + spending.tokens)
    behind = {key: [key] for key in found}
    if by is By.REQUEST:
        _move_to_requests(graph, found, behind, wanted)
    if by is By.DAY:
        ordered = sorted(found.items(), key=_by_day)
    elif by is By.MONTH:
        ordered = sorted(found.items(), key=_by_month)
    else:
        ordered = sorted(found.items(), key=_dearest)
    if by in (By.DAY, By.MONTH) and limit is not None:
        shown = ordered[-limit:]
    else:
        shown = ordered[:limit]
    return Costs(
        by=by,
        rows=tuple(_rows(graph, by, shown, behind, wanted)),
        has_more=len(ordered) - len(shown),
        total=_sum(found.values()),
        unpriced=tuple(sorted(unpriced.values(), key=lambda one: (-one.tokens, one.model))),
        query=steps_query(by, None, wanted),
    )


def with_sub_agents(graph: Graph, session: str) -> tuple[str, ...]:
    """A session and the sessions of its sub-agents, theirs too. Continuations and forks are sessions of their own."""
    below = tracks_below(graph, tracks_of(graph, [session]))
    family = {session: None}
    waiting = [session]
    while waiting:
        children = [track.session for track in below.get(waiting.pop(), ()) if track.kind == "child"]
        waiting += [child for child in children if child not in family]
        family |= dict.fromkeys(children)
    return tuple(family)


def _spending(used: UsedSum, prices: Prices, lengths: Sequence[int]) -> Spending:
    """What a sum comes to. A prompt one token beyond a length has the price of all that are longer, up to the next."""
    names = ("input", "output", "cache_read", "cache_write", "reasoning", "cache_write_1h")
    usage = Usage(
        used.model,
        {name: getattr(used, name) for name in names},
        calls=used.calls,
        at_ms=used.half_hour * _HALF_HOUR_MS,
        said_microusd=used.said_microusd if used.is_said else None,
        prompt=lengths[used.length - 1] + 1 if used.length else 0,
        half_told_calls=used.half_told_calls,
    )
    return spent(usage, prices)


def _sum(some: Iterable[Spending]) -> Spending:
    total = NOTHING
    for spending in some:
        total = total.plus(spending)
    return total


def _dearest(item: tuple[_Key, Spending]) -> tuple[int, int, str]:
    return -(item[1].cost_microusd or 0), -item[1].tokens, str(item[0])


def _by_month(item: tuple[str | int, Spending]) -> str:
    return str(item[0])


def _by_day(item: tuple[_Key, Spending]) -> int:
    return int(item[0])


def _rows(
    graph: Graph, by: By, shown: Sequence[tuple[_Key, Spending]], behind: Mapping[_Key, list[_Key]], wanted: UsedFilter
) -> Iterator[CostRow]:
    names = names_of(graph, by, [str(key) for key, _ in shown])
    for key, spending in shown:
        label, agent = names.get(str(key), (None, None))
        if isinstance(key, int):
            name = _day(key)
        else:
            name = key
        yield CostRow(key=name, label=label, agent=agent, spending=spending, query=steps_query(by, behind[key], wanted))


# Requests of sub-agents ----------------------------------------------------------------------------------------------


def _move_to_requests(
    graph: Graph, found: dict[_Key, Spending], behind: dict[_Key, list[_Key]], wanted: UsedFilter
) -> None:
    """What a sub-agent did in a session of its own goes to the request that it worked for, if that is asked about."""
    for key, request in _requests_worked_for(graph, [str(key) for key in found]).items():
        session, _, _ = request.partition(":")
        if wanted.sessions is None or session in wanted.sessions:
            found[request] = found.get(request, NOTHING).plus(found.pop(key))
            behind.setdefault(request, [request]).extend(behind.pop(key))


def _requests_worked_for(graph: Graph, keys: Sequence[str]) -> dict[str, str]:
    """By the key of what no prompt asked for in a sub-agent's session, the key of the request that it was started for."""
    started_for: dict[str, str] = {}
    waiting = {key.partition(":")[0] for key in keys if key.endswith(_UNASKED)}
    for _ in range(_DEEPEST):
        tracks = [track for track in tracks_of(graph, waiting).values() if track.kind == "child" and track.hangs_on]
        requests = requests_at(graph, [track.hangs_on or "" for track in tracks])
        new = {
            f"{track.session}{_UNASKED}": requests[track.hangs_on or ""]
            for track in tracks
            if track.hangs_on in requests
        }
        started_for |= new
        waiting = {key.partition(":")[0] for key in new.values() if key.endswith(_UNASKED) and key not in started_for}
        if not waiting:
            break
    return {key: request for key in keys if (request := _last(started_for, key)) != key}


def _last(started_for: Mapping[str, str], key: str) -> str:
    """Where a chain of sub-agents began; in a circle, somewhere in it."""
    for _ in range(_DEEPEST):
        if key not in started_for:
            break
        key = started_for[key]
    return key


def _day(number: int) -> str:
    try:
        return f"{_EPOCH + timedelta(days=number):%Y-%m-%d}"
    except OverflowError:
        return f"day {number}"
