from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tallystick.agents import SourceFile
from tallystick.agents.swe_agent import transcript as swe_agent
from tallystick.model.step import Event, Input, Loss, Opening, Ref, Step
from tests.agents.conftest import ReadEvents
from tests.agents.damage import spoilt
from tests.support.laws import examples

PUBLIC = Path(__file__).parents[4] / "shared" / "data" / "public" / "small"


def fed(document: Any, path: str = "runs/batch/task-1/task-1.traj") -> list[Event]:
    reader = swe_agent.reader(SourceFile(path))
    data = document if isinstance(document, bytes) else json.dumps(document).encode()
    return [*reader.feed(data, 0), *reader.finish()]


def steps(events: Sequence[Event]) -> list[Step]:
    return [event for event in events if isinstance(event, Step)]


def find(events: Sequence[Event], source_id: str) -> Step:
    [found] = [step for step in steps(events) if step.source_id == source_id]
    return found


def losses(events: Sequence[Event]) -> Counter[str]:
    return Counter(event.kind for event in events if isinstance(event, Loss))


def by_command() -> dict[str, Any]:
    """A run of the first versions: actions are commands, an observation is what the user says next."""
    return {
        "environment": "swe_main",
        "trajectory": [
            {
                "action": "ls\n",
                "observation": "a.py\n",
                "response": "I look.\n```\nls\n```",
                "state": '{"open_file": "n/a"}',
                "thought": "I look.\n",
                "execution_time": 0.25,
            },
            {"action": "submit\n", "observation": "diff --git", "response": "I am done.", "state": "?", "thought": ""},
        ],
        "history": [
            {"role": "system", "content": "You may use a shell.", "agent": "primary"},
            {"role": "user", "content": "An example.", "agent": "primary", "is_demo": True},
            {"role": "user", "content": "Fix the issue.", "agent": "primary"},
            {"role": "assistant", "content": "I look.\n```\nls\n```", "action": "ls\n", "thought": "I look.\n"},
            {"role": "user", "content": "a.py\n(Open file: n/a)\nbash-$"},
            {"role": "assistant", "content": "I am done.", "action": "submit\n", "thought": ""},
        ],
        "info": {
            "exit_status": "submitted",
            "submission": "diff --git",
            "model_stats": {"instance_cost": 0.25, "tokens_sent": 900, "tokens_received": 30, "api_calls": 2},
            "edited_files30": "a.py",
        },
        "replay_config": json.dumps({"agent": {"model": {"name": "m-1"}}}),
    }


def by_tools() -> dict[str, Any]:
    """A run of the later versions: actions are tool calls."""
    calls = [
        {"id": "c1", "function": {"name": "open", "arguments": '{"path": "a.py"}'}, "type": "function"},
        {"id": "c2", "function": {"name": "bash", "arguments": "{half"}, "type": "function"},
    ]
    return {
        "trajectory": [
            {"action": "open a.py", "observation": "1: x", "state": {"wd": "/"}, "query": [{"role": "user"}]}
        ],
        "history": [
            {"role": "user", "content": "Fix it."},
            {
                "role": "assistant",
                "content": "Opening.",
                "action": "open a.py",
                "tool_calls": calls,
                "thinking_blocks": [{"type": "thinking", "thinking": "Which file?"}],
            },
            {"role": "tool", "content": "1: x", "tool_call_ids": ["c1", "c2"]},
        ],
    }


def test_a_run_by_commands_gives_these_steps() -> None:
    assert [(step.type, step.source_id) for step in steps(fed(by_command()))] == [
        ("system", "#0"),
        ("user", "#1"),
        ("user", "#2"),
        ("model_call", "#3/usage"),
        ("assistant", "#3/1"),
        ("tool_call", "#3/2"),
        ("tool_result", "#3/2/result"),
        ("model_call", "#5/usage"),
        ("assistant", "#5/1"),
        ("tool_call", "#5/2"),
        ("tool_result", "#5/2/result"),
        ("usage", "usage"),
        ("session_end", "end"),
    ]
    assert losses(fed(by_command())) == {}


def test_the_task_is_the_request_and_an_example_is_not() -> None:
    events = fed(by_command())
    assert [step.source_id for step in steps(events) if step.opens_request] == ["#2"]
    assert find(events, "#1").meta["origin"] == "injected"


def test_a_result_is_what_the_model_saw_with_what_only_the_trajectory_says() -> None:
    result = find(fed(by_command()), "#3/2/result")
    assert result.after == (Ref("#3/2"),)
    assert result.meta == {"duration_ms": 250}
    assert result.values == {"content.output": "a.py\n(Open file: n/a)\nbash-$", "content.state": {"open_file": "n/a"}}


def test_the_last_observation_stands_in_the_trajectory_only() -> None:
    assert find(fed(by_command()), "#5/2/result").values == {"content.output": "diff --git", "content.state": "?"}


