from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from tallystick.agents.headless import transcript as headless
from tallystick.exports import jsonl
from tallystick.model.recorded import Recorded
from tallystick.model.step import Json, Opening, Step
from tests.agents.conftest import events_of
from tests.agents.headless.test_transcript import GOLDEN
from tests.exports.conftest import Record


def written(steps: Sequence[Recorded], *, with_content: bool = True) -> list[dict[str, Json]]:
    return [json.loads(line) for line in jsonl.write(steps, session="s1", with_content=with_content)]


def one(record: Record) -> list[Recorded]:
    opening = Opening(session="s", agent="demo", values={"personal.cwd": "/home/dev", "local.source": {"path": "x"}})
    step = Step(
        session="s",
        type="tool_result",
        ts="2026-03-25T09:00:00Z",
        meta={"tool": "read", "success": True},
        values={"content.output": "sjöng\n"},
        raw={"content.part_0": b"\x89PNG"},
    )
    return record([opening, step])


def test_a_step_is_one_object_with_its_members_in_order(record: Record) -> None:
    start, result = written(one(record))
    assert list(result) == [
        *("session", "n", "hash", "parents", "type", "source", "ts", "recorded", "meta", "content", "bytes"),
    ]
    assert (result["session"], result["n"], result["ts"]) == ("s1", 1, "2026-03-25T09:00:00.000000Z")
    assert result["parents"] == [start["hash"]]
    assert result["meta"] == {"success": True, "tool": "read"}
    assert result["content"] == {"output": "sjöng\n"}
    assert result["bytes"] == {"content.part_0": 4}
    assert start["personal"] == {"cwd": "/home/dev"}


def test_without_content_names_stand_for_what_is_not_shown(record: Record) -> None:
    start, result = written(one(record), with_content=False)
    assert start["withheld"] == ["personal.cwd"]
    assert result["withheld"] == ["content.output", "content.part_0"]
    assert not {"content", "personal", "bytes"} & (start.keys() | result.keys())


@pytest.mark.parametrize("with_content", [False, True])
def test_local_values_never_leave(record: Record, *, with_content: bool) -> None:
    text = b"".join(jsonl.write(one(record), session="s1", with_content=with_content))
    assert b"local" not in text
    assert b'"path"' not in text


def test_every_step_of_a_session_is_a_line_of_its_own(record: Record) -> None:
    steps = record(events_of(headless, GOLDEN))
    lines = list(jsonl.write(steps, session="s1", with_content=True))
    assert all(line.endswith(b"\n") and line.count(b"\n") == 1 for line in lines)
    assert [json.loads(line)["hash"] for line in lines] == [step.hash for step in steps]
