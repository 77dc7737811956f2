"""A session in another format.

Owns joining the journal, and the graph where a format shows it, with the format; and saying what the export is made from:
which entries, and whether they verify. What a format looks like, and what it loses, is exports'.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

import msgspec

from tallystick.errors import NotFoundError, UsageError
from tallystick.exports import Exporter, LineageExporter, exporters, wants_lineage
from tallystick.exports.lineage import Lineage
from tallystick.graph.exported import session_lineage
from tallystick.journal.home import Home
from tallystick.journal.read import read_session
from tallystick.model.recorded import Recorded
from tallystick.trust.verify import verify_store
from tallystick.workspace.index import Index
from tallystick.workspace.indexing import open_index


class Origin(msgspec.Struct, frozen=True, kw_only=True):
    """What an export is made from: the journal of `session`, `entries` entries of which are sound.

    `unsealed` of them are not yet covered by a head in the ledger. `integrity` is `intact` or the rule that is broken;
    `is_valid`: nothing is wrong, and nothing that a head promises is gone.
    """

    session: str
    entries: int
    unsealed: int
    integrity: str
    completeness: str
    level: str
    is_valid: bool


class Export(msgspec.Struct, frozen=True):
    """An export that can be written: what the session is called in it, what it is made from, what the format cannot carry."""

    session: str
    origin: Origin
    losses: tuple[str, ...]
    lines: Iterator[bytes]


class _Steps:
    """A session's steps, read again each time: formats may go through them twice."""

    def __init__(self, home: Home, session: str) -> None:
        self._home = home
        self._session = session

    def __iter__(self) -> Iterator[Recorded]:
        return read_session(self._home, self._session, load_blobs=True)


def format_named(name: str) -> Exporter:
    """The format with that name.

    Raises: UsageError: none exists. SourceError: a format of another package fails to load.
    """
    known = exporters()
    if name not in known:
        raise UsageError(f"no format {name!r}", hint=f"known formats: {', '.join(known)}")
    return known[name]


def export(home: Home, session: str, format_: Exporter, *, with_content: bool, index: Index | None = None) -> Export:
    """A session, by our id, in a format. It is called there as its agent called it. Its journal is verified first.

    Args:
        with_content: whether what was said, asked and returned may be in it.
        index: the open index, for formats that show the graph; it is opened for them if it is not given.

    Raises:
        NotFoundError: there is no such journal. GraphError: the format shows the graph, and the index cannot be used.
    """
    if home.journal(session) is None:
        raise NotFoundError(f"no journal of session {session}", hint="`tally session list` lists the sessions")
    first = next(read_session(home, session), None)
    own = None
    if first is not None:
        own = first.member("source_session")
    called = session
    if isinstance(own, str):
        called = own
    steps = _Steps(home, session)
    if wants_lineage(format_):
        exporter, lineage = cast("LineageExporter", format_), _lineage(home, session, index)
        lines = exporter.write(steps, session=called, with_content=with_content, lineage=lineage)
    else:
        lines = format_.write(steps, session=called, with_content=with_content)
    return Export(called, _origin(home, session), tuple(format_.LOSSES), lines)


def _lineage(home: Home, session: str, index: Index | None) -> Lineage:
    if index is not None:
        return session_lineage(index.graph, session)
    with open_index(home) as opened:
        return session_lineage(opened.graph, session)


def _origin(home: Home, session: str) -> Origin:
    verdict = verify_store(home, sessions=[session])
    found = next(one for one in verdict.sessions if one.session == session)
    return Origin(
        session=session,
        entries=found.steps,
        unsealed=found.unsealed,
        integrity=found.integrity,
        completeness=found.completeness.value,
        level=verdict.level.value,
        is_valid=verdict.valid,
    )
