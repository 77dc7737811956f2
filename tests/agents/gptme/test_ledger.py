from __future__ import annotations

import json
from pathlib import Path

from hypothesis import given, settings

from tallystick.agents.gptme import ledger as gptme_ledger
from tallystick.model.step import Event, Input, Json, Opening, Ref, Source, Step
from tests.agents.conftest import events_of_lines
from tests.agents.mutations import losses_of, mutated, pieces_of, steps_of
from tests.support.cases import each, each_case
from tests.support.laws import examples

PATH = "/home/dev/.local/share/gptme/provenance/sessions/1e23.jsonl"


def record(number: int, kind: str = "tool_call", parent: int | None = None, **members: Json) -> bytes:
    """A record whose hashes are words: the reader does not check them."""
    body = {
        "step_id": f"step-{number}",
        "session_id": "1e23",
        "step_type": kind,
        "tool_name": "shell",
        "started_at": "2026-06-29T21:58:04Z",
        "duration_ms": 312,
        "input_hash": "sha256:in",
        "output_hash": "sha256:out",
        "context_hash": f"sha256:context-{number}",
        "parent_step_hash": None if parent is None else f"sha256:own-{parent}",
        "self_hash": f"sha256:own-{number}",
    }
    return json.dumps(body | members).encode()


def read(*lines: bytes) -> list[Event]:
    return events_of_lines(gptme_ledger, lines, PATH)


def test_a_record_is_a_step_of_another_recorders_log() -> None:
    opening, step = read(record(1))
    assert opening == Opening(session="1e23", agent="gptme-ledger", source=Source.IMPORT, ts="2026-06-29T21:58:04Z")
    assert isinstance(step, Step)
    assert (step.type, step.source_id, step.source, step.ts) == ("tool_call", "step-1", Source.IMPORT, opening.ts)
    assert step.meta == {"tool": "shell", "corr": "step-1", "duration_ms": 312}
    assert step.values == {
        "content.input_hash": "sha256:in",
        "content.output_hash": "sha256:out",
        "content.context_hash": "sha256:context-1",
        "content.self_hash": "sha256:own-1",
    }


def test_steps_follow_from_the_step_with_the_hash_of_their_parent() -> None:
    steps = steps_of(read(record(1), record(2, parent=1), record(3, parent=1), record(4, parent=9)))
    assert [step.after for step in steps] == [(), (Ref("step-1"),), (Ref("step-1"),), ()]
    assert steps[3].values["content.parent_step_hash"] == "sha256:own-9"


@each_case("kind, expected")
def test_the_name_is_that_of_a_tool_a_model_or_a_skill(kind: str, expected: dict[str, Json]) -> None:
    [step] = steps_of(read(record(1, kind)))
    assert (step.type, step.meta) == (kind, expected)
    assert step.input is (Input.HIDDEN if kind == "model_call" else None)


@each("kind", ["session_end", "session_close", "chain_closed", "end", "closing"])
def test_any_closing_marker_ends_the_session(kind: str) -> None:
    [step] = steps_of(read(record(1, kind)))
    assert (step.type, step.meta["status"]) == ("session_end", "completed")
    assert step.meta.get("step_type") == (None if kind == "session_end" else kind)


def test_content_is_kept_where_a_ledger_holds_it() -> None:
    call, model = steps_of(read(record(1, input={"command": "ls"}, output="a"), record(2, "model_call", input="hi")))
    assert (call.values["content.args"], call.values["content.output"]) == ({"command": "ls"}, "a")
    assert model.values["content.input"] == "hi"


def test_repeated_lines_are_dropped_and_repeated_ids_are_not() -> None:
    events = read(record(1), record(1), record(1, duration_ms=5))
    assert [step.source_id for step in steps_of(events)] == ["step-1", "step-1~2"]
    assert losses_of(events) == {"duplicate_record": 1}


def test_what_a_record_holds_beyond_its_members_is_kept() -> None:
    [step] = steps_of(read(record(1, exit_code=0, duration_ms="long", step_id=7)))
    assert step.source_id == "@0"
    assert step.values["content.extra"] == {"exit_code": 0, "duration_ms": "long", "step_id": 7}


def test_a_record_of_another_session_says_so() -> None:
    steps = steps_of(read(record(1), record(2, session_id="ffff")))
    assert [step.meta.get("record_session") for step in steps] == [None, "ffff"]
    assert {step.session for step in steps} == {"1e23"}


def test_lines_that_are_no_records_are_counted() -> None:
    assert losses_of(read(b"{", b"[]", b'{"a": 1}')) == {"bad_line": 1, "unknown_record": 2}


def test_a_ledger_is_recognised_by_its_records_though_the_first_is_damaged() -> None:
    assert gptme_ledger.recognises(PATH, record(1) + b"\n")
    assert gptme_ledger.recognises(PATH, record(1)[:30] + b"\n" + record(2))
    assert not gptme_ledger.recognises(
        PATH, b'{"step_id": 1}\n{"said": ' + json.dumps(record(1).decode()).encode() + b"}"
    )


def test_ledgers_are_found_where_gptme_keeps_them() -> None:
    [pattern] = gptme_ledger.locate()
    assert Path(PATH).relative_to("/home/dev").match(pattern)


@settings(max_examples=examples(60), deadline=None)
@given(mutated([record(1), record(2, "model_call", parent=1), record(3, "session_end", parent=2)]))
def test_no_damage_raises_and_no_line_is_silent(lines: list[bytes]) -> None:
    fed = [line.strip() for line in lines if line.strip()]
    pieces = pieces_of(gptme_ledger, fed, PATH)
    assert all(pieces[:-1])
    assert pieces == pieces_of(gptme_ledger, fed, PATH)
