"""What continues what, and where compactions stand."""

from __future__ import annotations

from typing import Any

import pytest

from tallystick.graph.conversations import compaction_places, continuations, last_continuation, place_of, usage_places
from tallystick.graph.graph import Graph
from tallystick.graph.project import project
from tests.graph.making import Session


def hanging(name: str, *parents: str, start: float = 0, kind: str = "continuation", **meta: Any) -> Session:
    session = Session(name, start=start)
    session.begin(kind, parents=parents, **meta)
    return session


@pytest.fixture
def first(graph: Graph) -> Session:
    session = Session("first")
    session.begin()
    session.add("usage", {"model": "m"})
    session.add("compaction", {"trigger": "auto"})
    session.add("compaction", {"corroborates": 2})
    session.add("compaction", {"revises": 2})
    session.add("usage", {"model": "n"})
    session.add("compaction", {"success": False})
    project(graph, [session.journal()])
    return session


def test_the_continuations_of_a_session_are_in_order_sealed_or_claimed(graph: Graph, first: Session) -> None:
    edge = f"{first.sid}#{first.lines[2].step.hash}"
    later = hanging("later", edge, start=200)
    claimed = hanging("claimed", start=100, parent_source={"session": "first"})
    others = [
        hanging("a child", edge, kind="child"),
        hanging("another agents", parent_source={"session": "first"}),
        hanging("of another", f"{later.sid}#{later.lines[0].step.hash}"),
    ]
    others[1] = Session("another agents", agent="other")
    others[1].begin("continuation", parent_source={"session": "first"})
    project(graph, [session.journal() for session in (later, claimed, *others)])
    assert continuations(graph, first.sid) == (claimed.sid, later.sid)
    assert continuations(graph, "ff" * 16) == ()


def test_a_conversation_goes_on_as_the_newest_of_its_last_continuations(graph: Graph, first: Session) -> None:
    second = hanging("second", f"{first.sid}#{first.lines[2].step.hash}", start=100)
    older = hanging("older", f"{second.sid}#{second.lines[0].step.hash}", start=200)
    newer = hanging("newer", f"{second.sid}#{second.lines[0].step.hash}", start=300)
    project(graph, [session.journal() for session in (second, newer, older)])
    assert last_continuation(graph, first.sid) == newer.sid
    assert last_continuation(graph, older.sid) == older.sid


def test_claims_that_go_round_have_an_end(graph: Graph) -> None:
    claims = {"a": "b", "b": "c", "c": "a"}
    project(graph, [hanging(name, parent_source={"session": of}).journal() for name, of in claims.items()])
    assert last_continuation(graph, hanging("a").sid) in {hanging(name).sid for name in claims}


def test_each_compaction_has_one_place(graph: Graph, first: Session) -> None:
    assert compaction_places(graph, first.sid) == (first.lines[2].offset, first.lines[6].offset)
    assert compaction_places(graph, "ff" * 16) == ()


def test_usage_is_found_the_newest_first_and_not_without_end(graph: Graph, first: Session) -> None:
    assert usage_places(graph, first.sid) == (first.lines[5].offset, first.lines[1].offset)
    many = Session("many")
    many.begin()
    for _ in range(60):
        many.add("usage", {"model": "m"})
    project(graph, [many.journal()])
    assert len(usage_places(graph, many.sid)) == 50


def test_an_entry_is_found_by_its_whole_hash_in_its_session(graph: Graph, first: Session) -> None:
    line = first.lines[2]
    assert place_of(graph, first.sid, line.step.hash) == line.offset
    assert place_of(graph, first.sid, line.step.hash[:16]) is None
    assert place_of(graph, "ff" * 16, line.step.hash) is None
