"""What is asked of the index about checkpoints."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from tallystick.errors import AmbiguousError, NotFoundError
from tallystick.graph.checkpoints import (
    CheckpointEntry,
    CheckpointFilter,
    due_checkpoints,
    find_checkpoint,
    list_checkpoints,
    mark_counts,
    newest_active,
    newest_of_run,
    sessions_with_checkpoints,
    types_between,
)
from tallystick.graph.graph import Graph
from tallystick.graph.project import project
from tests.graph.making import FIRST_MOMENT, Session


def marked(name: str, *, start: float = 0, run: str | None = None, cwd: str | None = None) -> Session:
    """A session that is marked three times: at its start, by itself, and by hand."""
    session = Session(name, start=start)
    start_of = {"source": "hook", "agent": "demo", "kind": "root", "source_session": name}
    session.add("session_start", start_of, cwd=cwd)
    mark(session, "session_start", 0, run)
    session.add("goal_end")
    mark(session, "step_complete", 2, run)
    mark(session, "manual", 2, run, label="by hand", git={"head": "ab"}, metadata={"k": "v"})
    return session


def mark(session: Session, trigger: str, position: int, run: str | None = None, **content: Any) -> str:
    meta = {
        "trigger": trigger,
        "position": position,
        "position_hash": session.lines[position].step.hash,
        "tokens_used": {"input": 7},
        "run": run,
    }
    content.setdefault("label", f"{session.name} {trigger}")
    return session.add("checkpoint", meta, **content).hash


@pytest.fixture
def two(graph: Graph) -> tuple[Session, Session]:
    sessions = (marked("a", run="r", cwd="/work"), marked("b", start=100, run="r"))
    project(graph, [session.journal() for session in sessions])
    return sessions


def labels(found: tuple[CheckpointEntry, ...]) -> list[str | None]:
    return [entry.label for entry in found]


NEWEST_FIRST = ["by hand", "b step_complete", "b session_start", "by hand", "a step_complete", "a session_start"]


def test_the_newest_come_first_and_those_of_a_run_in_journal_order(graph: Graph, two: tuple[Session, Session]) -> None:
    assert labels(list_checkpoints(graph, CheckpointFilter())) == NEWEST_FIRST
    assert labels(list_checkpoints(graph, CheckpointFilter(session=two[0].sid))) == NEWEST_FIRST[3:]
    in_order = ["a session_start", "a step_complete", "by hand", "b session_start", "b step_complete", "by hand"]
    assert labels(list_checkpoints(graph, CheckpointFilter(run="r"))) == in_order
    assert list_checkpoints(graph, CheckpointFilter(run="other")) == ()
    assert labels(list_checkpoints(graph, CheckpointFilter(limit=2))) == NEWEST_FIRST[:2]
    assert labels(list_checkpoints(graph, CheckpointFilter(triggers=("manual",)))) == ["by hand"] * 2


def test_an_entry_says_what_the_step_says(graph: Graph, two: tuple[Session, Session]) -> None:
    entry = list_checkpoints(graph, CheckpointFilter(limit=1))[0]
    assert (entry.session, entry.agent, entry.n, entry.position) == (two[1].sid, "demo", 4, 2)
    assert entry.position_hash == two[1].lines[2].step.hash
    assert (entry.git, entry.tokens, entry.metadata) == ({"head": "ab"}, {"input": 7}, {"k": "v"})
    assert (entry.replaced_by, entry.is_pruned, entry.config_fingerprint) == (None, False, None)


def test_one_is_found_by_the_beginning_of_its_id(graph: Graph, two: tuple[Session, Session]) -> None:
    digest = two[0].lines[4].step.hash
    assert find_checkpoint(graph, digest).label == "by hand"
    assert find_checkpoint(graph, digest[:6].upper()).hash == digest
    for missing in ("", digest[:3], "zzzz", two[0].lines[2].step.hash[:8], "%_%_"):
        with pytest.raises(NotFoundError):
            find_checkpoint(graph, missing)


def test_an_id_that_several_have_is_ambiguous(graph: Graph) -> None:
    session = marked("a")
    for n in range(3):
        twin = mark(session, "manual", 2)
        line = session.lines[-1]
        session.lines[-1] = replace(line, step=replace(line.step, hash=f"abcd{n}{twin[5:]}"))
    project(graph, [session.journal()])
    with pytest.raises(AmbiguousError, match="several checkpoints"):
        find_checkpoint(graph, "abcd")
    assert find_checkpoint(graph, "abcd1").n == 6


def test_replaced_ones_are_listed_when_asked_for(graph: Graph) -> None:
    session = marked("a")
    old = session.lines[3].step.hash
    meta = {"trigger": "manual", "position": 2, "position_hash": session.lines[2].step.hash, "replaces": [old, 7]}
    session.add("checkpoint", meta, label="new")
    project(graph, [session.journal()])
    assert labels(list_checkpoints(graph, CheckpointFilter())) == ["new", "by hand", "a session_start"]
    found = list_checkpoints(graph, CheckpointFilter(is_replaced=True))
    assert [entry.replaced_by for entry in found] == [None, None, 5, None]
    assert mark_counts(graph).replaced == 1


def test_they_are_counted_by_trigger(graph: Graph, two: tuple[Session, Session]) -> None:
    counts = mark_counts(graph)
    assert counts.by_trigger == {"manual": 2, "session_start": 2, "step_complete": 2}
    assert (counts.replaced, counts.pruned, counts.alerts, counts.attributions) == (0, 0, 0, 0)
    assert sessions_with_checkpoints(graph) == sorted(session.sid for session in two)


def test_a_compaction_marks_itself_and_is_never_due(graph: Graph) -> None:
    session = Session("a")
    session.begin()
    session.add("compaction", text="what was said")
    project(graph, [session.journal()])
    (entry,) = list_checkpoints(graph, CheckpointFilter())
    assert (entry.trigger, entry.position, entry.position_hash) == ("compaction", 1, entry.hash)
    assert due_checkpoints(graph, 1 << 62) == []


def test_old_ones_are_due_but_how_the_session_began(graph: Graph, two: tuple[Session, Session]) -> None:
    between = (FIRST_MOMENT + 50) * 1_000_000
    assert [(each.session, each.n) for each in due_checkpoints(graph, between)] == [(two[0].sid, 3), (two[0].sid, 4)]
    assert due_checkpoints(graph, None) == []
    assert len(due_checkpoints(graph, 1 << 62)) == 4


def test_what_somebody_made_by_hand_is_not_due_because_another_says_it_is_replaced(graph: Graph) -> None:
    session = marked("a")
    mine, automatic = session.lines[4].step.hash, session.lines[3].step.hash
    mark(session, "manual", 2)
    session.lines[-1].step.meta["replaces"] = [mine, automatic]  # type: ignore[index]
    project(graph, [session.journal()])
    assert [each.n for each in due_checkpoints(graph, None)] == [3]


def test_the_session_that_is_meant_is_the_newest_active_one(graph: Graph, two: tuple[Session, Session]) -> None:
    found = newest_active(graph, ["/elsewhere", "/work"])
    assert found is not None
    assert found.session == two[0].sid
    assert newest_active(graph, ["/"]) is None
    of_run = newest_of_run(graph, "r")
    assert of_run is not None
    assert of_run.session == two[1].sid
    assert newest_of_run(graph, "none") is None


def test_steps_in_between_are_counted_by_type(graph: Graph, two: tuple[Session, Session]) -> None:
    assert types_between(graph, two[0].sid, 1, 3) == {"checkpoint": 2, "goal_end": 1}
    assert types_between(graph, two[0].sid, 4, 3) == {}
