"""Who wrote a file last, which sessions an agent's id names, and what users let run: what is asked before a call.

Owns these queries. Each goes by a key, so that it takes well under a millisecond on a graph of any size.
"""

from __future__ import annotations

import msgspec
import orjson

from tallystick.graph.graph import Graph
from tallystick.lineage.things import file_thing

_LAST = (
    "SELECT f.last_modified_source, f.last_modified_session_id, f.last_modified_at, s.n, f.current_artifact_id, a.digest"
    " FROM artifact_facts f LEFT JOIN artifacts a ON a.artifact_id = f.current_artifact_id"
    " LEFT JOIN steps s ON s.id = a.made_by WHERE f.kind = ? AND f.uri = ? AND f.last_modified_at IS NOT NULL"
    " AND a.deleted_at IS NULL"
)
_MAKERS = (
    "SELECT s.session_id, s.n, e.tool_input, e.cwd FROM artifacts a JOIN steps s ON s.id = a.made_by"
    " LEFT JOIN agent_events e ON e.event_id = a.made_by WHERE a.kind = ? AND a.uri = ? AND s.at_us < ?"
    " ORDER BY a.version DESC LIMIT 16"
)
_EARLIER = (
    "SELECT s.session_id, s.at_us, s.n, a.digest FROM artifacts a JOIN steps s ON s.id = a.made_by"
    " WHERE a.kind = ? AND a.uri = ? AND s.at_us < ? ORDER BY a.version DESC LIMIT 1"
)
_VERSION = (
    "SELECT s.session_id, s.n, a.made_by, a.thing FROM artifacts a JOIN steps s ON s.id = a.made_by"
    " WHERE a.kind = ? AND a.uri = ? AND a.digest = ? ORDER BY a.version DESC LIMIT 1"
)
_NEWEST = (
    "SELECT s.session_id, s.n, a.made_by, a.thing, a.digest, f.last_modified_at, f.last_modified_source FROM artifact_facts f"
    " JOIN artifacts a ON a.artifact_id = f.current_artifact_id JOIN steps s ON s.id = a.made_by"
    " WHERE f.kind = ? AND f.uri = ? AND f.last_modified_at IS NOT NULL"
)
_FETCHED = (
    "SELECT 1 FROM accesses x JOIN flows f ON f.target_step = x.step_id AND f.target_k = x.k"
    " JOIN accesses y ON y.step_id = f.source_step AND y.k = f.source_k"
    " WHERE x.step_id = ? AND x.thing = ? AND y.operation = 'fetch' LIMIT 1"
)
_NEAR_US = 2_000_000
"""So long after a call's end a file may have been written by it: file systems and clocks differ."""
_EVER = (1 << 63) - 1
_NAMED = "SELECT session_id FROM sessions WHERE agent_id = ? AND source_session IN (?, ?, ?, ?) LIMIT 8"
_CHILDREN = (
    "SELECT session_id FROM session_edges WHERE n = 0 AND kind IN ('child', 'continuation')"
    " AND parent_session IN (SELECT session_id FROM sessions WHERE agent_id = ? AND source_session = ?) LIMIT 256"
)
_NAME = (
    "SELECT agent_id, coalesce(source_session, session_id),"
    " CASE WHEN kind IN ('child', 'continuation') THEN parent_session END FROM sessions WHERE session_id = ?"
)
_ASKED = (
    "SELECT d.session_id, d.n, d.offset, d.at_us FROM steps d WHERE d.type = 'decision' AND d.at_us >= ?"
    " AND d.meta LIKE '%\"provenance.%' ORDER BY d.at_us DESC LIMIT ?"
)
_RAN = (
    "SELECT 1 FROM steps d JOIN sessions s ON s.session_id = d.session_id"
    " JOIN intents i ON i.step_id = s.first_id + d.parent"
    " WHERE d.session_id = ? AND d.n = ? AND d.id = s.first_id + d.n AND i.outcome = 'confirmed' LIMIT 1"
)


class LastChange(msgspec.Struct, frozen=True, kw_only=True):
    """The newest change of a file that is in the index."""

    is_outside: bool
    """It was seen, and no agent's call explains it."""
    session: str | None
    n: int | None
    at_us: int
    digest: str | None = None
    """`sha256:…` of what the file held then, where that was seen."""


