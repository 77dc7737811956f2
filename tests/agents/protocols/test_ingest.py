"""Lines of JSON as events: the smallest, the fullest, and those that are none."""

import json
import re
from importlib.resources import files
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.agents.protocols import ingest
from tallystick.agents.protocols.ingest import Defaults, Line, events_of, parse, schema
from tallystick.errors import FormatError
from tallystick.model.step import Input, Opening, Ref, SessionKind, Source, Step
from tests.support.cases import each


def told(line: dict[str, Any], defaults: Defaults | None = None) -> list[tuple[str, Any]]:
    return list(events_of(parse(json.dumps(line).encode()), defaults or Defaults()))


def step(line: dict[str, Any], defaults: Defaults | None = None) -> Step:
    (_, opening), (_, found) = told(line, defaults)
    assert isinstance(opening, Opening)
    assert isinstance(found, Step)
    assert opening.session == found.session
    return found


def test_type_and_session_are_enough() -> None:
    (agent, opening), (_, found) = told({"type": "user", "session": "s", "text": "hi"})
    assert (agent, opening.kind, opening.source) == ("script", SessionKind.ROOT, Source.SDK)
    assert (found.type, found.source_id, dict(found.values)) == ("user", None, {"content.text": "hi"})
    assert found.opens_request


def test_a_call_and_its_result_are_named_after_the_call() -> None:
    call = step({"type": "tool_call", "session": "s", "call": "c1", "tool": "Bash", "args": {"command": "ls"}})
    result = step({"type": "tool_result", "session": "s", "call": "c1", "output": ["a", 1], "success": True})
    assert (call.source_id, dict(call.meta)) == ("c1", {"tool": "Bash", "corr": "c1"})
    assert (result.source_id, result.after, dict(result.meta)) == (
        "c1/result",
        (Ref("c1"),),
        {"corr": "c1", "success": True},
    )
    assert dict(result.values) == {"content.output": ["a", 1]}


def test_all_that_a_step_can_say_can_be_said() -> None:
    found = step(
        {
            "type": "model_call",
            "session": "s",
            "id": "m1",
            "ts": 1700000000.25,
            "model": "some-model",
            "tokens": {"input": 3, "output": 4},
            "duration_ms": 12,
            "meta": {"effort": "high"},
            "content": {"plan": ["a"]},
            "personal": {"account": "ann"},
            "local": {"note": 1},
            "raw": {"content.part_0": "aGk="},
            "after": ["a", {"session": "t", "agent": "other"}],
            "within": {"id": "w"},
            "input": "path",
            "source": "watch",
            "cwd": "/home/dev",
        }
    )
    assert found == Step(
        session="s",
        type="model_call",
        source=Source.WATCH,
        source_id="m1",
        ts="2023-11-14T22:13:20.250000Z",
        meta={"model": "some-model", "tokens": {"input": 3, "output": 4}, "duration_ms": 12, "effort": "high"},
        values={"content.plan": ["a"], "personal.account": "ann", "personal.cwd": "/home/dev", "local.note": 1},
        raw={"content.part_0": b"hi"},
        after=(Ref("a"), Ref(None, "t", "other")),
        within=Ref("w"),
        input=Input.PATH,
    )


def test_a_session_can_be_begun_with_what_is_known_of_it() -> None:
    line = {
        "type": "session_start",
        "session": "s/1",
        "kind": "child",
        "parent": {"session": "s", "id": "c1"},
        "cwd": "/w",
    }
    ((agent, opening),) = told({**line, "agent": "mine"})
    assert opening == Opening(
        session="s/1",
        agent="mine",
        kind=SessionKind.CHILD,
        parent=Ref("c1", "s"),
        source=Source.SDK,
        values={"personal.cwd": "/w"},
    )
    assert agent == "mine"


def test_what_lines_need_not_say_comes_from_the_defaults() -> None:
    (agent, opening), (_, found) = told({"type": "warning"}, Defaults("mine", "s9", "run-1"))
    assert (agent, found.session) == ("mine", "s9")
    assert (opening.kind, opening.parent) == (SessionKind.CHILD, Ref(session="run-1", agent="run"))


def test_a_prompt_by_nobody_opens_no_request() -> None:
    assert not step({"type": "user", "session": "s", "meta": {"origin": "notification"}}).opens_request
    assert not step({"type": "user", "session": "s", "request": False}).opens_request
    assert step({"type": "system", "session": "s", "request": True}).opens_request


@each(
    "line, why",
    [
        (b"{", "no JSON"),
        (b"[]", "Expected `object`"),
        (b"{}", "missing required field `type`"),
        (b'{"type": "x"}', "names no session"),
        (b'{"type": "X", "session": "s"}', "regex"),
        (b'{"type": "x", "session": ""}', "length >= 1"),
        (b'{"type": "x", "session": "s", "sesion": 1}', "unknown field `sesion`"),
        (b'{"type": "x", "session": "s", "tokens": {"in": 1}}', "unknown field `in`"),
        (b'{"type": "x", "session": "s", "duration_ms": -1}', ">= 0"),
        (b'{"type": "x", "session": "s", "success": "yes"}', "Expected `bool | null`"),
        (b'{"type": "x", "session": "s", "content": {"No!": 1}}', "regex"),
        (b'{"type": "x", "session": "s", "raw": {"content.a": "***"}}', "no base64"),
        (b'{"type": "x", "session": "s", "source": "magic"}', "Invalid enum value"),
    ],
)
def test_a_line_that_is_none_says_why(line: bytes, why: str) -> None:
    with pytest.raises(FormatError) as caught:
        list(events_of(parse(line), Defaults()))
    assert why in str(caught.value)


def test_the_schema_that_is_shipped_is_the_one_that_is_obeyed() -> None:
    shipped = (files("tallystick.agents.protocols") / "ingest.schema.json").read_text("utf-8")
    assert json.loads(shipped) == schema()


def test_every_member_of_a_line_is_in_the_schema_with_its_meaning() -> None:
    members = schema()["$defs"]["Line"]["properties"]
    assert set(members) == {field.encode_name for field in msgspec.structs.fields(Line)}
    plain = {"exit_code", "duration_ms", "model", "tokens", "reason", "label", "goal"}
    assert {name for name, member in members.items() if "description" not in member} <= plain


@given(
    st.binary(max_size=200)
    | st.dictionaries(st.sampled_from(Line.__struct_fields__), st.integers() | st.text()).map(
        lambda line: json.dumps(line).encode()
    )
)
def test_any_line_is_an_event_or_an_error_of_ours(line: bytes) -> None:
    try:
        found = list(events_of(parse(line), Defaults(session="s")))
    except FormatError:
        return
    assert all(isinstance(event, Step | Opening) for _, event in found)
    assert ingest.AGENT == "script"


def test_the_lines_in_the_page_are_lines() -> None:
    page = (Path(__file__).parents[3] / "docs" / "ingest.md").read_text("utf-8")
    lines = [
        line
        for block in re.findall(r"^```json\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
        for line in block.splitlines()
    ]
    assert len(lines) > 3
    for line in lines:
        assert list(events_of(parse(line.encode()), Defaults()))
