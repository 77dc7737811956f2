"""Making versions and relations of things again after something new was said of them.

Owns the SQL of it and the order: first each thing by itself, then what flowed between two, then which request derives from
which. Must not know the rules: those are `lineage`'s. A thing's rows are compared with those that are there and only the
difference is written, so settling twice changes nothing, and it does not matter where it was cut short: what is not done is
still in `unsettled`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter

import msgspec
import orjson
from msgspec.structs import astuple

from tallystick.graph.graph import Graph, Row
from tallystick.graph.projection.risk_tags import REMOVE_TAG, WRITE_TAG, Meaning, TagRow, old_rows, tag_rows, worst
from tallystick.graph.projection.statements import columns, insertion
from tallystick.lineage.access import AGENT, CHANGING, Access
from tallystick.lineage.facts import FactRow, facts_of
from tallystick.lineage.identity import observation_id
from tallystick.lineage.relations import End, Evidence, Link, Relation, links, merged, of_flow, of_uses, relation
from tallystick.lineage.things import Thing
from tallystick.lineage.versions import History, Version, history

_THINGS_A_CHUNK = 400
_ROWS_A_CHUNK = 10_000
"""So many accesses or flows, at most, but for one thing that has more: they are in memory together."""
_CHUNKS_A_TRANSACTION = 10


class ArtifactRow(msgspec.Struct, array_like=True):
    """One row of `artifacts`, columns in the order of the table."""

    artifact_id: int
    kind: str
    uri: str
    digest: str
    created_at: int
    updated_at: int
    metadata: str | None
    version: int
    thing: int
    made_by: int | None
    deleted_at: int | None


def _replacing(table: str, row: type[msgspec.Struct]) -> str:
    return insertion(table, row).replace("INSERT", "INSERT OR REPLACE", 1)


_WRITE_ARTIFACT = _replacing("artifacts", ArtifactRow)
_WRITE_RELATION = _replacing("relations", Relation)
_WRITE_LINK = _replacing("links", Link)
_WRITE_FACT = _replacing("artifact_facts", FactRow)


@dataclass(frozen=True)
class _Table:
    """A table whose rows are compared: the column that names a row, and the statement that writes one."""

    name: str
    key: str
    write: str


_ARTIFACT_TABLE = _Table("artifacts", "artifact_id", _WRITE_ARTIFACT)
_RELATION_TABLE = _Table("relations", "relation_id", _WRITE_RELATION)
_ACCESSES = f"SELECT {columns(Access)} FROM accesses WHERE thing IN ({{}}) ORDER BY thing, at_us, step_id, k"
_ARTIFACTS = f"SELECT {columns(ArtifactRow)} FROM artifacts WHERE thing IN ({{}})"
_RELATIONS = f"SELECT {columns(Relation)} FROM relations WHERE"
_OF_SOURCES = f"{_RELATIONS} src_kind = 'artifact' AND src_id IN ({{}})"
_OF_TARGETS = f"{_RELATIONS} dst_kind = 'artifact' AND dst_id IN ({{}})"
_DERIVED_IN = f"{_OF_TARGETS} AND relation_type = 'derived_from'"
_DERIVED_OUT = (
    f"{_OF_SOURCES} AND relation_type = 'derived_from' AND NOT EXISTS"
    " (SELECT 1 FROM artifacts a JOIN unsettled u ON u.thing = a.thing WHERE a.artifact_id = dst_id)"
)
_LINKS = f"SELECT {columns(Link)} FROM links WHERE artifact_id IN ({{}})"
_CAUSED = f"{_RELATIONS} relation_type = 'caused' AND dst_kind = 'system_event' AND dst_id IN ({{}})"
_ENDS = (
    "f.confidence, f.via, s.thing, s.artifact_id, s.confidence, s.at_us, t.thing, t.artifact_id, t.confidence, t.at_us,"
    " t.evidence"
)
_FLOWS_IN = (
    f"SELECT {_ENDS} FROM accesses t CROSS JOIN flows f ON f.target_step = t.step_id AND f.target_k = t.k"
    " CROSS JOIN accesses s ON s.step_id = f.source_step AND s.k = f.source_k WHERE t.thing IN ({})"
)
_FLOWS_OUT = (
    f"SELECT {_ENDS} FROM accesses s CROSS JOIN flows f ON f.source_step = s.step_id AND f.source_k = s.k"
    " CROSS JOIN accesses t ON t.step_id = f.target_step AND t.k = f.target_k WHERE s.thing IN ({})"
    " AND t.thing NOT IN (SELECT thing FROM unsettled)"
)
_ACCESSES_OF_EACH = (
    "SELECT u.thing, count(a.thing) FROM unsettled u LEFT JOIN accesses a ON a.thing = u.thing"
    " GROUP BY u.thing ORDER BY u.thing"
)
_FLOWS_OF_EACH = (
    "SELECT u.thing, count(f.target_step) FROM unsettled u LEFT JOIN accesses t ON t.thing = u.thing"
    " LEFT JOIN flows f ON f.target_step = t.step_id AND f.target_k = t.k GROUP BY u.thing ORDER BY u.thing"
)
_PAIR = (
    "SELECT l.at_us, l.artifact_id, l.confidence, a.uri FROM links l JOIN artifacts a ON a.artifact_id = l.artifact_id"
    " WHERE l.src_request = ? AND l.dst_request = ? ORDER BY l.at_us, l.artifact_id"
)


def settle(graph: Graph, meaning: Meaning) -> int:
    """Settle every thing that is unsettled; how many there were. `meaning`: what a tag of a content says.

    Raises:
        GraphError: the index cannot be written. What was committed stays, and the rest is still unsettled.
    """
    things = graph.rows(_ACCESSES_OF_EACH)
    if not things:
        return 0
    _in_transactions(graph, things, lambda graph, some: _settle_alone(graph, some, meaning))
    _in_transactions(graph, graph.rows(_FLOWS_OF_EACH), _settle_flows)
    graph.begin()
    graph.change_many("DELETE FROM unsettled WHERE thing = ?", [(thing,) for thing, _ in things])
    graph.commit()
    return len(things)


def _in_transactions(graph: Graph, things: Sequence[Row], work: Callable[[Graph, Sequence[int]], None]) -> None:
    """Have some things at a time worked on, as many as their rows allow."""
    chunks = list(_sized(things))
    for start in range(0, len(chunks), _CHUNKS_A_TRANSACTION):
        graph.begin()
        for chunk in chunks[start : start + _CHUNKS_A_TRANSACTION]:
            work(graph, chunk)
        graph.commit()


def _sized(things: Sequence[Row]) -> Iterator[Sequence[int]]:
    """Things, each with how many rows it has, in chunks."""
    chunk: list[int] = []
    size = 0
    for thing, rows in things:
        if len(chunk) == _THINGS_A_CHUNK or (chunk and size + rows > _ROWS_A_CHUNK):
            yield chunk
            chunk, size = [], 0
        chunk.append(thing)
        size += rows
    if chunk:
        yield chunk


def _many(graph: Graph, sql: str, values: Sequence[int]) -> list[Row]:
    if values:
        return graph.rows(sql.format(", ".join("?" * len(values))), values)
    return []


# Each thing by itself -------------------------------------------------------------------------------------------------


def _settle_alone(graph: Graph, things: Sequence[int], meaning: Meaning) -> None:
    """Versions, facts, and the relations to calls and requests."""
    told = {
        thing: history(thing, list(group))
        for thing, group in groupby((Access(*row) for row in _many(graph, _ACCESSES, things)), attrgetter("thing"))
    }
    names = {row[0]: Thing(row[1], row[2]) for row in _many(graph, "SELECT * FROM things WHERE thing IN ({})", things)}
    old = {row[0]: ArtifactRow(*row) for row in _many(graph, _ARTIFACTS, things)}
    new = {row.artifact_id: row for thing in told for row in _artifacts(thing, names[thing], told[thing])}
    _write_difference(graph, _ARTIFACT_TABLE, old, new)
    gone = [(id_,) for id_ in old if id_ not in new]
    graph.change_many("DELETE FROM relations WHERE src_kind = 'artifact' AND src_id = ?", gone)
    graph.change_many("DELETE FROM relations WHERE dst_kind = 'artifact' AND dst_id = ?", gone)
    _assign(graph, told)
    tags = _write_tags(graph, [*old, *new], new, meaning)
    _write_facts(graph, names, told, tags)
    _write_own_relations(graph, old, told)
    _write_links(graph, old, told)
    graph.change_many("DELETE FROM things WHERE thing = ?", [(thing,) for thing in things if thing not in told])


def _artifacts(thing: int, name: Thing, told: History) -> Iterator[ArtifactRow]:
    return (_artifact(thing, name, version) for version in told.versions)


def _artifact(thing: int, name: Thing, version: Version) -> ArtifactRow:
    made_by = deleted_at = None
    if version.made_by is not None:
        made_by = version.made_by.step_id
    if version.deleted_us is not None:
        deleted_at = version.deleted_us // 1000
    return ArtifactRow(
        version.id,
        name.kind,
        name.uri,
        version.digest or "",
        version.created_us // 1000,
        version.updated_us // 1000,
        None,
        version.number,
        thing,
        made_by,
        deleted_at,
    )


def _assign(graph: Graph, told: dict[int, History]) -> None:
    """Write to each access which version it is of, where that is not what it says."""
    changed = [
        (use.version.id, use.access.thing, use.access.at_us, use.access.step_id, use.access.k)
        for one in told.values()
        for use in one.uses
        if use.access.artifact_id != use.version.id
    ]
    graph.change_many(
        "UPDATE accesses SET artifact_id = ? WHERE thing = ? AND at_us = ? AND step_id = ? AND k = ?", changed
    )
    observed = [
        (use.version.id, observation_id(use.access.step_id, use.access.k))
        for one in told.values()
        for use in one.uses
        if use.access.digest is not None and use.access.artifact_id != use.version.id
    ]
    graph.change_many("UPDATE artifact_observations SET artifact_id = ? WHERE observation_id = ?", observed)


def _write_tags(
    graph: Graph, artifacts: Sequence[int], new: dict[int, ArtifactRow], meaning: Meaning
) -> dict[int, list[TagRow]]:
    """Write what is found in the contents of versions; the rows, by version."""
    before: dict[int, TagRow] = {}
    after: dict[int, TagRow] = {}
    uris = {id_: row.uri for id_, row in new.items()}
    for some in _chunks(list(dict.fromkeys(artifacts))):
        before |= old_rows(graph, some)
        current = [id_ for id_ in some if id_ in new]
        after |= {row.tag_id: row for row in tag_rows(graph, current, uris, meaning)}
    graph.change_many(REMOVE_TAG, [(id_,) for id_, row in before.items() if after.get(id_) != row])
    graph.change_many(WRITE_TAG, [astuple(row) for id_, row in after.items() if before.get(id_) != row])
    found: dict[int, list[TagRow]] = {}
    for row in after.values():
        found.setdefault(row.artifact_id, []).append(row)
    return found


def _with_risk(row: FactRow, tags: dict[int, list[TagRow]]) -> FactRow:
    """The facts of a file, with what is found in what it holds now."""
    found = worst(tags.get(row.current_artifact_id or 0, ()))
    if found is not None:
        row.risk_level, row.risk_rule_id = found.severity, found.rule_id
        row.risk_digest, row.risk_updated_at = found.digest, found.observed_at
    return row


def _write_facts(
    graph: Graph, names: dict[int, Thing], told: dict[int, History], tags: dict[int, list[TagRow]]
) -> None:
    # By URI alone no one can ask for a file whose folder was not reported.
    files = {thing: one for thing, one in told.items() if names[thing].uri.startswith("file://")}
    changes = [use.access for one in files.values() for use in one.uses if use.access.deed in CHANGING]
    writers = {access.step_id for access in changes if access.cause is None}
    writers |= {access.cause for access in changes if access.cause is not None}
    sessions: dict[int, str] = {}
    for some in _chunks(sorted(writers)):
        sessions |= dict(_many(graph, "SELECT id, session_id FROM steps WHERE id IN ({})", some))
    rows = (_with_risk(facts_of(names[thing], one, sessions), tags) for thing, one in files.items())
    graph.change_many(_WRITE_FACT, map(astuple, rows))
    gone = [tuple(name) for thing, name in names.items() if thing not in told]
    graph.change_many("DELETE FROM artifact_facts WHERE kind = ? AND uri = ?", gone)


def _write_own_relations(graph: Graph, old_artifacts: dict[int, ArtifactRow], told: dict[int, History]) -> None:
    old: dict[int, Relation] = {}
    for some in _chunks(list(old_artifacts)):
        for sql in (_OF_SOURCES, _OF_TARGETS):
            old |= {row[0]: Relation(*row) for row in _many(graph, sql, some)}
    if old_artifacts:
        effects = [use.access.step_id for one in told.values() for use in one.uses if use.access.actor != AGENT]
        for some in _chunks(effects):
            old |= {row[0]: Relation(*row) for row in _many(graph, _CAUSED, some)}
    own = {id_: row for id_, row in old.items() if row.relation_type != "derived_from"}
    _write_difference(graph, _RELATION_TABLE, own, merged(edge for one in told.values() for edge in of_uses(one)))


def _write_links(graph: Graph, old_artifacts: dict[int, ArtifactRow], told: dict[int, History]) -> None:
    old: dict[tuple[int, int, int], Link] = {}
    for some in _chunks(list(old_artifacts)):
        old |= {row[:3]: Link(*row) for row in _many(graph, _LINKS, some)}
    new = {key: link for one in told.values() for key, link in links(one).items()}
    gone = [key for key in old if key not in new]
    changed = [link for key, link in new.items() if old.get(key) != link]
    graph.change_many("DELETE FROM links WHERE artifact_id = ? AND src_request = ? AND dst_request = ?", gone)
    graph.change_many(_WRITE_LINK, map(astuple, changed))
    pairs = {key[1:] for key in gone} | {(link.src_request, link.dst_request) for link in changed}
    for source, target in sorted(pairs):
        _write_pair(graph, source, target)


def _write_pair(graph: Graph, source: int, target: int) -> None:
    """The relation of two requests: it stands on all versions that one made and the other used."""
    rows = graph.rows(_PAIR, (source, target))
    if not rows:
        graph.change(
            "DELETE FROM relations WHERE src_kind = 'request' AND src_id = ? AND dst_kind = 'request' AND dst_id = ?"
            " AND relation_type = 'derived_from'",
            (source, target),
        )
        return
    said = {"artifact": rows[0][3], "artifact_id": rows[0][1], "artifacts": len({row[3] for row in rows})}
    evidence = Evidence(max(row[2] for row in rows), orjson.dumps(said).decode(), rows[0][0])
    edge = relation(("request", source), "derived_from", ("request", target), evidence)
    graph.change(_WRITE_RELATION, astuple(edge))


# What flowed between things -------------------------------------------------------------------------------------------


def _settle_flows(graph: Graph, things: Sequence[int]) -> None:
    """The relations from what was read to what was written from it.

    One between two things that are both unsettled is made with the one that was written.
    """
    ids = [row[0] for row in _many(graph, "SELECT artifact_id FROM artifacts WHERE thing IN ({})", things)]
    old: dict[int, Relation] = {}
    for some in _chunks(ids):
        for sql in (_DERIVED_IN, _DERIVED_OUT):
            old |= {row[0]: Relation(*row) for row in _many(graph, sql, some)}
    rows = [*_many(graph, _FLOWS_IN, things), *_many(graph, _FLOWS_OUT, things)]
    _write_difference(graph, _RELATION_TABLE, old, merged(_derived(rows)))


def _derived(rows: Iterable[Row]) -> Iterator[Relation]:
    for confidence, via, s_thing, s_id, s_confidence, s_at, t_thing, t_id, t_confidence, t_at, evidence in rows:
        if s_thing == t_thing or s_id is None or t_id is None:
            continue
        said = orjson.loads(evidence)
        if via != "command":  # what was written with is in the edge from the call
            said = {"step": said.get("step")}
        yield of_flow(
            End(s_id, s_confidence, s_at),
            End(t_id, t_confidence, t_at),
            confidence,
            orjson.dumps({"via": via, **said}).decode(),
        )


# Differences ----------------------------------------------------------------------------------------------------------


def _write_difference(
    graph: Graph,
    table: _Table,
    old: dict[int, ArtifactRow] | dict[int, Relation],
    new: dict[int, ArtifactRow] | dict[int, Relation],
) -> None:
    graph.change_many(f"DELETE FROM {table.name} WHERE {table.key} = ?", [(id_,) for id_ in old if id_ not in new])
    graph.change_many(table.write, [astuple(row) for id_, row in new.items() if old.get(id_) != row])


def _chunks(ids: Sequence[int]) -> Iterator[Sequence[int]]:
    for start in range(0, len(ids), _THINGS_A_CHUNK):
        yield ids[start : start + _THINGS_A_CHUNK]
