"""Sessions: lists, one in detail, the tree."""

import pytest

from tallystick.errors import NotFoundError
from tallystick.journal.home import Home
from tallystick.operations.project import open_index
from tallystick.operations.recorder import Recorder
from tallystick.operations.sessions import list_sessions, session_detail, session_tree
from tallystick.operations.verify_named import find_session
from tallystick.store.queries import SessionFilter


def test_the_list_has_all_sessions_the_newest_first(samples: Home) -> None:
    with open_index(samples) as index:
        rows = list_sessions(index, SessionFilter())
    assert len(rows) == 8
    assert [row.last for row in rows] == sorted((row.last for row in rows), key=str, reverse=True)
    assert {row.agent for row in rows} == {"claude-code", "codex", "gptme", "headless"}


def test_a_session_in_detail_names_its_prompts_and_sub_agents(samples: Home) -> None:
    with open_index(samples) as index:
        found = session_detail(samples, index, "a42b3437")
    child = find_session(samples, "a42b3437-edc3-4f9f-94df-46a5393a6b90/ac22766a05ee82a73")
    assert [link.session for link in found.children] == [child]
    assert [request.n for request in found.requests] == [1, 51]
    assert found.session.size == found.sealed_size == 61
    assert found.path == samples.journal(found.session.session)


def test_what_no_head_covers_yet_is_counted(home: Home) -> None:
    with Recorder(home.folder) as recorder:
        session = recorder.session("demo", "one")
        recorder.seal()
        session.prompt("hello")
        with open_index(home) as index:
            found = session_detail(home, index, session.id)
        assert (found.session.size, found.sealed_size) == (2, 1)


def test_the_tree_of_a_session_is_its_path_and_what_hangs_on_it(home: Home) -> None:
    with Recorder(home.folder) as recorder:
        root = recorder.session("demo", "root")
        middle = root.child("demo", "middle")
        leaf = middle.child("demo", "leaf")
        other = root.child("demo", "other")
    with open_index(home) as index:
        whole = session_tree(index, root.id)
        part = session_tree(index, middle.id)
        top = session_tree(index, root.id, depth=1)
        forest = session_tree(index, None)
    assert [branch.row.session for branch in whole] == [root.id, middle.id, leaf.id, other.id]
    assert [(branch.row.session, branch.row.standing.value) for branch in part] == [
        (root.id, "above"),
        (middle.id, "asked"),
        (leaf.id, "below"),
    ]
    assert [(branch.row.session, branch.row.hidden) for branch in top] == [(root.id, 0), (middle.id, 1), (other.id, 0)]
    assert {branch.session.session for branch in forest} == {root.id, middle.id, leaf.id, other.id}


def test_the_forest_has_every_session_once(samples: Home) -> None:
    with open_index(samples) as index:
        forest = session_tree(index, None)
    assert sorted(branch.row.session for branch in forest) == [sid for sid, _ in samples.sessions()]
    assert sum(branch.row.depth == 0 for branch in forest) == 5


def test_a_session_that_is_not_there_has_no_tree(samples: Home) -> None:
    with open_index(samples) as index:
        with pytest.raises(NotFoundError):
            session_tree(index, "ffffffff")
        with pytest.raises(NotFoundError):
            session_detail(samples, index, "ffffffff")
