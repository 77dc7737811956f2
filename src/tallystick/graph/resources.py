"""Finding the thing that someone means by a path, a URL or a part of one, and all that is kept of it.

Owns those queries. What a path means on this machine, and what to say where it means nothing, is for others to know.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import msgspec

from tallystick.graph.graph import Graph, Row
from tallystick.graph.relating import evidence_of
from tallystick.model.step import Json

KINDS = ("file", "url", "mcp_resource", "commit", "search")
"""What kinds of things there are."""


class Named(msgspec.Struct, frozen=True, order=True):
    """A thing, by its kind and URI."""

    kind: str
    uri: str


def shown_name(thing: Named) -> str:
    """A thing's URI as a person writes it: a file by its path."""
    if thing.kind != "file":
        return thing.uri
    if thing.uri.startswith("file://"):
        return thing.uri.removeprefix("file://")
    return thing.uri.removeprefix("file:")


class VersionRow(msgspec.Struct, frozen=True, kw_only=True):
    """A version of a thing. Times are milliseconds since 1970."""

    id: int
    version: int
    digest: str
    created_at_ms: int | None
    updated_at_ms: int | None
    deleted_at_ms: int | None
    made_by: int | None
    metadata: dict[str, Json]


class ListedThing(msgspec.Struct, frozen=True, kw_only=True):
    """A thing as a list shows it: how many versions it has, and when the newest was last seen."""

    kind: str
    uri: str
    versions: int
    updated_at_ms: int | None
    deleted_at_ms: int | None


class RiskTag(msgspec.Struct, frozen=True, kw_only=True):
    """What a rule said about a version of a thing."""

    artifact_id: int
    digest: str
    rule_id: str
    severity: str
    action: str
    message: str
    confidence: float
    observed_at: int


class Observation(msgspec.Struct, frozen=True, kw_only=True):
    """That the content of a version was looked at."""

    artifact_id: int
    session_id: str | None
    digest: str
    size_bytes: int
    content_truncated: bool
    observed_at: int


def thing_named(graph: Graph, kind: str, uri: str) -> Named | None:
    """The thing with exactly this URI, if anything is known of it. Raises GraphError."""
    row = graph.row("SELECT 1 FROM artifacts WHERE kind = ? AND uri = ? LIMIT 1", (kind, uri))
    if row is None:
        return None
    return Named(kind, uri)


def things_below(graph: Graph, kind: str, prefix: str, *, limit: int) -> tuple[Named, ...]:
    """Things whose URI begins so, in the order of URIs."""
    rows = graph.rows(
        "SELECT DISTINCT kind, uri FROM artifacts WHERE kind = ? AND uri >= ? AND uri < ? ORDER BY uri LIMIT ?",
        (kind, prefix, prefix + "\U0010ffff", limit),
    )
    return tuple(Named(*row) for row in rows)


def things_ending(graph: Graph, kind: str, suffix: str, *, limit: int) -> tuple[Named, ...]:
    """Things whose URI ends so. Goes through the URIs of that kind, in their index."""
    rows = graph.rows(
        "SELECT DISTINCT kind, uri FROM artifacts WHERE kind = ? AND substr(uri, ?) = ? ORDER BY uri LIMIT ?",
        (kind, -len(suffix), suffix, limit),
    )
    return tuple(Named(*row) for row in rows)


def things_holding(graph: Graph, kind: str, part: str, *, limit: int) -> tuple[Named, ...]:
    """Things in whose URI a text stands, whatever its case: names to offer where none exists that was meant."""
    rows = graph.rows(
        "SELECT DISTINCT kind, uri FROM artifacts WHERE kind = ? AND instr(lower(uri), lower(?)) ORDER BY uri LIMIT ?",
        (kind, part, limit),
    )
    return tuple(Named(*row) for row in rows)


def newest_things(graph: Graph, kind: str, *, limit: int) -> tuple[Named, ...]:
    """The files that were changed last."""
    rows = graph.rows(
        "SELECT kind, uri FROM artifact_facts WHERE last_modified_at IS NOT NULL AND kind = ?"
        " ORDER BY last_modified_at DESC LIMIT ?",
        (kind, limit),
    )
    return tuple(Named(*row) for row in rows)


def versions_of(graph: Graph, thing: Named, *, limit: int | None = None) -> tuple[VersionRow, ...]:
    """The versions of a thing, newest first. Raises GraphError."""
    rows = graph.rows(
        "SELECT artifact_id, version, digest, created_at, updated_at, deleted_at, made_by, metadata FROM artifacts"
        " WHERE kind = ? AND uri = ? ORDER BY version DESC, artifact_id LIMIT ?",
        (thing.kind, thing.uri, -1 if limit is None else limit),
    )
    return tuple(_version(row) for row in rows)


def _version(row: Row) -> VersionRow:
    *plain, metadata = row
    values = dict(zip(VersionRow.__struct_fields__, plain, strict=False))
    return VersionRow(**values, metadata=evidence_of(metadata))


