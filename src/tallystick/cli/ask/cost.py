"""`tally cost`: the tokens and money spent."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click
import msgspec

from tallystick.cli import completing, spending
from tallystick.cli.command import Command, options_as
from tallystick.cli.context import Run, pass_run, table
from tallystick.cli.filters import limit_option, project_option, time_option, until_option
from tallystick.cli.fitting import wrapped
from tallystick.cli.prices import price_option, prices_for
from tallystick.cli.progress import opened_index
from tallystick.cli.steps import short
from tallystick.display.text import counted, cut, first_line, one_line

if TYPE_CHECKING:
    from tallystick.ask.cost import CostRow, Costs


_WAYS = ("model", "session", "agent", "day", "month", "project", "request")
_KEY = 44
_WITH_BARS = 100


class CostOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What is counted, and how it is listed."""

    sessions: tuple[str, ...]
    by: str
    since: str | None
    until: str | None
    projects: tuple[str, ...]
    no_children: bool
    limit: int | None
    specs: tuple[str, ...]


@click.command(cls=Command, example="tally cost --since 7d --by day\ntally cost a3f9 --by request")
@click.argument("sessions", nargs=-1, metavar="[SESSION]...", shell_complete=completing.sessions)
@click.option("--by", type=click.Choice(_WAYS), default="model", help="What each line counts.", show_default=True)
@click.option("--month", "by", flag_value="month", help="One line a month: the same as --by month.")
@time_option("--since", "Spending from this time on: 2026-11-21, 3h, today (UTC).")
@until_option("Up to this time; a day that is named is included.")
@click.option("--no-children", is_flag=True, help="Exclude the sub-agents of SESSION.")
@project_option
@limit_option("lines")
@price_option
@options_as(CostOptions)
@pass_run
def cost(run: Run, options: CostOptions) -> None:
    """Show what was spent, in tokens and money: by SESSION with its sub-agents, or by all sessions.

    Prices come from a table in the program; nothing is fetched. The store's prices.toml and --cost take precedence. A
    model without a price is listed and not counted. With --json each line has the SQL query that lists its steps.
    """
    from tallystick.ask.cost import costs, with_sub_agents
    from tallystick.graph.projects import folders_of
    from tallystick.graph.spending import By, UsedFilter
    from tallystick.workspace.names import find_session

    prices = prices_for(run, options.specs)
    with opened_index(run) as index:
        run.take(index.remarks)
        named = [find_session(index, name) for name in options.sessions]
        if options.no_children:
            every = named
        else:
            every = [one for name in named for one in with_sub_agents(index.graph, name)]
        wanted = UsedFilter(
            sessions=tuple(dict.fromkeys(every)) if options.sessions else None,
            since=options.since,
            until=options.until,
            folders=folders_of(index.graph, options.projects),
        )
        found = costs(index, prices, By(options.by), wanted, limit=run.limit(options.limit))
    run.answer("cost", found, cost_text(found, run.width))
    if found.has_more:
        run.note(f"not shown: {counted(found.has_more, 'more line')} of the total; --limit N shows N")


def cost_text(found: Costs, width: int) -> Iterator[str]:
    """The answer as text."""
    if not found.rows:
        yield "nothing was spent: no step of these sessions has tokens or a cost"
        return
    rows: list[tuple[str, ...]] = [
        (_key(row), *spending.cells(row.spending, found.total), first_line(row.label or "", 200)) for row in found.rows
    ]
    rows.append(("total", *spending.cells(found.total, found.total)[:-1], "", ""))
    head: tuple[str, ...] = (found.by.value.upper(), *spending.HEAD, "")
    if width < _WITH_BARS:
        rows = [(*row[:-2], row[-1]) for row in rows]
        head = (*head[:-2], head[-1])
    yield from table(rows, head=head, right=frozenset(range(1, 7)), width=width, gives={0: 16, len(head) - 1: 24})
    for remark in spending.remarks(found.total, [(one.model, one.tokens) for one in found.unpriced]):
        yield from (click.style(line, dim=True) for line in wrapped(remark, width))


def _key(row: CostRow) -> str:
    """The key of a line, as people write it."""
    session, colon, n = row.key.partition(":")
    if row.agent is None:
        return cut(one_line(row.key), _KEY) or "(no name)"
    agent = cut(one_line(row.agent), 16)
    return f"{short(session)}{colon}{n}  {agent}"
