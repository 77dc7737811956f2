"""Sessions: lists, one in detail, the tree."""

from collections import Counter

import pytest

from tallystick.errors import NotFoundError
from tallystick.graph.queries import SessionFilter
from tallystick.journal.home import Home
from tallystick.recording.recorder import Recorder
from tallystick.review.sessions import describe, list_sessions, session_detail, session_tree
from tallystick.trust.verify_named import find_session
from tallystick.workspace.indexing import open_index
from tests.support.fixtures import RECORDINGS, ImportPaths


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
        whole = session_tree(home, index, root.id).branches
        part = session_tree(home, index, middle.id).branches
        top = session_tree(home, index, root.id, depth=1).branches
        forest = session_tree(home, index, None).branches
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
        forest = session_tree(samples, index, None).branches
    assert sorted(branch.row.session for branch in forest) == [sid for sid, _ in samples.sessions()]
    assert sum(branch.row.depth == 0 for branch in forest) == 5


def test_a_session_that_is_not_there_has_no_tree(samples: Home) -> None:
    with open_index(samples) as index:
        with pytest.raises(NotFoundError):
            session_tree(samples, index, "ffffffff")
        with pytest.raises(NotFoundError):
            session_detail(samples, index, "ffffffff")


def test_what_hangs_below_is_summed_up_whether_it_is_drawn_or_not(home: Home) -> None:
    with Recorder(home.folder) as recorder:
        root = recorder.session("demo", "root")
        session = root
        for number in range(5):
            session = session.child(session=f"level-{number}")
            session.step("model_call", model="m", tokens={"input": 10, "output": 1})
            with session.tool_call("Bash", {"command": "false"}) as call:
                call.success = False
        session.close("failed")
    with open_index(home) as index:
        drawn = session_tree(home, index, root.id, depth=1)
        alone = session_tree(home, index, session.id, depth=0)
        everything = session_tree(home, index, None, depth=0)
        detail = session_detail(home, index, root.id)
    assert (len(drawn.branches), drawn.total.sessions) == (2, 6)
    assert drawn.total == detail.total == everything.total
    assert drawn.total.by_status == {"active": 5, "failed": 1}
    assert (drawn.total.tool_calls, drawn.total.failures, drawn.total.tokens.total) == (5, 5, 55)
    assert drawn.total.cost.unknown == ("m",)
    assert (alone.total.sessions, alone.total.tokens.total) == (1, 11)
    assert [branch.about.depth for branch in alone.branches] == [0, 5]


def test_what_is_told_of_some_sessions_is_what_the_tree_tells_of_them(samples: Home) -> None:
    with open_index(samples) as index:
        branches = session_tree(samples, index, None).branches
        told = describe(samples, index, [branch.session.session for branch in branches])
        assert told == {branch.session.session: branch.about for branch in branches}
        assert describe(samples, index, []) == describe(samples, index, ["f" * 32]) == {}


def test_the_detail_says_where_a_session_hangs_and_what_its_end_made_of_it(home: Home) -> None:
    with Recorder(home.folder) as recorder:
        root = recorder.session("demo", "root")
        child = root.child(session="child")
        child.step("session_end", status="error")
        child.step("session_end", status="running")
        root.close()
    with open_index(home) as index:
        found = session_detail(home, index, child.id)
        above = session_detail(home, index, root.id)
    assert (found.root, found.about.depth) == (root.id, 1)
    assert found.session.status == "active"
    assert [(refused.n, refused.word) for refused in found.life.refused] == [(3, "running")]
    assert [(link.session, link.status, link.left_open) for link in above.children] == [(child.id, "active", True)]


def test_recorded_sessions_of_all_agents_hang_where_their_agents_hung_them(
    home: Home, import_paths: ImportPaths
) -> None:
    import_paths(RECORDINGS)
    with open_index(home) as index:
        branches = session_tree(home, index, None).branches
    hung = Counter((branch.session.agent, branch.row.kind, branch.row.depth) for branch in branches if branch.row.depth)
    assert hung == {
        ("claude-code", "child", 1): 1,
        ("claude-code", "continuation", 1): 1,
        ("codex", "child", 1): 1,
        ("codex", "continuation", 1): 1,
        ("copilot", "child", 1): 1,
        ("gemini", "child", 1): 1,
        ("hermes", "child", 1): 1,
        ("hermes", "continuation", 1): 2,
        ("hermes", "continuation", 2): 1,
        ("hermes", "fork", 1): 1,
        ("hermes", "fork", 3): 1,
        ("opencode", "child", 1): 1,
        ("qwen", "child", 1): 1,
    }
    assert not any(branch.row.in_circle or branch.row.missing_parent for branch in branches)
    ended = {branch.session.agent: branch.session.status for branch in branches if branch.row.kind == "child"}
    # Those of codex, Hermes and Qwen worked in the background, and their files say no end: they were read to theirs.
    assert ended == dict.fromkeys(
        ("claude-code", "copilot", "gemini", "opencode", "codex", "hermes", "qwen"), "completed"
    )


def test_a_live_session_with_sub_agents_a_compaction_and_a_fork_is_a_tree(home: Home) -> None:
    with Recorder(home.folder) as recorder:
        with recorder.session("demo", "root", goal="ship it") as root:
            root.prompt("do it")
            with (
                root.subagent("searcher", goal="find all") as outer,
                outer.subagent("reader", goal="read one") as inner,
            ):
                inner.step("assistant", content={"text": "read"})
            root.merge(outer)
            fork = root.fork(goal="another way")
            root.discard(fork)
            following = root.compact("all that was said")
        with following.subagent("tester") as tester, tester.tool_call("Bash", {"command": "pytest"}):
            pass
        following.close()
    with open_index(home) as index:
        tree = session_tree(home, index, tester.id)
        whole = session_tree(home, index, root.id)
    assert [branch.session.session for branch in tree.branches] == [root.id, following.id, tester.id]
    assert [(b.session.session, b.row.kind, b.row.depth, b.session.status) for b in whole.branches] == [
        (root.id, "root", 0, "completed"),
        (outer.id, "child", 1, "merged"),
        (inner.id, "child", 2, "completed"),
        (fork.id, "fork", 1, "discarded"),
        (following.id, "continuation", 1, "completed"),
        (tester.id, "child", 2, "completed"),
    ]
    assert whole.total.checkpoints == 1  # the compaction marks itself
    assert not any(branch.left_open for branch in whole.branches)


def test_an_index_that_is_made_anew_tells_the_same_tree(home: Home, import_paths: ImportPaths) -> None:
    import_paths(RECORDINGS)
    with open_index(home) as index:
        before = session_tree(home, index, None)
    home.graph.unlink()
    with open_index(home) as index:
        assert session_tree(home, index, None) == before
