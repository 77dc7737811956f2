from __future__ import annotations

import json
from hashlib import sha256

from tallystick.graph.projection.json_columns import (
    content_digest,
    input_of,
    intent_input,
    plain,
    response_of,
    said_outcome,
)
from tallystick.graph.projection.rows import step_row
from tallystick.graph.tables import SessionState, StepRow
from tallystick.model.intent import Domain, Effects, Intent, Operation
from tallystick.model.recorded import Recorded
from tallystick.model.step import Json
from tests.support.cases import each_case


def step(kind: str = "tool_result", meta: dict[str, Json] | None = None, **content: Json) -> tuple[Recorded, StepRow]:
    told = Recorded(
        session="s" * 32,
        n=3,
        hash="h",
        prev="p",
        parents=(),
        meta={"type": kind, **(meta or {})},
        values={f"content.{name}": value for name, value in content.items()},
    )
    return told, step_row(told, SessionState("s", first_id=100, agent_id="demo"), at_us=7, request=None, offset=0)


def intent(operation: Operation, target: str, **more: Json) -> Intent:
    return Intent(domain=Domain.FILE, operation=operation, target=target, **more)


@each_case("meta, outcome")
def test_a_result_says_what_became_of_its_call(meta: dict[str, Json], outcome: str) -> None:
    assert said_outcome(*step(meta=meta)) == outcome


def test_a_content_is_known_by_the_digest_of_its_bytes() -> None:
    assert content_digest("é") == (f"sha256:{sha256('é'.encode()).hexdigest()}", 2)
    assert content_digest(None) == (None, None)


def test_the_input_names_one_file_several_or_a_command() -> None:
    told, row = step("tool_call", {"tool": "Write"})
    one = intent(Operation.WRITE, "/w/a")
    two = intent(Operation.DELETE, "/w/b")
    assert json.loads(input_of(told, row, Effects(intents=(one,)), 1)) == {"operation": "write", "path": "/w/a"}
    assert json.loads(input_of(told, row, Effects(intents=(one, two)), 2))["changes"][1]["operation"] == "delete"
    told, row = step("tool_call", {"tool": "Bash"}, args={"command": "rm b", "description": "Remove"})
    assert json.loads(input_of(told, row, Effects(intents=(two,)), 0)) == {"command": "rm b", "description": "Remove"}


def test_a_long_command_is_cut_and_says_so() -> None:
    told, row = step("tool_call", {"tool": "Bash"}, args={"command": "x" * 10_000})
    said = json.loads(input_of(told, row, Effects(intents=(intent(Operation.READ, "/w/a"),)), 0))
    assert (len(said["command"]), said["truncated"], said["original_bytes"]) == (2048, True, 10_000)


def test_an_intent_says_where_it_comes_from_and_what_is_not_known() -> None:
    said = json.loads(intent_input(intent(Operation.READ, "/w/*", words=("*",), is_pattern=True)))
    assert said == {"operation": "read", "path": "/w/*", "words": ["*"], "is_known": False}


def test_a_response_is_how_it_ended_and_how_it_began() -> None:
    told, row = step(meta={"success": False, "duration_ms": 5, "interrupted": True}, output="o" * 999, error="bad")
    said = json.loads(response_of(told, row))
    assert (said["success"], said["duration_ms"], said["stderr"], said["interrupted"]) == (False, 5, "bad", True)
    assert (len(said["stdout"]), said["original_bytes"]) == (160, 999)


def test_no_text_upsets_what_keeps_it() -> None:
    assert plain("a\0b\ud800c", 3) == "a\ufffdb"
    assert plain("\ud800", 9) == "\ufffd"
