from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tallystick.agents import SourceFile
from tallystick.agents.mini_swe_agent import transcript as mini
from tallystick.model.step import Event, Loss, Opening, Ref, Step
from tests.agents.conftest import ReadEvents
from tests.agents.damage import spoilt
from tests.support.laws import examples

RECORDING = next((Path(__file__).parents[2] / "recordings" / "mini-swe-agent").glob("*/trajectory.json"))


def fed(document: Any, path: str = "/runs/task-1/task-1.traj.json") -> list[Event]:
    reader = mini.reader(SourceFile(path))
    data = document if isinstance(document, bytes) else json.dumps(document).encode()
    return [*reader.feed(data, 0), *reader.finish()]


def run() -> dict[str, Any]:
    usage = {"prompt_tokens": 110, "completion_tokens": 20, "prompt_tokens_details": {"cached_tokens": 10}}
    response = {"id": "r1", "model": "m-1", "usage": usage, "choices": [{"finish_reason": "tool_calls"}]}
    calls = [
        {"id": "c1", "function": {"name": "bash", "arguments": '{"command": "ls"}'}},
        {"id": "c2", "function": {"name": "bash", "arguments": "{half"}},
    ]
    return {
        "info": {
            "config": {
                "model": {"model_name": "x/m-1"},
                "environment": {"cwd": "/home/dev", "env": {"TOKEN": "secret"}},
            },
            "mini_version": "2.4.6",
            "exit_status": "Submitted",
            "submission": "a diff",
            "model_stats": {"api_calls": 1},
        },
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Fix it."},
            {
                "role": "assistant",
                "content": "So.",
                "tool_calls": calls,
                "reasoning_content": "How?",
                "extra": {"response": response, "cost": 0.25, "timestamp": 1_795_300_000.5},
            },
            {"role": "tool", "content": "a", "tool_call_id": "c1", "extra": {"returncode": 0}},
            {
                "role": "tool",
                "content": "b",
                "tool_call_id": "c2",
                "extra": {"returncode": 1, "exception_info": "late"},
            },
            {"role": "user", "content": "Your last answer had no command."},
            {"role": "exit", "content": "", "extra": {"exit_status": "Submitted"}},
        ],
        "trajectory_format": "mini-swe-agent-1.1",
    }


def steps(events: Sequence[Event]) -> list[Step]:
    return [event for event in events if isinstance(event, Step)]


def find(events: Sequence[Event], source_id: str) -> Step:
    [found] = [step for step in steps(events) if step.source_id == source_id]
    return found


def losses(events: Sequence[Event]) -> Counter[str]:
    return Counter(event.kind for event in events if isinstance(event, Loss))


def test_the_recording_gives_these_events(read_events: ReadEvents) -> None:
    events = read_events(mini, RECORDING)
    assert Counter(step.type for step in steps(events)) == {
        "system": 1,
        "user": 1,
        "model_call": 6,
        "assistant": 4,
        "tool_call": 6,
        "tool_result": 6,
        "session_end": 1,
    }
    assert losses(events) == {"exit": 1, "environment": 1}
    stats = json.loads(RECORDING.read_bytes())["info"]["model_stats"]
    costs = [step.meta["cost_microusd"] for step in steps(events) if step.type == "model_call"]
    assert sum(costs) == pytest.approx(stats["instance_cost"] * 1e6, abs=len(costs))
    assert len(costs) == stats["api_calls"]
    assert read_events(mini, RECORDING) == events


def test_a_run_gives_these_steps() -> None:
    events = fed(run())
    assert [(step.type, step.source_id) for step in steps(events)] == [
        ("system", "#0"),
        ("user", "#1"),
        ("model_call", "#2/usage"),
        ("assistant", "#2/0"),
        ("assistant", "#2/1"),
        ("tool_call", "c1"),
        ("tool_call", "c2"),
        ("tool_result", "c1/result"),
        ("tool_result", "c2/result"),
        ("user", "#5"),
        ("session_end", "end"),
    ]
    call = find(events, "#2/usage")
    assert call.meta["tokens"] == {"input": 100, "output": 20, "cache_read": 10}
    assert call.ts == "2026-11-21T22:26:40.500000Z"
    assert find(events, "c2").values == {"content.args": "{half"}
    assert find(events, "c2/result").after == (Ref("c1/result"), Ref("c2"))
    assert find(events, "c2/result").meta == {"corr": "c2", "exit_code": 1, "success": False}
    assert find(events, "end").values == {"content.submission": "a diff"}


def test_only_the_task_is_a_request() -> None:
    assert [step.source_id for step in steps(fed(run())) if step.opens_request] == ["#1"]
    assert find(fed(run()), "#5").meta == {"origin": "injected"}


def test_a_run_is_named_by_its_first_answer_else_by_its_file() -> None:
    document = run()
    assert {step.session for step in steps(fed(document))} == {"r1"}
    del document["messages"][2]["extra"]["response"]["id"]
    assert {step.session for step in steps(fed(document))} == {"task-1/task-1"}


def test_environment_variables_are_not_recorded() -> None:
    events = fed(run())
    [opening] = [event for event in events if isinstance(event, Opening)]
    assert opening.values["personal.cwd"] == "/home/dev"
    assert "secret" not in json.dumps(opening.values)
    assert losses(events)["environment"] == 1


def test_commands_without_tool_calls_are_calls_too() -> None:
    document = run()
    answer = document["messages"][2]
    del answer["tool_calls"]
    answer["extra"]["actions"] = ["ls"]
    document["messages"][3:5] = [{"role": "user", "content": "a", "extra": {"returncode": 0}}]
    events = fed(document)
    assert find(events, "#2/2").values == {"content.args": {"command": "ls"}}
    assert find(events, "#2/2/result").values["content.output"] == "a"


def test_a_run_that_goes_on_has_no_end() -> None:
    document = run()
    document["info"]["exit_status"] = ""
    assert steps(fed(document))[-1].type == "user"


def test_a_trajectory_is_known_by_what_it_says() -> None:
    assert mini.recognises("/x/trajectory.json", RECORDING.read_bytes()[: 64 * 1024])
    assert mini.recognises("/x/copy.jsonl", RECORDING.read_bytes()[: 64 * 1024])
    assert not mini.recognises("/x/trajectory.json", b'{"messages": []}')


@settings(max_examples=examples(200), deadline=None)
@given(st.data())
def test_a_damaged_document_does_not_stop_the_reader(data: st.DataObject) -> None:
    document = spoilt(run(), data)
    events = fed(document)
    assert events
    assert events == fed(document)


@given(st.binary(max_size=40))
def test_bytes_that_are_no_document_are_reported(data: bytes) -> None:
    assume(data.strip() != b"{}")  # a document without anything
    assert any(isinstance(event, Loss) for event in fed(data))
