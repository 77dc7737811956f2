"""What nodes are called."""

from __future__ import annotations

import json

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from tallystick.ask.labels import said_by, telling, title_of
from tallystick.graph.nodes import ArtifactNode, RequestNode, SessionNode, StepNode
from tallystick.model.recorded import Recorded
from tallystick.model.step import Json


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