def test_cost_tokens_and_end_are_those_of_the_run() -> None:
    events = fed(by_command())
    usage = find(events, "usage").meta
    assert usage == {
        "model": "m-1",
        "tokens": {"input": 900, "output": 30},
        "cost_microusd": 250_000,
        "calls": 2,
    }
    end = find(events, "end")
    assert end.meta == {"reason": "submitted"}
    assert end.values == {"content.submission": "diff --git", "content.info": {"edited_files30": "a.py"}}
    assert find(events, "#3/usage").meta["model"] == "m-1"
    assert find(events, "#3/usage").input is Input.PATH


def test_tool_calls_have_their_own_ids_and_share_an_observation() -> None:
    events = fed(by_tools())
    assert find(events, "c1").values == {"content.args": {"path": "a.py"}, "content.command": "open a.py"}
    assert find(events, "c2").values["content.args"] == "{half"
    assert find(events, "c1/result").values["content.output"] == "1: x"
    assert find(events, "c1/result").values["content.state"] == {"wd": "/"}
    assert find(events, "c2/result").meta == {"corr": "c2", "same_as": "c1"}
    assert find(events, "#1/0").values == {"content.thinking": "Which file?"}
    assert losses(events) == {"query": 1}


def test_a_call_id_that_comes_again_is_another_call() -> None:
    document = by_tools()
    document["history"] += [dict(message) for message in document["history"][1:]]
    assert find(fed(document), "#3/2").meta["corr"] == "c1"
    assert find(fed(document), "#3/2/result").values["content.output"] == "1: x"


def test_a_trajectory_without_history_tells_the_run() -> None:
    document = by_command()
    del document["history"]
    document["trajectory"][0]["query"] = [{"role": "user", "content": "Fix the issue."}]
    events = fed(document)
    assert [step.source_id for step in steps(events)][:4] == ["#0", "#1/usage", "#1/1", "#1/2"]
    assert find(events, "#1/2/result").values["content.output"] == "a.py\n"
    assert find(events, "#0").opens_request


def test_an_action_that_the_history_does_not_have_is_reported() -> None:
    document = by_command()
    document["trajectory"].insert(0, {"action": "made up"})
    assert losses(fed(document)) == {"unmatched_turn": 1}
    assert find(fed(document), "#3/2/result").meta == {"duration_ms": 250}


def test_environment_variables_are_not_recorded() -> None:
    document = by_command()
    tools = {"env_variables": {"TOKEN": "secret"}, "bundles": []}
    document["replay_config"] = json.dumps({"agent": {"tools": tools}})
    events = fed(document)
    [opening] = [event for event in events if isinstance(event, Opening)]
    assert opening.values == {"content.config": {"agent": {"tools": {"bundles": []}}}}
    assert losses(events) == {"environment": 1}


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("trajectories/dev/batch/task-1/task-1.traj", "batch/task-1"),
        ("trajectories/dev/batch/task-1.traj", "batch/task-1"),
        ("task-1.traj", "task-1"),
        ("/task-1/task-1.traj", "task-1"),
    ],
)
def test_a_run_is_named_by_its_file_and_its_batch(path: str, name: str) -> None:
    assert swe_agent.session_name(path) == name
    [opening] = [event for event in fed(by_command(), path) if isinstance(event, Opening)]
    assert opening.session == name


def test_a_trajectory_is_known_by_its_ending_and_its_lists() -> None:
    head = json.dumps(by_command()).encode()
    assert swe_agent.recognises("/home/dev/x/task-1.traj", head)
    assert not swe_agent.recognises("/home/dev/x/task-1.json", head)
    assert not swe_agent.recognises("/home/dev/x/task-1.traj", b'{"messages": []}')
    assert not swe_agent.recognises("/home/dev/x/task-1.traj", b"[1]")


@pytest.mark.skipif(not PUBLIC.is_dir(), reason="the public samples are not beside this checkout")
@pytest.mark.parametrize(
    ("name", "calls"),
    [
        ("function_calling_simple.traj", 5),
        ("humanevalfix-python-0.traj", 5),
        ("marshmallow-code__marshmallow-1867.traj", 14),
    ],
)
def test_public_runs_are_read_whole(read_events: ReadEvents, name: str, calls: int) -> None:
    events = read_events(swe_agent, PUBLIC / name)
    assert losses(events) == {}
    counted = Counter(step.type for step in steps(events))
    assert {counted[kind] for kind in ("model_call", "assistant", "tool_call", "tool_result")} == {calls}
    assert counted["system"] == counted["user"] == 1


@settings(max_examples=examples(200), deadline=None)
@given(st.data(), st.sampled_from((by_command, by_tools)))
def test_a_damaged_document_does_not_stop_the_reader(data: st.DataObject, make: Any) -> None:
    document = spoilt(make(), data)
    events = fed(document)
    assert events
    assert events == fed(document)


@given(st.binary(max_size=40))
def test_bytes_that_are_no_document_are_reported(data: bytes) -> None:
    assert any(isinstance(event, Loss) for event in fed(data))
