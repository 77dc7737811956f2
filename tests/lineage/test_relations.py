from __future__ import annotations

from tallystick.lineage.access import Access
from tallystick.lineage.relations import End, Evidence, links, makers, merged, of_flow, of_uses, relation
from tallystick.lineage.versions import History, history
from tests.lineage.making import THING, access, effect


def told(*accesses: Access) -> History:
    return history(THING, accesses)


def edges(one: History) -> set[tuple[str, str, str]]:
    """(from, relation, to), artifacts by the number of their version, others by kind and id."""
    names = {("artifact", version.id): f"v{version.number}" for version in one.versions}

    def name(kind: str, id_: int) -> str:
        return names.get((kind, id_), f"{kind} {id_}")

    return {
        (name(edge.src_kind, edge.src_id), edge.relation_type, name(edge.dst_kind, edge.dst_id))
        for edge in of_uses(one)
    }


def test_a_write_and_a_read_of_another_request() -> None:
    assert edges(told(access("write", 1, request=1), access("read", 2, request=2))) == {
        ("agent_event 10", "produced", "v1"),
        ("request 1", "produced", "v1"),
        ("v1", "consumed_by", "agent_event 20"),
        ("v1", "consumed_by", "request 2"),
    }


def test_a_request_does_not_consume_what_it_made_itself() -> None:
    found = edges(told(access("write", 1, request=1), access("read", 2, request=1)))
    assert ("v1", "consumed_by", "request 1") not in found
    assert ("v1", "consumed_by", "agent_event 20") in found


def test_an_edit_consumes_one_version_and_makes_the_next() -> None:
    found = edges(told(access("write", 1, request=1), access("edit", 2, request=2)))
    assert {("v1", "consumed_by", "agent_event 20"), ("agent_event 20", "modified", "v2")} <= found


def test_no_edge_joins_two_versions_of_one_thing() -> None:
    found = edges(told(access("write", 1), access("edit", 2), access("delete", 3), access("write", 4)))
    assert not [edge for edge in found if edge[0].startswith("v") and edge[2].startswith("v")]


def test_a_rename_consumes_and_removes() -> None:
    found = edges(told(access("write", 1), access("rename", 2)))
    assert {("v1", "consumed_by", "agent_event 20"), ("agent_event 20", "deleted", "v1")} <= found


def test_an_observed_effect_is_caused_by_the_call_that_it_shows() -> None:
    found = edges(told(access("write", 1), effect("modify", 1.1)))
    assert ("agent_event 10", "caused", "system_event 1011") in found


def test_what_was_sent_reached_the_thing() -> None:
    assert ("agent_event 10", "reached", "v0") in edges(told(access("send", 1)))


def test_one_edge_said_twice_keeps_the_first_evidence_and_the_higher_confidence() -> None:
    late = relation(("request", 1), "produced", ("artifact", 2), Evidence(0.9, '{"late":1}', 5_000_000))
    early = relation(("request", 1), "produced", ("artifact", 2), Evidence(0.5, '{"early":1}', 3_000_000))
    (edge,) = merged([late, early]).values()
    assert (edge.confidence, edge.evidence, edge.created_at) == (0.9, '{"early":1}', 3000)
    assert merged([early, late]) == merged([late, early])


def test_a_flow_is_as_sure_as_its_least_sure_part() -> None:
    edge = of_flow(End(1, 0.9, 1), End(2, 0.5, 2_000_000), 0.8, "{}")
    assert (edge.src_id, edge.dst_id, edge.confidence, edge.created_at) == (1, 2, 0.5, 2000)


def test_a_reader_derives_from_the_writer_and_from_those_whose_text_was_changed() -> None:
    one = told(access("write", 1, request=1), access("edit", 2, request=2), access("read", 3, request=3))
    assert {(link.src_request, link.dst_request) for link in links(one).values()} == {(1, 2), (1, 3), (2, 3)}


def test_nobody_derives_from_what_was_overwritten_or_is_not_written_yet() -> None:
    one = told(
        access("read", 1, request=1),
        access("write", 2, request=2),
        access("write", 3, request=3),
        access("read", 4, request=4),
    )
    assert {(link.src_request, link.dst_request) for link in links(one).values()} == {(3, 4)}


def test_nothing_derives_from_what_was_removed() -> None:
    one = told(access("write", 1, request=1), access("delete", 2, request=2), access("write", 3, request=3))
    assert links(one) == {}


def test_of_a_long_chain_of_edits_only_the_newest_makers_count() -> None:
    one = told(*(access("edit", n, request=n) for n in range(1, 40)))
    assert [request for request, _ in makers(one.versions[-1])] == list(range(39, 19, -1))
