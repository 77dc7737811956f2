"""What would be refused if a content ran: rows of `artifact_risk_tags`, by version of a file.

Owns how tags of a content, which its observation keeps, become rows: one a version and tag, by the first call that wrote it.
Must not know what is in a content, nor what a tag says: `content_tags` tells.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

import msgspec
import orjson

from tallystick.graph.graph import Graph, Row
from tallystick.graph.projection.statements import columns, insertion
from tallystick.lineage.identity import digest_id

_CRITICAL = """
reads-secret deletes-home reaches-metadata reverse-shell fork-bomb writes-disk disables-firewall disables-audit clears-logs
disables-protection kills-all
"""
_GRAVE = frozenset(_CRITICAL.split())
_ASKED = frozenset(("writes-start", "decodes-and-runs", "too-large"))
_SEVERITIES = ("critical", "medium", "low")


class TagRow(msgspec.Struct, array_like=True):
    """One row of `artifact_risk_tags`, columns in the order of the table."""

    tag_id: int
    artifact_id: int
    digest: str
    rule_id: str
    severity: str
    action: str
    message: str
    path: str | None
    confidence: float
    source_request_id: int | None
    source_event_id: int | None
    source_session_id: str | None
    observed_at: int
    evidence: str | None


Meaning: TypeAlias = Callable[[str], str]
"""What a tag says, for people."""

WRITE_TAG = insertion("artifact_risk_tags", TagRow)
REMOVE_TAG = "DELETE FROM artifact_risk_tags WHERE tag_id = ?"
_OLD = f"SELECT {columns(TagRow)} FROM artifact_risk_tags WHERE artifact_id IN ({{}})"
_SEEN = (
    "SELECT artifact_id, digest, evidence, request_id, agent_event_id, session_id, observed_at FROM artifact_observations"
    " WHERE artifact_id IN ({}) AND evidence LIKE '%\"tags\"%' ORDER BY observed_at, observation_id"
)


def tag_rows(graph: Graph, versions: Sequence[int], uris: dict[int, str], meaning: Meaning) -> Iterator[TagRow]:
    """The rows of some versions. `uris`: of the file, by version; `meaning`: what a tag says, for people."""
    found: set[tuple[int, str]] = set()
    for artifact, digest, evidence, request, event, session, at in _rows(graph, _SEEN, versions):
        for tag in orjson.loads(evidence).get("tags", ()):
            if (artifact, tag) not in found:
                found.add((artifact, tag))
                severity, action = _weight(tag)
                yield TagRow(
                    digest_id("tag", artifact, digest, tag), artifact, digest, f"content.{tag}", severity, action,
                    meaning(tag), uris.get(artifact), 1.0, request, event, session, at, evidence,
                )  # fmt: skip


def old_rows(graph: Graph, versions: Sequence[int]) -> dict[int, TagRow]:
    """The rows that are there, by id."""
    return {row[0]: TagRow(*row) for row in _rows(graph, _OLD, versions)}


def worst(rows: Sequence[TagRow]) -> TagRow | None:
    """The row that says most against a version."""
    return min(rows, key=lambda row: (_SEVERITIES.index(row.severity), row.rule_id), default=None)


def _weight(tag: str) -> tuple[str, str]:
    if tag in _GRAVE:
        return "critical", "block"
    if tag in _ASKED:
        return "medium", "ask"
    return "low", "warn"


def _rows(graph: Graph, sql: str, values: Sequence[int]) -> list[Row]:
    if values:
        return graph.rows(sql.format(", ".join("?" * len(values))), values)
    return []