def version_count(graph: Graph, thing: Named) -> int:
    """How many versions of a thing there are."""
    row = graph.row("SELECT count(*) FROM artifacts WHERE kind = ? AND uri = ?", (thing.kind, thing.uri))
    if row is None:
        return 0
    return int(row[0])


def writes_of(graph: Graph, thing: Named, *, limit: int) -> tuple[tuple[int, int, str, float], ...]:
    """Who made or changed the versions of a thing, newest first: version, step, operation, confidence."""
    rows = graph.rows(
        "SELECT x.artifact_id, x.step_id, x.operation, x.confidence FROM accesses x"
        " WHERE x.thing IN (SELECT thing FROM artifacts WHERE kind = ? AND uri = ?)"
        f" AND x.operation IN ({', '.join('?' * len(_WRITING))}) AND x.artifact_id IS NOT NULL"
        " ORDER BY x.at_us DESC, x.step_id DESC, x.k DESC LIMIT ?",
        (thing.kind, thing.uri, *_WRITING, limit),
    )
    return tuple((row[0], row[1], row[2], row[3]) for row in rows)


_WRITING = ("write", "append", "edit", "copy_dest", "create", "modify")


def list_things(graph: Graph, *, kinds: Sequence[str], prefix: str, limit: int) -> tuple[ListedThing, ...]:
    """Things in the order of their URIs, those whose URI begins with `prefix`. Raises GraphError."""
    found: list[ListedThing] = []
    for kind in kinds:
        rows = graph.rows(
            "SELECT kind, uri, count(*), max(updated_at), max(CASE WHEN deleted_at IS NULL THEN NULL ELSE deleted_at END),"
            " max(version) FROM artifacts WHERE kind = ? AND uri >= ? AND uri < ? GROUP BY uri ORDER BY uri LIMIT ?",
            (kind, prefix, prefix + "\U0010ffff", limit - len(found)),
        )
        found += [
            ListedThing(kind=row[0], uri=row[1], versions=row[2], updated_at_ms=row[3], deleted_at_ms=_gone(row))
            for row in rows
        ]
    return tuple(found)


def _gone(row: Row) -> int | None:
    """When the thing was removed, None if it was made again since."""
    updated, deleted = row[3], row[4]
    return deleted if deleted is not None and deleted >= (updated or 0) else None


def facts_of(graph: Graph, thing: Named) -> dict[str, Json] | None:
    """The row of `artifact_facts`, by column; None where none exists."""
    columns = [row[1] for row in graph.rows("PRAGMA table_info(artifact_facts)")]
    row = graph.row(
        f"SELECT {', '.join(columns)} FROM artifact_facts WHERE kind = ? AND uri = ?", (thing.kind, thing.uri)
    )
    if row is None:
        return None
    return dict(zip(columns, row, strict=True))


def tags_of(graph: Graph, versions: Sequence[int]) -> tuple[RiskTag, ...]:
    """What rules said about some versions, newest first."""
    tags = _of_versions(graph, "artifact_risk_tags", RiskTag, versions)
    return tuple(sorted(tags, key=lambda tag: (-tag.observed_at, tag.rule_id, tag.message)))


def observations_of(graph: Graph, versions: Sequence[int]) -> tuple[Observation, ...]:
    """When the content of some versions was looked at, newest first."""
    seen = _of_versions(graph, "artifact_observations", Observation, versions)
    return tuple(sorted(seen, key=lambda one: (-one.observed_at, one.digest)))


_Kept = TypeVar("_Kept", RiskTag, Observation)


def _of_versions(graph: Graph, table: str, form: type[_Kept], versions: Sequence[int]) -> list[_Kept]:
    """The rows of a table about some versions; the form has the names of its columns."""
    fields = form.__struct_fields__
    sql = f"SELECT {', '.join(fields)} FROM {table} WHERE artifact_id = ?"
    rows = (row for version in versions for row in graph.rows(sql, (version,)))
    return [form(**dict(zip(fields, row, strict=True))) for row in rows]


class WrittenFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file that a call made or changed: the newest such version, and the step of the call."""

    uri: str
    version: int
    step: int
    session: str
    n: int
    request: int | None
    at_ms: int


def written_files(graph: Graph) -> tuple[WrittenFile, ...]:
    """Every file that an agent wrote, in the order of URIs. Goes through all versions."""
    rows = graph.rows(
        "SELECT a.uri, max(a.version), a.made_by, s.session_id, s.n, s.request, s.at_us / 1000 FROM artifacts a"
        " JOIN steps s ON s.id = a.made_by WHERE a.kind = 'file'"
        " AND NOT EXISTS (SELECT 1 FROM system_events e WHERE e.event_id = a.made_by) GROUP BY a.uri ORDER BY a.uri"
    )
    return tuple(WrittenFile(**dict(zip(WrittenFile.__struct_fields__, row, strict=True))) for row in rows)
