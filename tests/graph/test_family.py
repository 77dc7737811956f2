from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tallystick.graph.family import (
    Link,
    all_links,
    checkpoint_counts,
    sums_of,
    use_by_day,
    use_of,
    ways_up,
    whole_trees,
)
from tallystick.graph.graph import Graph
from tallystick.graph.project import project
from tallystick.graph.queries import SessionFilter, get_session, list_sessions, sessions_of
from tallystick.graph.steps import Tokens
from tallystick.model.step import Json
from tallystick.sessions.tree import Forest, Node
from tests.graph.making import Session, sid_of, time_at
from tests.support.graphs import new_graph
from tests.support.laws import examples


def hung(name: str, parent: Session | None = None, *, claims: str | None = None, at: int = -1) -> Session:
    """A session that hangs on a step of another, or says so."""
    session = Session(name)
    if parent is not None:
        step = parent.lines[at].step
        session.begin("child", parents=(f"{parent.sid}#{step.hash}",))
    elif claims is not None:
        session.begin("child", parent_source={"session": claims})
    else:
        session.begin()
    return session


def take(graph: Graph, *sessions: Session) -> None:
    project(graph, [session.journal() for session in sessions])


def family(graph: Graph) -> dict[str, Session]:
    root = hung("root")
    child = hung("child", root)
    grandchild = hung("grandchild", child)
    claimed = hung("claimed", claims="child")
    other = hung("other")
    cousin = hung("cousin", other)
    lost = hung("lost", claims="nobody")
    sessions = {session.name: session for session in (root, child, grandchild, claimed, other, cousin, lost)}
    take(graph, *sessions.values())
    return sessions


def names(links: tuple[Link, ...], sessions: dict[str, Session]) -> set[str]:
    by_sid = {session.sid: name for name, session in sessions.items()}
    return {by_sid[link.session] for link in links}


def test_the_way_up_is_that_of_the_sessions_that_are_asked_for(graph: Graph) -> None:
    found = family(graph)
    assert names(ways_up(graph, [found["grandchild"].sid]), found) == {"root", "child", "grandchild"}
    assert names(ways_up(graph, [found["claimed"].sid, found["cousin"].sid]), found) == {
        *("root", "child", "claimed", "other", "cousin"),
    }
    assert names(ways_up(graph, [found["lost"].sid]), found) == {"lost"}
    assert ways_up(graph, ["f" * 32]) == ways_up(graph, []) == ()


def test_the_whole_tree_is_found_from_any_session_of_it(graph: Graph) -> None:
    found = family(graph)
    whole = {"root", "child", "grandchild", "claimed"}
    for name in sorted(whole):
        assert names(whole_trees(graph, [found[name].sid]), found) == whole
    assert names(whole_trees(graph, [found["cousin"].sid]), found) == {"other", "cousin"}


def test_a_link_is_the_same_however_it_is_asked_for(graph: Graph) -> None:
    found = family(graph)
    links = {link.session: link for link in all_links(graph)}
    assert len(links) == len(found)
    assert all(link == links[link.session] for link in whole_trees(graph, list(links)))
    assert {link.session: link for link in ways_up(graph, list(links))} == links


def test_circles_and_sessions_that_hang_on_themselves_are_walked_once(graph: Graph) -> None:
    one, other, itself = Session("one"), Session("other"), Session("itself")
    one.begin("child", parents=(f"{other.sid}#{'0' * 64}",))
    other.begin("child", parents=(f"{one.sid}#{'0' * 64}",))
    itself.begin("child", parents=(f"{itself.sid}#{'0' * 64}",))
    below = hung("below", one)
    take(graph, one, other, itself, below)
    assert len(whole_trees(graph, [below.sid])) == len(ways_up(graph, [below.sid])) == 3
    (link,) = whole_trees(graph, [itself.sid])
    assert Forest([Node(session=link.session, parent=link.parent)]).is_cut(itself.sid)


