"""W3C PROV of sessions, read and checked with the `prov` library."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prov.model import (
    Literal,
    ProvActivity,
    ProvAgent,
    ProvCommunication,
    ProvDelegation,
    ProvDerivation,
    ProvDocument,
    ProvEntity,
    ProvGeneration,
    ProvInfluence,
    ProvInvalidation,
    ProvMembership,
    ProvRecord,
    ProvUsage,
)

from tallystick.exports import prov_json
from tallystick.exports.lineage import ArtifactVersion, Edge, Lineage, Node
from tallystick.exports.prov_json import Document, qualified, time_of_ms
from tallystick.graph.exported import session_lineage
from tallystick.journal.home import Home
from tallystick.journal.read import read_session
from tallystick.model.recorded import Recorded
from tallystick.model.step import Json, Opening, Step
from tallystick.workspace.indexing import open_index
from tests.exports.conftest import recorded_steps


def document(steps: Sequence[Recorded], lineage: Lineage | None = None, *, with_content: bool = True) -> ProvDocument:
    (line,) = prov_json.write(steps, session="s1", with_content=with_content, lineage=lineage)
    return ProvDocument.deserialize(content=line.decode(), format="json")


def of_kind(found: ProvDocument, kind: type[ProvRecord]) -> list[tuple[str, str]]:
    """The two ends of each relation of a kind."""
    return [(str(record.args[0]), str(record.args[1])) for record in found.get_records(kind)]


def check(found: ProvDocument) -> None:
    """What PROV asks of a document (PROV-CONSTRAINTS, as far as records show it), and what we promise."""
    elements = {str(record.identifier): type(record) for record in found.get_records() if record.is_element()}
    assert len(elements) == sum(record.is_element() for record in found.get_records())
    kinds = {
        ProvUsage: (ProvActivity, ProvEntity),
        ProvGeneration: (ProvEntity, ProvActivity),
        ProvInvalidation: (ProvEntity, ProvActivity),
        ProvDerivation: (ProvEntity, ProvEntity),
        ProvCommunication: (ProvActivity, ProvActivity),
        ProvDelegation: (ProvAgent, ProvAgent),
        ProvMembership: (ProvEntity, ProvEntity),
    }
    for relation, (first, second) in kinds.items():
        for one, other in of_kind(found, relation):
            assert (elements[one], elements[other]) == (first, second), relation
    for relation in (ProvGeneration, ProvInvalidation):
        assert max(Counter(entity for entity, _ in of_kind(found, relation)).values(), default=1) == 1
    assert ProvDocument.deserialize(content=found.serialize(), format="json") == found


@pytest.mark.parametrize("with_content", [False, True])
def test_every_sample_gives_a_document_that_holds_together(indexed_samples: Home, *, with_content: bool) -> None:
    with open_index(indexed_samples) as index:
        for sid, _ in indexed_samples.sessions():
            steps = list(read_session(indexed_samples, sid, load_blobs=True))
            check(document(steps, session_lineage(index.graph, sid), with_content=with_content))


def test_a_sample_shows_what_came_from_what(indexed_samples: Home) -> None:
    with open_index(indexed_samples) as index:
        sid = next(sid for sid, _ in indexed_samples.sessions() if has_prompt(indexed_samples, sid, "15 % off"))
        found = document(list(read_session(indexed_samples, sid, load_blobs=True)), session_lineage(index.graph, sid))
    uris = {
        str(record.identifier): str(next(iter(record.get_attribute("tally:uri")), ""))
        for record in found.get_records(ProvEntity)
    }
    made = [uris[entity] for entity, _ in of_kind(found, ProvGeneration)]
    assert {"file:///home/dev/project/receipts/totals.py", "file:///home/dev/project/tests/test_discount.py"} <= set(
        made
    )
    derived = {(uris[new], uris[old]) for new, old in of_kind(found, ProvDerivation)}
    assert ("file:///home/dev/project/tests/test_discount.py", "file:///home/dev/project/receipts/totals.py") in derived
    by_model = [record for record in found.get_records(ProvDerivation) if '"via":"model"' in evidence(record)]
    assert by_model
    assert all(confidence <= 0.5 for record in by_model for confidence in numbers(record))
    members = {entity for _, entity in of_kind(found, ProvMembership)}
    assert {entity for entity, _ in of_kind(found, ProvGeneration)} <= members


def has_prompt(home: Home, sid: str, words: str) -> bool:
    return any(step.type == "user" and words in (step.text("content.text") or "") for step in read_session(home, sid))


def evidence(record: ProvRecord) -> str:
    return str(next(iter(record.get_attribute("tally:evidence")), ""))


def numbers(record: ProvRecord) -> list[float]:
    return [float(value) for value in record.get_attribute("tally:confidence")]


def test_without_content_no_word_path_or_digest_leaves(indexed_samples: Home) -> None:
    with open_index(indexed_samples) as index:
        for sid, _ in indexed_samples.sessions():
            steps = list(read_session(indexed_samples, sid, load_blobs=True))
            lineage = session_lineage(index.graph, sid)
            bare = b"".join(prov_json.write(steps, session="s1", with_content=False, lineage=lineage))
            full = b"".join(prov_json.write(steps, session="s1", with_content=True, lineage=lineage))
            for version in lineage.artifacts:
                assert version.uri.encode() in full
                assert version.uri.removeprefix("file://").encode() not in bare
                assert str(version.id).encode() not in bare
            assert b"tally:evidence" not in bare
            assert b"prov:value" not in bare


# Made up ----------------------------------------------------------------------------------------------------------------


@pytest.fixture
def steps(tmp_path: Path) -> list[Recorded]:
    return recorded_steps(
        [
            Opening(session="s", agent="demo", meta={"agent_version": "1"}),
            Step(session="s", type="user", source_id="u", values={"content.text": "copy it"}, opens_request=True),
            Step(session="s", type="model_call", source_id="m", meta={"model": "vendor/model x"}),
            Step(session="s", type="tool_call", source_id="c", meta={"tool": "Bash", "corr": "c"}),
            Step(session="s", type="tool_result", source_id="r", meta={"corr": "c", "success": True}),
        ],
        tmp_path / "store",
    )


def version(number: int, *, made_by: Node | None = None, uri: str = "file:///a") -> ArtifactVersion:
    return ArtifactVersion(
        id=number,
        kind="file",
        uri=uri,
        digest="sha256:00",
        version=number,
        created_at_ms=0,
        deleted_at_ms=None,
        made_by=made_by,
    )


def edge(source: Node, relation: str, target: Node) -> Edge:
    return Edge(source=source, target=target, relation=relation, confidence=0.9, evidence='{"step":"x"}', at_ms=1000)


def test_who_did_what_for_whom(steps: list[Recorded]) -> None:
    found, sid = document(steps), steps[0].session
    check(found)
    agent, request, call = f"tally:agent-{sid}", f"tally:request-{sid}-1", f"tally:step-{sid}-3"
    assert of_kind(found, ProvDelegation) == [(agent, "tally:user")]
    assert (call, request) in of_kind(found, ProvCommunication)
    assert (request, f"tally:prompt-{sid}-1") in of_kind(found, ProvUsage)
    models = [record for record in found.get_records(ProvAgent) if record.get_attribute("tally:model")]
    assert [str(next(iter(record.get_attribute("tally:model")))) for record in models] == ["vendor/model x"]
    (session,) = [record for record in found.get_records(ProvEntity) if record.get_attribute("tally:last_hash")]
    assert session.get_attribute("tally:last_hash") == {steps[-1].hash}
    assert session.get_attribute("tally:entries") == {len(steps)}


def test_each_relation_becomes_the_one_of_prov(steps: list[Recorded]) -> None:
    sid = steps[0].session
    call = Node("agent_event", 3, sid, 3)
    request = Node("request", 1, sid, 1)
    earlier = Node("request", 77, "f" * 32, 1)
    effect = Node("system_event", 9, "e" * 32, 4)
    a, b = Node("artifact", 1), Node("artifact", 2)
    lineage = Lineage(
        (version(1), version(2, made_by=call, uri="file:///b")),
        (
            edge(a, "consumed_by", call),
            edge(a, "consumed_by", request),
            edge(call, "produced", b),
            edge(request, "produced", b),
            edge(effect, "modified", b),
            edge(a, "derived_from", b),
            edge(earlier, "derived_from", request),
            edge(call, "caused", effect),
            edge(call, "deleted", a),
            edge(call, "reached", Node("artifact", 5)),
        ),
    )
    found = document(steps, lineage)
    check(found)
    one, two, three = "tally:artifact-1", "tally:artifact-2", "tally:artifact-5"
    own, asked, other = f"tally:step-{sid}-3", f"tally:request-{sid}-1", f"tally:step-{'e' * 32}-4"
    assert {(own, one), (asked, one), (own, three)} <= set(of_kind(found, ProvUsage))
    assert of_kind(found, ProvGeneration) == [(two, own)]
    assert of_kind(found, ProvInfluence) == [(two, other)]
    assert of_kind(found, ProvDerivation) == [(two, one)]
    assert of_kind(found, ProvInvalidation) == [(one, own)]
    assert {(asked, f"tally:request-{'f' * 32}-1"), (other, own)} <= set(of_kind(found, ProvCommunication))


KINDS = ("request", "agent_event", "system_event", "artifact")
NODES = st.builds(Node, st.sampled_from(KINDS), st.integers(1, 4), st.just("a" * 32), st.integers(1, 4)).map(
    lambda node: Node(node.kind, node.id) if node.kind == "artifact" else Node(node.kind, node.id, "a" * 32, node.id)
)
RELATIONS = ("produced", "modified", "deleted", "consumed_by", "reached", "derived_from", "caused")


def makes_sense(one: Edge) -> bool:
    """Whether the ends are of kinds that the graph has for the relation."""
    kinds = (one.source.kind == "artifact", one.target.kind == "artifact")
    asked = {
        "consumed_by": (True, False),
        "caused": (False, False),
        "derived_from": (kinds[0], kinds[0]),
    }.get(one.relation, (False, True))
    return kinds == asked


@given(
    st.lists(st.builds(edge, NODES, st.sampled_from(RELATIONS), NODES).filter(makes_sense)),
    st.sets(st.integers(1, 4)),
    st.booleans(),
)
def test_whatever_the_graph_says_the_document_holds_together(
    edges: list[Edge], known: set[int], with_content: bool
) -> None:
    begin = Recorded(
        session="a" * 32,
        n=0,
        hash="b" * 64,
        prev="0" * 64,
        parents=(),
        meta={"type": "session_start", "agent": "demo", "kind": "root"},
    )
    maker = Node("agent_event", 1, "a" * 32, 1)
    lineage = Lineage(tuple(version(number, made_by=maker) for number in sorted(known)), tuple(edges))
    check(document([begin], lineage, with_content=with_content))


def test_a_sub_agent_acts_for_the_agent_that_started_it() -> None:
    parent, child = "a" * 32, "c" * 32
    start: dict[str, Json] = {"type": "session_start", "agent": "demo"}
    begun = Recorded(session=parent, n=0, hash="1" * 64, prev="0" * 64, parents=(), meta={**start, "kind": "root"})
    ended = Recorded(
        session=parent,
        n=1,
        hash="2" * 64,
        prev="1" * 64,
        parents=("1" * 64, f"{child}#{'3' * 64}"),
        meta={"type": "subagent_end"},
    )
    below = Recorded(
        session=child,
        n=0,
        hash="4" * 64,
        prev="0" * 64,
        parents=(f"{parent}#{'1' * 64}",),
        meta={**start, "kind": "child"},
    )
    for made in ([begun, ended], [below]):
        found = document(made)
        check(found)
        assert of_kind(found, ProvDelegation) == [(f"tally:agent-{child}", f"tally:agent-{parent}")]


def test_nothing_is_no_document() -> None:
    assert list(prov_json.write([], session="s1", with_content=True)) == []


VALUES = st.one_of(
    st.booleans(),
    st.integers(-(1 << 63), (1 << 63) - 1),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(st.characters(exclude_categories=["Cs"])),
)


def read(document: Document) -> ProvDocument:
    text = document.text()
    assert text.endswith(b"\n")
    assert b"\n" not in text[:-1]
    return ProvDocument.deserialize(content=text.decode(), format="json")


@given(VALUES)
def test_a_reader_gets_the_value_that_was_written(value: Json) -> None:
    document = Document()
    document.add("entity", "e", {"tally:value": value, "tally:none": None})
    (entity,) = read(document).get_records()
    ((name, found),) = entity.attributes
    plain = int(found.value) if isinstance(found, Literal) else found
    assert (str(name), plain, type(plain)) == ("tally:value", value, type(value))


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1), st.text(st.characters(exclude_categories=["Cs"])))
def test_names_of_others_become_names_that_differ_as_they_do(one: str, other: str) -> None:
    document = Document()
    names = [document.add_named("agent", "model", said, {}) for said in (one, other)]
    assert (names[0] == names[1]) is (one == other)
    assert len(list(read(document).get_records())) == len(set(names))
    assert all(len(name) < 120 for name in names)


def test_a_record_is_added_once_and_may_still_change() -> None:
    document = Document()
    first = document.add("activity", "a", {"prov:startTime": "2026-01-01T00:00:00Z"})
    assert document.add("activity", "a", {"tally:other": 1}) is first
    document.values("activity", "a")["prov:endTime"] = "2026-01-01T00:00:01Z"
    assert document.has("activity", "a")
    assert not document.has("entity", "a")
    (activity,) = read(document).get_records()
    assert [str(time) for time in activity.args] == ["2026-01-01 00:00:00+00:00", "2026-01-01 00:00:01+00:00"]


def test_relations_join_records_by_their_roles() -> None:
    document = Document()
    document.add("entity", "e", {"prov:type": qualified("prov:Collection")})
    document.add("activity", "a", {})
    document.relate("used", {"prov:activity": "a", "prov:entity": "e"}, {"tally:confidence": 0.5})
    used = next(record for record in read(document).get_records() if record.is_relation())
    assert [str(end) for end in used.args[:2]] == ["tally:a", "tally:e"]


@given(st.integers(-(1 << 70), 1 << 70))
def test_any_number_is_some_time(at_ms: int) -> None:
    assert len(time_of_ms(at_ms)) == len("2026-01-01T00:00:00.000Z")