class VersionMaker(msgspec.Struct, frozen=True, kw_only=True):
    """Who made a version of a file, and by which command, if it was one."""

    session: str
    n: int
    command: str | None
    folder: str | None


class FileVersion(msgspec.Struct, frozen=True, kw_only=True):
    """The call that wrote what a file holds."""

    session: str
    n: int
    is_download: bool = False
    """It took that from the network."""


class AskedStep(msgspec.Struct, frozen=True, kw_only=True):
    """A decision by which the user was asked: where it stands."""

    session: str
    n: int
    offset: int
    at_us: int


def last_change(graph: Graph, path: str) -> LastChange | None:
    """The newest change of the file at an absolute path. Raises GraphError."""
    row = graph.row(_LAST, file_thing(path))
    if row is None:
        return None
    source, session, at_ms, n, _, digest = row
    return LastChange(is_outside=source == "outside", session=session, n=n, at_us=at_ms * 1000, digest=digest or None)


def earlier_change(graph: Graph, path: str, before_us: int) -> LastChange | None:
    """The newest change of a file before a time, of those that a call made. Raises GraphError."""
    row = graph.row(_EARLIER, (*file_thing(path), before_us))
    if row is None:
        return None
    session, at_us, n, digest = row
    return LastChange(is_outside=False, session=session, n=n, at_us=at_us, digest=digest or None)


def version_maker(graph: Graph, path: str, digest: str, modified_us: int) -> FileVersion | None:
    """The call that wrote what a file holds now; None: none that the index has. Raises GraphError.

    Where no one saw what the newest call left, that call counts if the file was not written since.

    Args:
        digest: `sha256:…` of what it holds. modified_us: when it was written last, by the file system.
    """
    thing = file_thing(path)
    found = graph.row(_VERSION, (*thing, digest))
    if found is None:
        newest = graph.row(_NEWEST, thing)
        if newest is None or newest[4] or newest[6] == "outside" or modified_us > newest[5] * 1000 + _NEAR_US:
            return None
        found = newest[:4]
    session, n, step, of = found
    return FileVersion(session=session, n=n, is_download=graph.row(_FETCHED, (step, of)) is not None)


def makers(graph: Graph, path: str, before_us: int = _EVER) -> list[VersionMaker]:
    """Who made the newest versions of a file, newest first; those before a time. Raises GraphError."""
    return [
        VersionMaker(session=row[0], n=row[1], command=_command(row[2]), folder=row[3])
        for row in graph.rows(_MAKERS, (*file_thing(path), before_us))
    ]


def _command(told: str | None) -> str | None:
    try:
        found = None
        if told:
            found = orjson.loads(told)
    except orjson.JSONDecodeError:
        return None
    command = None
    if isinstance(found, dict):
        command = found.get("command")
    if isinstance(command, str):
        return command
    return None


def journals_named(graph: Graph, agent: str, source: str) -> list[str]:
    """Our ids of an agent's session, its first continuations, and of what belongs to it. Raises GraphError."""
    names = (source, f"{source}~1", f"{source}~2", f"{source}~3")
    own = [row[0] for row in graph.rows(_NAMED, (agent, *names))]
    return [*own, *(row[0] for row in graph.rows(_CHILDREN, (agent, source)))]


def name_of_session(graph: Graph, session: str) -> list[tuple[str, str, str | None]]:
    """The agent of a session, the agent's own id of it, and the session it belongs to: one row or none. Raises GraphError."""
    return [(row[0], row[1], row[2]) for row in graph.rows(_NAME, (session,))]


def asked_about_files(graph: Graph, since_us: int, *, limit: int) -> list[AskedStep]:
    """Decisions by which a user was asked about files that were run, newest first. Raises GraphError."""
    rows = graph.rows(_ASKED, (since_us, limit))
    return [AskedStep(session=row[0], n=row[1], offset=row[2], at_us=row[3]) for row in rows]


def has_run(graph: Graph, asked: AskedStep) -> bool:
    """Whether the call that a decision is on was made in the end, as its result says. Raises GraphError."""
    return graph.row(_RAN, (asked.session, asked.n)) is not None