@pytest.mark.parametrize("length", [1_200, pytest.param(10_000, marks=pytest.mark.soak)])
def test_a_long_chain_is_walked_both_ways(graph: Graph, length: int) -> None:
    chain = [hung("0")]
    for number in range(1, length):
        chain.append(hung(str(number), chain[-1]))
    take(graph, *chain)
    assert len(ways_up(graph, [chain[-1].sid])) == length
    assert len(whole_trees(graph, [chain[length // 2].sid])) == length


MEMBERS = "abcdef"


@given(st.dictionaries(st.sampled_from(MEMBERS), st.tuples(st.sampled_from(MEMBERS + "?"), st.booleans()), min_size=1))
@settings(max_examples=examples(40), suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_the_tree_of_a_session_alone_is_what_it_is_among_all(
    tmp_path_factory: pytest.TempPathFactory, hangs: dict[str, tuple[str, bool]]
) -> None:
    with new_graph(tmp_path_factory.mktemp("graph") / "graph.db") as graph:
        sessions = []
        for name, (parent, is_sealed) in sorted(hangs.items()):
            session = Session(name)
            if is_sealed:
                session.begin("child", parents=(f"{sid_of(parent)}#{'0' * 64}",))
            else:
                session.begin("child", parent_source={"session": parent})
            sessions.append(session)
        take(graph, *sessions)
        whole = Forest(map(_node, all_links(graph)))
        for session in sessions:
            alone = Forest(map(_node, whole_trees(graph, [session.sid])))
            assert list(alone.rows(session.sid)) == list(whole.rows(session.sid))
            assert Forest(map(_node, ways_up(graph, [session.sid]))).path(session.sid) == whole.path(session.sid)


def _node(link: Link) -> Node:
    return Node(
        session=link.session,
        parent=link.parent,
        kind=link.kind,
        claimed=link.claimed,
        claimed_session=link.claimed_session,
        started=link.started,
    )


# What the session that one hangs on says ------------------------------------------------------------------------------


def settled(graph: Graph, kind: str, *, success: bool | None = True, later: tuple[str, ...] = ()) -> str:
    """The status of a session without an end after a step of the session that it hangs on names its last one."""
    parent = hung("parent")
    child = hung("child", parent)
    child.add("assistant", text="done")
    tip = child.lines[-1].step.hash
    meta: dict[str, Json] = {} if success is None else {"success": success}
    parent.add(kind, meta, parents=(parent.lines[-1].step.hash, f"{child.sid}#{tip}"))
    for step in later:
        child.add(step)
    take(graph, child, parent)
    row = get_session(graph, child.sid)
    assert row is not None
    assert row.status_by_parent == (row.status != "active")
    assert [found.session for found in list_sessions(graph, SessionFilter(statuses=(row.status,)))].count(
        child.sid
    ) == 1
    assert sums_of(graph, [child.sid])[child.sid].status == row.status
    return row.status


@pytest.mark.parametrize(
    ("kind", "success", "status"),
    [
        ("merge", None, "merged"),
        ("discard", None, "discarded"),
        ("subagent_end", True, "completed"),
        ("subagent_end", False, "failed"),
        ("subagent_end", None, "completed"),
        ("user", None, "active"),
        ("fork", None, "active"),
    ],
)
def test_what_says_nothing_of_its_end_is_what_the_session_that_it_hangs_on_says(
    graph: Graph, kind: str, success: bool | None, status: str
) -> None:
    assert settled(graph, kind, success=success) == status


@pytest.mark.parametrize(
    ("later", "status"),
    [
        (("sighting",), "merged"),
        (("checkpoint",), "merged"),
        (("assistant",), "active"),
        (("session_start",), "active"),
    ],
)
def test_a_session_that_went_on_since_is_active(graph: Graph, later: tuple[str, ...], status: str) -> None:
    assert settled(graph, "merge", later=later) == status


@pytest.mark.parametrize(
    ("kind", "end", "success", "later", "status"),
    [
        ("tool_call", "tool_result", True, 1, "completed"),
        ("tool_call", "tool_result", False, 1, "failed"),
        ("tool_call", "tool_result", None, 1, "completed"),
        ("subagent_start", "subagent_end", True, 1, "completed"),
        ("tool_call", "tool_result", True, -1, "active"),  # it went on in the background
        ("tool_call", "tool_result", True, None, "active"),  # nobody knows when it came
        ("tool_call", "assistant", True, 1, "active"),
    ],
)
def test_a_sub_agent_has_ended_when_the_call_that_began_it_came_back_after_its_last_step(
    graph: Graph, kind: str, end: str, success: bool | None, later: float | None, status: str
) -> None:
    parent = hung("parent")
    parent.add(kind, {"corr": "call-1", "tool": "Task"})
    child = hung("child", parent)
    child.add("assistant", text="done")
    assert child.lines[-1].step.meta["ts"] == time_at(1)
    moment = None if later is None else time_at(1 + later)
    meta: dict[str, Json] = {"corr": "call-1", "tool": "Task", "ts": moment}
    parent.add(end, {**meta, "success": success})
    take(graph, parent, child)
    row = get_session(graph, child.sid)
    assert row is not None
    assert row.status == status


def test_its_own_word_counts_for_more(graph: Graph) -> None:
    parent = hung("parent")
    child = hung("child", parent)
    end = child.add("session_end", {"status": "failed"})
    parent.add("merge", parents=(parent.lines[-1].step.hash, f"{child.sid}#{end.hash}"))
    take(graph, parent, child)
    row = get_session(graph, child.sid)
    assert row is not None
    assert (row.status, row.status_by_parent) == ("failed", False)


def test_a_session_that_it_does_not_hang_on_cannot_settle_it(graph: Graph) -> None:
    parent, stranger = hung("parent"), hung("stranger")
    child = hung("child", parent)
    stranger.add("discard", parents=(stranger.lines[-1].step.hash, f"{child.sid}#{child.lines[-1].step.hash}"))
    take(graph, parent, stranger, child)
    row = get_session(graph, child.sid)
    assert row is not None
    assert row.status == "active"


# What was used --------------------------------------------------------------------------------------------------------


def test_tokens_are_summed_by_model_and_by_day(graph: Graph) -> None:
    one, other = hung("one"), hung("other")
    one.add("model_call", {"model": "m", "tokens": {"input": 10, "output": 1}})
    one.add("model_call", {"model": "n", "tokens": {"input": 5, "output": 2}})
    one.add("model_call", {"model": "idle", "tokens": {"input": 0, "output": 0}})
    other.add("model_call", {"model": "m", "tokens": {"input": 100, "output": 3}})
    take(graph, one, other)
    used = {(use.session, use.model): use.tokens for use in use_of(graph, [one.sid, other.sid])}
    assert used == {
        (one.sid, "m"): Tokens(input=10, output=1),
        (one.sid, "n"): Tokens(input=5, output=2),
        (other.sid, "m"): Tokens(input=100, output=3),
    }
    by_day = use_by_day(graph, [one.sid, other.sid])
    assert [(use.session, use.model, use.tokens.input) for use in by_day] == [("", "m", 110), ("", "n", 5)]
    assert len({use.day for use in by_day}) == 1
    assert use_of(graph, []) == use_by_day(graph, []) == ()


def test_what_was_used_on_each_day_is_kept_apart_also_where_a_step_is_revised_later(graph: Graph) -> None:
    one, days = hung("one"), (time_at(0), time_at(86_400 * 2))
    for ts in days:
        one.add("model_call", {"model": "m", "tokens": {"input": 10, "output": 1}, "ts": ts})
    one.add("model_call", {"model": "m", "tokens": {"input": 7, "output": 1}, "ts": days[1], "revises": 2})
    for steps in (3, 4):  # the second time the rows of before are read
        project(graph, [one.journal(steps=steps)])
    first, second = use_of(graph, [one.sid])
    assert (first.tokens.input, second.tokens.input, second.day - first.day) == (10, 7, 2)
    assert [(use.day, use.tokens.input) for use in use_by_day(graph, [one.sid])] == [(first.day, 10), (second.day, 7)]


def test_checkpoints_that_no_other_took_the_place_of_are_counted(graph: Graph) -> None:
    session = hung("one")
    marked: dict[str, Json] = {"trigger": "manual", "position": 0, "position_hash": session.lines[0].step.hash}
    first = session.add("checkpoint", marked, label="first")
    session.add("checkpoint", {**marked, "replaces": [first.hash]}, label="second")
    session.add("compaction")
    take(graph, session, hung("none"))
    assert checkpoint_counts(graph, [session.sid, sid_of("none")]) == {session.sid: 2}


def test_sessions_are_got_by_their_ids_however_many(graph: Graph) -> None:
    sessions = [hung(str(number)) for number in range(2_000)]
    take(graph, *sessions)
    assert set(sessions_of(graph, [session.sid for session in sessions])) == {session.sid for session in sessions}
    assert sessions_of(graph, ["f" * 32]) == {}
