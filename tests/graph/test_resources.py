"""Finding things, and all that is kept of them."""

from __future__ import annotations

import pytest

from tallystick.graph.graph import Graph
from tallystick.graph.resources import (
    Named,
    facts_of,
    list_things,
    newest_things,
    observations_of,
    tags_of,
    thing_named,
    things_below,
    things_ending,
    things_holding,
    version_count,
    versions_of,
    writes_of,
    written_files,
)
from tests.graph.weaving import Weave


@pytest.fixture
def weave(graph: Graph) -> Weave:
    return Weave(graph)


A, B = Named("file", "file:///w/a.txt"), Named("file", "file:///w/b%_.txt")


def test_a_thing_is_found_by_its_name_a_beginning_an_end_and_a_part(weave: Weave) -> None:
    for thing in (A, B):
        weave.version(thing.uri)
    assert thing_named(weave.graph, "file", A.uri) == A
    assert thing_named(weave.graph, "url", A.uri) is None
    assert things_below(weave.graph, "file", "file:///w/a", limit=5) == (A,)
    assert things_ending(weave.graph, "file", "/b%_.txt", limit=5) == (B,)
    assert things_ending(weave.graph, "file", "/a%_.txt", limit=5) == ()
    assert things_holding(weave.graph, "file", "W/A", limit=5) == (A,)
    assert things_holding(weave.graph, "file", ".txt", limit=1) == (A,)


def test_versions_come_newest_first(weave: Weave) -> None:
    one = weave.session("one")
    ids = [one.writes(one.call("Write"), A.uri) for _ in range(3)]
    assert [row.id for row in versions_of(weave.graph, A)] == ids[::-1]
    assert [row.version for row in versions_of(weave.graph, A, limit=2)] == [3, 2]
    assert version_count(weave.graph, A) == 3
    assert versions_of(weave.graph, B) == ()


def test_writes_come_newest_first_and_reads_not_at_all(weave: Weave) -> None:
    version = weave.version(A.uri)
    row = weave.graph.row("SELECT thing FROM artifacts WHERE artifact_id = ?", (version,))
    assert row is not None
    for at_us, (operation, artifact) in enumerate(
        [("write", 1), ("read", 1), ("edit", 2), ("delete", 2), ("append", None), ("modify", 3)]
    ):
        columns = {"thing": row[0], "at_us": at_us, "step_id": 10 + at_us, "k": 0, "operation": operation}
        columns |= {
            "actor": "agent_event",
            "request_id": 1,
            "confidence": 0.9,
            "artifact_id": artifact,
            "evidence": "{}",
        }
        weave.insert("accesses", columns)
    assert writes_of(weave.graph, A, limit=9) == ((3, 15, "modify", 0.9), (2, 12, "edit", 0.9), (1, 10, "write", 0.9))
    assert len(writes_of(weave.graph, A, limit=1)) == 1


def test_a_list_says_how_many_versions_and_what_is_gone(weave: Weave) -> None:
    one = weave.session("one")
    one.writes(one.call("Write"), A.uri)
    one.changes(one.call("Edit"), A.uri)
    one.writes(one.call("Write"), B.uri)
    one.deletes(one.call("Bash"), B.uri)
    weave.version("https://example.org", kind="url")
    found = list_things(weave.graph, kinds=("url", "file"), prefix="", limit=9)
    assert [(thing.kind, thing.versions, thing.deleted_at_ms is not None) for thing in found] == [
        ("url", 1, False),
        ("file", 2, False),
        ("file", 1, True),
    ]
    assert list_things(weave.graph, kinds=("file",), prefix="file:///w/a", limit=9) == (found[1],)
    assert len(list_things(weave.graph, kinds=("url", "file"), prefix="", limit=2)) == 2


def test_facts_are_told_by_column(weave: Weave) -> None:
    weave.insert("artifact_facts", {"kind": A.kind, "uri": A.uri, "last_seen_at": 7, "last_modified_at": 6})
    facts = facts_of(weave.graph, A)
    assert facts is not None
    assert (facts["last_seen_at"], facts["is_agent_authored"]) == (7, 0)
    assert facts_of(weave.graph, B) is None
    assert newest_things(weave.graph, "file", limit=3) == (A,)


def test_tags_and_observations_belong_to_versions(weave: Weave) -> None:
    tag = {"artifact_id": 1, "digest": "", "rule_id": "r", "severity": "high", "action": "warn", "message": "m"}
    weave.insert("artifact_risk_tags", tag | {"observed_at": 5})
    weave.insert("artifact_observations", {"artifact_id": 1, "digest": "d", "size_bytes": 3, "observed_at": 4})
    (found,) = tags_of(weave.graph, [1, 2])
    assert (found.rule_id, found.observed_at, found.confidence) == ("r", 5, 1.0)
    (seen,) = observations_of(weave.graph, [2, 1])
    assert (seen.digest, seen.size_bytes) == ("d", 3)


def test_written_files_are_those_that_a_call_made_or_changed(weave: Weave) -> None:
    one = weave.session("one")
    one.prompt("a")
    one.writes(one.call("Write"), A.uri)
    edit = one.call("Edit")
    one.changes(edit, A.uri)
    one.reads(one.call("Read"), "file:///w/read")
    one.writes(one.effect("create", "/w/seen"), "file:///w/seen", actor="system_event")
    (file,) = written_files(weave.graph)
    assert (file.uri, file.version, file.step, file.n, file.request) == (A.uri, 2, one.first_id + edit, edit, 1)
