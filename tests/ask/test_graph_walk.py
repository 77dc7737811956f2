"""Answers: a walk with what is known of each node."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.ask.graph_walk import Answer, Direction, answer, said_by, telling, title_of
from tallystick.ask.node_resolver import find_start
from tallystick.graph.nodes import ArtifactNode, RequestNode, SessionNode, StepNode
from tallystick.journal.home import Home
from tallystick.lineage.walk import CutReason, Limits, NodeKind
from tallystick.model.recorded import Recorded
from tallystick.model.step import Json
from tallystick.recording.recorder import Recorder
from tallystick.workspace.index import Index
from tallystick.workspace.indexing import open_index
from tests.graph.weaving import Weave
from tests.support.asking import call
from tests.support.cases import each
from tests.support.graphs import new_graph

HOME = Home(Path("/nowhere"))


@pytest.fixture
def weave(tmp_path: Path) -> Iterator[Weave]:
    with new_graph(tmp_path / "graph.db") as graph:
        yield Weave(graph)


def ask(weave: Weave, text: str, direction: Direction, **limits: int) -> Answer:
    index = Index(weave.graph)
    return answer(HOME, index, find_start(index, text, folder="/w"), direction, Limits(**limits))


def test_each_node_says_which_step_it_is_or_was_made_by(weave: Weave) -> None:
    one = weave.session("one", agent="demo")
    prompt = one.prompt("Do it.")
    write = one.call("Write", path="/w/a")
    one.writes(write, "file:///w/a")
    found = {node.node.kind: node for node in ask(weave, "a", Direction.UP).nodes}
    assert {kind: node.step for kind, node in found.items()} == {
        NodeKind.ARTIFACT: f"{one.sid}:{write}",
        NodeKind.STEP: f"{one.sid}:{write}",
        NodeKind.REQUEST: f"{one.sid}:{prompt}",
        NodeKind.SESSION: f"{one.sid}:0",
    }
    assert all(node.agent == "demo" and node.at_ms for node in found.values())


def test_both_directions_are_two_walks_and_nothing_is_reached_by_turning_round(weave: Weave) -> None:
    one = weave.session("one")
    one.prompt("a")
    a, b = (one.writes(one.call("Write"), f"file:///w/{name}") for name in "ab")
    weave.flow(a, b)
    sibling = one.writes(one.call("Write"), "file:///w/sibling")
    weave.flow(a, sibling)
    both = ask(weave, "b", Direction.BOTH)
    ids = {node.node.id for node in both.nodes if node.node.kind is NodeKind.ARTIFACT}
    assert ids == {a, b}
    up, down = ask(weave, "b", Direction.UP), ask(weave, "b", Direction.DOWN)
    assert {node.node for node in both.nodes} == {node.node for found in (up, down) for node in found.nodes}


def test_versions_that_are_too_many_are_marked_as_cut(weave: Weave) -> None:
    one = weave.session("one")
    one.prompt("a")
    for _ in range(60):
        one.writes(one.call("Write"), "file:///w/a")
    cut = ask(weave, "a", Direction.DOWN, nodes=1000).cuts[0]
    assert (cut.why, cut.shown, cut.total) == (CutReason.FAN_OUT, 50, 60)


def test_a_limit_below_the_number_of_starts_still_answers(weave: Weave) -> None:
    one = weave.session("one")
    one.prompt("a")
    for _ in range(5):
        one.writes(one.call("Write"), "file:///w/a")
    assert len(ask(weave, "a", Direction.BOTH, nodes=1).nodes) >= 5


def test_a_step_without_words_in_the_index_is_told_from_the_journal(tmp_path: Path) -> None:
    with Recorder(tmp_path / "store") as recorder:
        session = recorder.session("demo", "one")
        session.prompt("Go.")
        session.step("assistant", content={"text": "I shall look first."})
        call(session, "Bash", {"command": "ls"})
        sid = session.id
    home = Home(tmp_path / "store")
    with open_index(home) as index:
        start = find_start(index, f"{sid}:2", folder="/")
        found = answer(home, index, start, Direction.UP, Limits())
    assert found.nodes[0].title == "assistant I shall look first."


def test_a_journal_that_is_gone_costs_the_words_and_nothing_else(tmp_path: Path) -> None:
    with Recorder(tmp_path / "store") as recorder:
        session = recorder.session("demo", "one")
        session.prompt("Go.")
        session.step("assistant", content={"text": "I shall look first."})
        sid = session.id
    home = Home(tmp_path / "store")
    with open_index(home) as index:
        start = find_start(index, f"{sid}:2", folder="/")
        path = home.journal(sid)
        assert path is not None
        path.write_bytes(b"nothing of ours\n" * 99)
        found = answer(home, index, start, Direction.UP, Limits())
    assert found.nodes[0].title == "assistant"


def step(asked: Json = None, *, tool: str | None = "Bash", kind: str = "tool_call", effect: Json = None) -> StepNode:
    return StepNode(
        id=1,
        session="s",
        n=1,
        hash="h",
        type=kind,
        agent="a",
        at_us=0,
        ts=None,
        tool=tool,
        success=None,
        corr=None,
        request=None,
        offset=0,
        asked=None if asked is None else json.dumps(asked),
        effect=None if effect is None else json.dumps(effect),
    )


def artifact(uri: str, kind: str = "file") -> ArtifactNode:
    return ArtifactNode(
        id=1,
        kind=kind,
        uri=uri,
        digest="",
        version=0,
        versions=0,
        created_at_ms=None,
        updated_at_ms=None,
        deleted_at_ms=None,
        made_by=None,
        thing=1,
    )


def test_a_file_is_called_by_its_path_and_others_by_their_uri() -> None:
    assert title_of(artifact("file:///w/a")) == "/w/a"
    assert title_of(artifact("file:a")) == "a"
    assert title_of(artifact("https://example.org", "url")) == "https://example.org"


def test_a_call_is_called_by_its_tool_and_what_it_was_asked() -> None:
    assert title_of(step({"tool_use_id": "t", "command": "ls -l", "description": "list"})) == "Bash ls -l"
    assert title_of(step({"operation": "edit", "path": "/w/a"}, tool="Edit")) == "Edit /w/a"
    many = {"changes": [{"path": f"/w/{number}"} for number in range(7)]}
    assert title_of(step(many, tool="apply_patch")) == "apply_patch /w/0, /w/1, /w/2, /w/3, /w/4 …"
    assert title_of(step({"tool_use_id": "t"}, tool="Task")) == "Task"
    assert title_of(step(tool=None, kind="file_effect", effect={"path": "/w/a"})) == "effect /w/a"
    assert title_of(step(tool=None, kind="permission"), "allow: by hand") == "permission allow: by hand"


def test_a_prompt_is_called_by_its_words_and_a_session_by_its_title() -> None:
    request = RequestNode(id=1, session="s", n=1, hash="h", agent="a", prompt="Do it.", title="t", created_at_ms=1)
    assert title_of(request) == "Do it."
    assert (
        title_of(RequestNode(id=1, session="s", n=1, hash="h", agent="a", prompt=None, title="t", created_at_ms=1))
        == "t"
    )
    names = ("source_session", "title", "began_at_ms")
    session = SessionNode(id=1, session="s", agent="a", kind="root", status="active", **dict.fromkeys(names))
    assert title_of(session) == "(no prompt)"
    assert title_of(None) == "not recorded"


@given(st.text(max_size=50))
def test_input_that_was_cut_or_is_none_is_shown_as_it_stands(text: str) -> None:
    assert title_of(msgspec.structs.replace(step(), asked=text)).startswith("Bash")


@given(st.dictionaries(st.text(max_size=9), st.one_of(st.none(), st.integers(), st.text(), st.lists(st.integers()))))
def test_any_input_has_some_words_or_none(said: dict[str, Json]) -> None:
    assert len(telling(said)) < 2_000


def test_a_decision_says_what_was_decided_by_whom_and_why() -> None:
    meta = {"type": "permission", "decision": "deny", "decided_by": "rule", "decision_reason": "no network"}
    recorded = Recorded(session="s", n=1, hash="h", prev="", parents=(), meta=meta, values={"content.text": "no"})
    assert said_by(recorded) == "deny: rule: no network: no"
    spoken = Recorded(session="s", n=1, hash="h", prev="", parents=(), meta={}, values={"content.args": {"path": "/a"}})
    assert said_by(spoken) == "/a"


def test_a_first_prompt_began_nothing_that_came_before_it(weave: Weave) -> None:
    one = weave.session("one")
    edit = one.call("Edit")
    one.writes(edit, "file:///w/a")
    prompt = one.prompt("What did you change?")
    weave.graph.change("UPDATE sessions SET title = 'What did you change?', title_rank = 2")
    found = ask(weave, "a", Direction.UP)
    assert one.prompt_node(prompt) not in found.known()
    assert found.known()[one.node].title == "(no prompt)"
    late = one.call("Edit")
    one.writes(late, "file:///w/b")
    assert one.prompt_node(prompt) in ask(weave, "b", Direction.UP).known()
    assert one.prompt_node(prompt) in ask(weave, one.sid, Direction.UP).known()


def test_a_prompt_without_words_is_not_called_by_the_title_of_its_session(weave: Weave) -> None:
    one = weave.session("one")
    prompt = one.prompt("Name the customer.")
    weave.graph.change("UPDATE requests SET original_user_prompt = NULL, is_erased = 1")
    weave.graph.change("UPDATE sessions SET title = 'Another prompt', title_rank = 2")
    found = ask(weave, one.ref(prompt), Direction.UP)
    assert found.known()[one.prompt_node(prompt)].title == "(erased)"


@each(
    "asked, words",
    [('{"command":"python3 - <<E\\nx', "python3 - <<E\nx"), ('{"path":"/w/a', "/w/a"), ('{"x":', '{"x":')],
)
def test_an_input_that_was_cut_is_read_as_far_as_it_goes(asked: str, words: str) -> None:
    step = StepNode(
        id=1, session="s", n=1, hash="h", type="tool_call", agent="a", at_us=1, ts=None, tool="Bash", success=None, corr=None,
        request=None, offset=0, asked=asked, effect=None,
    )  # fmt: skip
    assert title_of(step) == f"Bash {words}"
