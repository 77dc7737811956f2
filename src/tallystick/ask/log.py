"""The steps of all sessions, newest first, with what they say.

Owns joining what the index finds with the lines of the journals. Order and filters are store's.
"""

from __future__ import annotations

import msgspec

from tallystick.graph.log import LogFilter, LogPage
from tallystick.graph.log import log as page_of
from tallystick.graph.steps import StepEntry
from tallystick.journal.home import Home
from tallystick.journal.read import read_at
from tallystick.model.recorded import Recorded
from tallystick.workspace.filters import StepFilter
from tallystick.workspace.index import Index


class LogRow(msgspec.Struct, frozen=True):
    """A step as the index has it, and unchanged in the journal; None if it is not where the index says."""

    entry: StepEntry
    step: Recorded | None


class LogRows(msgspec.Struct, frozen=True):
    """Some steps, newest first, and whether there are more."""

    rows: tuple[LogRow, ...]
    has_more: bool


def read_log(
    home: Home,
    index: Index,
    wanted: StepFilter,
    *,
    session: str | None = None,
    limit: int = 50,
    folders: tuple[str, ...] = (),
) -> LogRows:
    """The newest steps that a filter takes, at most `limit`, of one session (our whole id) or of all in some folders.

    Raises:
        UsageError: a request without its session, or a time that is none.
    """
    page = page_of(index.graph, log_filter(wanted, session=session, limit=limit, folders=folders))
    return LogRows(tuple(_row(home, entry) for entry in page.steps), page.next is not None)


def log_filter(wanted: StepFilter, *, session: str | None, limit: int, folders: tuple[str, ...] = ()) -> LogFilter:
    """What the index is asked for a filter, of one session (our whole id) or of all."""
    return LogFilter(
        types=wanted.types,
        agents=wanted.agents,
        tools=wanted.tools,
        session=session,
        request=wanted.request,
        since=wanted.since,
        until=wanted.until,
        failures_only=wanted.failed,
        projects=folders,
        limit=limit,
    )


def page_of_log(index: Index, wanted: StepFilter, *, session: str | None, limit: int) -> LogPage:
    """The newest steps that a filter takes, as the index has them."""
    return page_of(index.graph, log_filter(wanted, session=session, limit=limit))


def _row(home: Home, entry: StepEntry) -> LogRow:
    path = home.journal(entry.session)
    step = None
    if path is not None:
        step = read_at(home, path, entry.offset)
    return LogRow(entry, step if step is not None and step.hash == entry.hash else None)
