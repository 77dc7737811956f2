"""`tally search`: steps by the words in them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click
import msgspec

from tallystick.cli.command import Command, options_as
from tallystick.cli.context import Run, counted, pass_run
from tallystick.cli.filters import limit_option, project_option, time_option, until_option
from tallystick.cli.fitting import wrapped
from tallystick.cli.progress import opened_index
from tallystick.cli.steps import short
from tallystick.display.text import cut, one_line, width_of

if TYPE_CHECKING:
    from tallystick.graph.search import Hit, SearchResult

_SNIPPET_COLUMNS = 400
_MISSING_COLUMNS = 60
_SPACES = re.compile(r"\s+")


class SearchOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Which steps are searched, and how hits are listed."""

    fields: tuple[str, ...]
    types: tuple[str, ...]
    agents: tuple[str, ...]
    tools: tuple[str, ...]
    session: str | None
    since: str | None
    until: str | None
    path: str | None
    failed: bool
    projects: tuple[str, ...]
    newest: bool
    limit: int | None


@click.command(
    cls=Command, example="tally search rounding bug\ntally search '\"forced push\"' --type tool_result --newest"
)
@click.argument("words", nargs=-1, required=True, metavar="TEXT...")
@click.option(
    "--in", "fields", multiple=True, metavar="FIELD", help="Only in prompt, text, thinking, args, output or error."
)
@click.option(
    "--type", "types", multiple=True, metavar="T", help="Steps of this type. May be repeated, as the next two."
)
@click.option("--agent", "agents", multiple=True, metavar="A", help="Steps of this agent.")
@click.option("--tool", "tools", multiple=True, metavar="T", help="Calls and results of this tool.")
@click.option("--session", metavar="S", help="Steps of this session.")
@time_option("--since", "From this time on: 2026-11-21, 3h, today (UTC).")
@until_option("Up to this time; a day that is named is included.")
@click.option(
    "--path", metavar="P", help="Calls that touched this file, and their results; the end of a path is enough."
)
@click.option("--failed", is_flag=True, help="Only what failed or was refused.")
@project_option
@click.option("--newest", is_flag=True, help="Newest first.  [default: best first]")
@limit_option("steps")
@options_as(SearchOptions)
@pass_run
def search(run: Run, words: tuple[str, ...], options: SearchOptions) -> None:
    """Find steps by the words in them.

    A word is found in its forms too: `failing` finds "failed". "A phrase" and the beginning* of a word also work. Steps
    with all the words come first; where they are few, the best of those with some of them follow, marked `partial`.
    """
    from tallystick.ask.search import search as search_steps
    from tallystick.graph.journals import Depth
    from tallystick.graph.projects import folders_of
    from tallystick.graph.search import MOST_RANKED, Order, SearchFilter
    from tallystick.workspace.names import find_session

    with opened_index(run, depth=Depth.TEXT) as index:
        run.take(index.remarks)
        wanted = SearchFilter(
            fields=options.fields,
            types=options.types,
            agents=options.agents,
            tools=options.tools,
            session=find_session(index, options.session) if options.session is not None else None,
            since=options.since,
            until=options.until,
            path=options.path,
            failed=options.failed,
            folders=folders_of(index.graph, options.projects),
            order=Order.NEWEST if options.newest else Order.BEST,
            limit=run.limit(options.limit),
        )
        found = search_steps(run.home, index, " ".join(words), wanted)
    if found.unsearchable:
        run.warn(f"{counted(found.unsearchable, 'session')} cannot be searched completely yet: the index is behind")
    run.answer("search", found, _result_text(found, run.width))
    if found.hits and found.order is Order.NEWEST and not options.newest:
        run.note(f"these words are in more than {MOST_RANKED:,} steps: the newest come first, not the best")
    if found.more:
        run.note(f"Showing {len(found.hits)}; --limit N shows more")


def _result_text(found: SearchResult, width: int) -> Iterator[str]:
    if not found.hits:
        yield "nothing found"
    for hit in found.hits:
        head = click.style(_head(hit), dim=True) + _missing(hit)
        if width_of(click.unstyle(head)) <= width:
            yield head
        else:
            yield from (click.style(line, dim=True) for line in wrapped(click.unstyle(head), width))
        yield from (f"    {line}" for line in wrapped(_snippet(hit), width - 4))


def _head(hit: Hit) -> str:
    entry = hit.step
    when = one_line((entry.ts or entry.recorded or "")[:19].replace("T", " "))
    words = (when, f"{short(entry.session)}:{entry.n}", entry.agent, entry.type, entry.tool or "", hit.field or "")
    return "  ".join(one_line(word) for word in words if word)


def _missing(hit: Hit) -> str:
    """That a step has only some of the words, and which not."""
    if not hit.partial:
        return ""
    without = ""
    if hit.missing:
        without = f", without {cut(one_line(' '.join(hit.missing)), _MISSING_COLUMNS)}"
    return click.style(f"  partial{without}", fg="yellow")


def _snippet(hit: Hit) -> str:
    if not hit.snippet:
        return click.style("its journal cannot be read; `tally verify` says why", fg="red")
    left, shown = _SNIPPET_COLUMNS, []
    for part in hit.snippet:
        text = cut(one_line(_SPACES.sub(" ", part.text)), max(left, 1))
        left -= width_of(text)
        if part.hit:
            shown.append(click.style(text, bold=True, underline=True))
        else:
            shown.append(text)
        if left <= 0:
            break
    return "".join(shown)
