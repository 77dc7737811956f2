from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import example, given

from tallystick.agents import Adapter
from tallystick.agents.codex import transcript as codex
from tallystick.model.step import Event, Input, Json, Loss, Opening, Ref, SessionKind, Step
from tests.agents.conftest import events_of_lines
from tests.agents.mutations import (
    lines_of,
    losses_of,
    mutated,
    names_of,
    pieces_of,
    steps_of,
    types_of,
)
from tests.support.shown import shown

ReadEvents = Callable[[Adapter, Path], list[Event]]

ROOT = Path(__file__).resolve().parents[3]
RECORDINGS = ROOT / "tests" / "recordings" / "codex"
PUBLIC = ROOT / ".." / "shared" / "data" / "public"

PARENT = "01a20044-bd0e-7362-aa11-1533c4abeee2"
CHILD = "01a20044-c09d-7650-addb-9c63902eef8c"


def rollout(version: str, thread: str) -> Path:
    return next((RECORDINGS / version).rglob(f"rollout-*{thread}.jsonl"))


MAIN = rollout("0.169.0", PARENT)
SUB_AGENT = rollout("0.169.0", CHILD)
CODE_MODE = rollout("0.169.0-code-mode", "")
COMPACTION = rollout("0.169.0-compaction", "")
ALL = [MAIN, SUB_AGENT, CODE_MODE, COMPACTION]


def read(*payloads: dict[str, Json], old: bool = False) -> list[Event]:
    """The events of made-up lines: `{type, payload}` of each, or bare items."""
    lines = [json.dumps(line if old else {"timestamp": "2026-01-02T03:04:05Z", **line}) for line in payloads]
    return events_of_lines(codex, [line.encode() for line in lines])


def header(thread: str = "t1", **payload: Json) -> dict[str, Json]:
    return {"type": "session_meta", "payload": {"id": thread, **payload}}


def item(type_: str, **payload: Json) -> dict[str, Json]:
    return {"type": "response_item", "payload": {"type": type_, **payload}}


def message(role: str, *content: Json, **payload: Json) -> dict[str, Json]:
    blocks = [{"type": "input_text", "text": part} if isinstance(part, str) else part for part in content]
    return item("message", role=role, content=blocks, **payload)


def event(type_: str, **payload: Json) -> dict[str, Json]:
    return {"type": "event_msg", "payload": {"type": type_, **payload}}


def token_count(total: int, last: int) -> dict[str, Json]:
    usage = {"input_tokens": last, "cached_input_tokens": 1, "output_tokens": 2, "total_tokens": last + 2}
    info = {"total_token_usage": {**usage, "total_tokens": total}, "last_token_usage": usage}
    return event("token_count", info=info)


def test_a_thread_is_recorded_whole(read_events: ReadEvents) -> None:
    events = read_events(codex, MAIN)
    assert types_of(events) == {
        "system": 4,
        "user": 3,
        "config_change": 1,
        "model_call": 9,
        "assistant": 6,
        "tool_call": 8,
        "tool_result": 8,
        "subagent_start": 1,
        "subagent_end": 1,
    }
    assert losses_of(events) == {
        "duplicate_event": 22,
        "world_state": 2,
        "task_started": 1,
        "task_complete": 1,
        "thread_settings_applied": 1,
        "inter_agent_communication_metadata": 1,
    }
    [opening] = [event for event in events if isinstance(event, Opening)]
    assert (opening.session, opening.kind, opening.parent) == (PARENT, SessionKind.ROOT, None)
    assert opening.meta["agent_version"] == "0.169.0"
    assert opening.values["personal.cwd"] == "/home/dev/project"
    assert opening.values["content.branch"] == "main"


def test_only_what_somebody_typed_is_a_prompt(read_events: ReadEvents) -> None:
    prompts = steps_of(read_events(codex, MAIN), "user")
    assert [prompt.meta.get("origin") for prompt in prompts] == ["injected", None, "notification"]
    assert [prompt.opens_request for prompt in prompts] == [False, True, False]
    assert shown(prompts[1].values["content.text"]).startswith("A receipt line with a negative count")


def test_older_versions_tell_injected_prompts_by_their_beginning() -> None:
    events = read(
        header(),
        message("user", "<environment_context>\n</environment_context>"),
        message("user", "# AGENTS.md instructions for /home/dev/project\n\nBe brief."),
        message("user", "<user_shell_command>ls</user_shell_command>"),
        message("user", "Fix the test."),
    )
    assert [step.meta.get("origin") for step in steps_of(events, "user")] == ["injected", "injected", "command", None]


@pytest.mark.parametrize("path", ALL, ids=lambda path: path.name[-12:-6])
def test_usage_is_counted_once(read_events: ReadEvents, path: Path) -> None:
    totals = [json.loads(line)["payload"] for line in lines_of(path)]
    last = [payload["info"]["total_token_usage"] for payload in totals if payload.get("type") == "token_count"][-1]
    counts = [step.meta["tokens"] for step in steps_of(read_events(codex, path), "model_call")]
    assert sum(count["input"] + count["cache_read"] + count["cache_write"] for count in counts) == last["input_tokens"]
    assert sum(count["output"] for count in counts) == last["output_tokens"]


def test_a_model_call_stands_before_what_it_produced(read_events: ReadEvents) -> None:
    steps = steps_of(read_events(codex, MAIN))
    first = next(index for index, step in enumerate(steps) if step.type == "model_call")
    call, thinking, text, tool, result = steps[first : first + 5]
    assert call.input is Input.PATH
    assert call.source_id == "rs_a1bb01188e9d448ea369cc51/usage"
    assert call.meta["tokens"] == {"input": 5200, "output": 61, "cache_read": 0, "cache_write": 0, "reasoning": 0}
    assert call.meta["model"] == "gpt-5.5"
    assert thinking.values == {"content.thinking": "Look at the totals first."}
    assert text.values == {"content.text": "I'll read the code that adds up the lines."}
    assert tool.values == {"content.args": {"cmd": "cat receipts/totals.py && ls tests"}}
    assert result.after == (Ref(tool.source_id),)


def result_of(steps: list[Step], words: str) -> Step:
    call = next(step for step in steps if step.type == "tool_call" and words in str(step.values))
    return next(step for step in steps if step.source_id == f"{call.source_id}/result")


def test_results_say_how_the_call_ended(read_events: ReadEvents) -> None:
    steps = steps_of(read_events(codex, MAIN))
    failed = result_of(steps, "tests.test_rounding").meta
    assert (failed["success"], failed["exit_code"], failed["tool"]) == (False, 1, "exec_command")
    patched = result_of(steps, "*** Begin Patch")
    assert patched.meta["success"] is True
    assert sorted(shown(patched.values["content.changes"])) == [
        "/home/dev/project/receipts/totals.py",
        "/home/dev/project/tests/test_lines.py",
    ]
    refused = result_of(steps, "push --force")
    assert {"success": False, "decision": "deny", "decided_by": "hook"}.items() <= refused.meta.items()
    assert shown(refused.values["content.error"]).endswith("Open a pull request.")


def test_a_sub_agent_hangs_on_the_step_that_started_it(read_events: ReadEvents) -> None:
    parent, child = read_events(codex, MAIN), read_events(codex, SUB_AGENT)
    [start] = steps_of(parent, "subagent_start")
    [end] = steps_of(parent, "subagent_end")
    assert (start.meta["status"], start.meta["model"], start.source_id) == ("started", "gpt-5.5", f"{CHILD}/start")
    assert (end.meta["status"], end.meta.get("model")) == ("completed", None)
    assert str(start.ts) < str(end.ts)
    opening = child[0]
    assert isinstance(opening, Opening)
    assert (opening.session, opening.kind) == (CHILD, SessionKind.CHILD)
    assert opening.parent == Ref(start.source_id, session=PARENT)
    assert start.after == (Ref(start.meta["corr"]),)
    assert end.after == (Ref(start.source_id), Ref(session=CHILD))
    tasks = [step for step in steps_of(child, "user") if step.meta["origin"] == "parent"]
    assert len(tasks) == 1
    assert not any(step.opens_request for step in steps_of(child))


@pytest.mark.parametrize(
    ("kind", "type_"),
    [({}, "start"), ({"kind": "started"}, "start"), ({"kind": "completed"}, "end"), ({"kind": "failed"}, "end")],
)
def test_only_what_says_started_or_nothing_starts_a_sub_agent(kind: dict[str, Json], type_: str) -> None:
    events = read(header(), event("collab_agent_spawn_end", call_id="c1", new_thread_id="t2", **kind))
    [step] = [step for step in steps_of(events) if step.type.startswith("subagent_")]
    assert (step.type, step.meta["child"]) == (f"subagent_{type_}", "t2")
    assert step.meta["status"] == kind.get("kind", "started")


def test_calls_of_a_script_are_inside_it_and_the_model_is_not_shown_them(read_events: ReadEvents) -> None:
    steps = steps_of(read_events(codex, CODE_MODE))
    outer = next(step for step in steps if step.meta.get("tool") == "exec")
    inner = next(step for step in steps if step.meta.get("tool") == "exec_command" and step.type == "tool_call")
    result = next(step for step in steps if step.source_id == f"{outer.source_id}/result")
    assert inner.source_id is not None
    assert inner.source_id.startswith("exec-")
    assert inner.within == Ref(outer.source_id)
    assert inner.after == (Ref(outer.source_id),)
    assert result.after == (Ref(outer.source_id),)
    assert result.meta["success"] is True
    patch = next(step for step in steps if step.meta.get("tool") == "apply_patch" and step.type == "tool_result")
    assert list(shown(patch.values["content.changes"])) == ["/home/dev/project/docs/size.md"]


def test_a_compaction_begins_a_continuation(read_events: ReadEvents) -> None:
    events = read_events(codex, COMPACTION)
    first, second = [event for event in events if isinstance(event, Opening)]
    [compaction] = steps_of(events, "compaction")
    [end] = steps_of(events, "session_end")
    assert second.session == f"{first.session}~1"
    assert second.kind is SessionKind.CONTINUATION
    assert second.parent == Ref(compaction.source_id, session=first.session)
    assert (compaction.session, end.session) == (first.session, first.session)
    later = [step for step in steps_of(events) if step.session == second.session]
    assert events.index(later[0]) > events.index(second) > events.index(end)
    assert [step.meta.get("origin") for step in later if step.type == "user"] == ["injected", "summary", "summary"]
    assert not any(step.opens_request for step in later)
    written = [step for step in steps_of(events, "assistant") if step.meta.get("purpose") == "compaction"]
    assert [step.session for step in written] == [first.session]


def test_an_announced_compaction_is_one() -> None:
    events = read(header(), message("user", "Go."), event("context_compacted"), message("user", "Go on."))
    assert [event.session for event in events if isinstance(event, Opening)] == ["t1", "t1~1"]
    assert [step.session for step in steps_of(events, "user")] == ["t1", "t1~1"]


def test_the_results_of_parallel_calls_are_all_on_the_way_to_the_next_model_call() -> None:
    events = read(
        header(),
        message("user", "Look."),
        item("function_call", id="fc_1", call_id="a", name="exec_command", arguments="{}"),
        item("function_call", id="fc_2", call_id="b", name="exec_command", arguments="not json"),
        item("function_call_output", call_id="a", output="1"),
        item("function_call_output", call_id="b", output="2"),
        token_count(10, 8),
        message("assistant", "Seen."),
    )
    first, second = steps_of(events, "tool_result")
    assert first.after == (Ref("b"), Ref("a"))
    assert second.after == (Ref("a/result"), Ref("b"))
    assert [step.values["content.args"] for step in steps_of(events, "tool_call")] == [{}, "not json"]
    assert [step.meta.get("tokens", {}).get("input") for step in steps_of(events, "model_call")] == [7, None]


def test_usage_that_comes_late_revises_the_model_call() -> None:
    events = read(header(), message("assistant", "Hm."), message("user", "Go on."), token_count(10, 8))
    first, second = steps_of(events, "model_call")
    assert first.source_id == second.source_id
    assert "tokens" not in first.meta
    assert second.meta["tokens"]["input"] == 7


def test_usage_of_a_call_that_left_nothing_is_kept() -> None:
    events = read(header(), token_count(10, 8), token_count(10, 8), event("token_count", info=None))
    assert len(steps_of(events, "model_call")) == 1
    assert losses_of(events) == {"duplicate_event": 1, "rate_limits": 1}


def test_pictures_become_blobs() -> None:
    picture = {"type": "input_image", "image_url": "data:image/png;base64,iVBORw=="}
    events = read(
        header(),
        message("user", "What is this?", picture),
        item("function_call", call_id="a", name="view_image", arguments='{"path": "a.png"}'),
        item("function_call_output", call_id="a", output=[picture, {"type": "input_text", "text": "a.png"}]),
    )
    [prompt], [result] = steps_of(events, "user"), steps_of(events, "tool_result")
    assert prompt.raw == result.raw == {"content.part_0": b"\x89PNG"}
    assert prompt.values["content.text"] == "What is this?"
    assert result.values["content.output"] == [
        {"type": "image", "mime": "image/png", "part": "content.part_0"},
        {"type": "input_text", "text": "a.png"},
    ]


def test_ciphertext_is_a_loss_and_its_summary_is_not() -> None:
    events = read(
        header(),
        item("reasoning", id="rs_1", summary=[], encrypted_content="gAAA"),
        item("reasoning", id="rs_2", summary=[{"type": "summary_text", "text": "Think."}], encrypted_content="gAAA"),
    )
    assert losses_of(events) == {"encrypted_content": 2}
    assert [step.values for step in steps_of(events, "assistant")] == [{"content.thinking": "Think."}]
    assert [step.source_id for step in steps_of(events, "model_call")] == ["rs_1/usage"]


def test_no_environment_variable_is_recorded() -> None:
    action = {"type": "exec", "command": ["ls"], "env": {"TOKEN": "s3cret"}}
    events = read(header(), item("local_shell_call", call_id="a", status="completed", action=action))
    assert steps_of(events, "tool_call")[0].values == {"content.args": {"type": "exec", "command": ["ls"]}}
    assert losses_of(events) == {"environment": 1}
    assert "s3cret" not in str(events)


@pytest.mark.parametrize(
    ("output", "meta"),
    [
        ("Exit code: 3\nWall time: 1.5 seconds\nOutput:\nno", {"success": False, "exit_code": 3, "duration_ms": 1500}),
        ('{"output":"x","metadata":{"exit_code":0,"duration_seconds":0.2}}', {"success": True, "duration_ms": 200}),
        ({"content": "done", "success": True}, {"success": True}),
        ("exec command rejected by user", {"success": False, "decision": "deny", "decided_by": "user"}),
        ([{"type": "input_text", "text": "Script failed\nWall time 0.1 seconds\nOutput:\n"}], {"success": False}),
    ],
)
def test_every_spelling_of_an_outcome_is_understood(output: Json, meta: dict[str, Json]) -> None:
    events = read(
        header(),
        item("function_call", call_id="a", name="shell", arguments="{}"),
        item("function_call_output", call_id="a", output=output),
    )
    assert meta.items() <= steps_of(events, "tool_result")[0].meta.items()


def test_words_of_an_output_are_not_taken_for_an_outcome() -> None:
    output = "Chunk ID: 1\nWall time: 0.1 seconds\nOutput:\nProcess exited with code 9\npatch rejected by user\n"
    events = read(
        header(),
        item("function_call", call_id="a", name="exec_command", arguments="{}"),
        item("function_call_output", call_id="a", output=output),
    )
    assert steps_of(events, "tool_result")[0].meta == {"tool": "exec_command", "corr": "a", "duration_ms": 100}


def test_the_end_of_a_command_that_went_on_is_recorded_when_it_comes() -> None:
    ended = {"type": "CommandExecution", "id": "a", "status": "failed", "exit_code": 2}
    events = read(
        header(),
        item("function_call", call_id="a", name="exec_command", arguments="{}"),
        item("function_call_output", call_id="a", output="Process running with session ID 7"),
        event("item_completed", item=ended),
    )
    [process] = steps_of(events, "process")
    assert process.meta == {"corr": "a", "success": False, "exit_code": 2}
    assert process.after == (Ref("a/result"),)


def test_bare_lines_of_the_first_versions_are_read() -> None:
    events = read(
        {"id": "old", "timestamp": "2025-05-07T17:24:21Z", "instructions": "Be brief.", "git": {"branch": "main"}},
        {"record_type": "state"},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hi."}]},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Hello."}]},
        old=True,
    )
    assert isinstance(events[0], Opening)
    assert events[0].session == "old"
    assert types_of(events) == {"system": 1, "user": 1, "model_call": 1, "assistant": 1}
    assert losses_of(events) == {"state": 1}


def test_history_copied_into_a_fork_is_not_paid_for_twice() -> None:
    old, new = "01a20044-bd0e-7362-aa11-1533c4abeee2", "01a20045-0000-7000-8000-000000000000"
    turn = "01a20044-bd4d-7543-aafb-702d4eb87e1e"
    events = read(
        header(new, forked_from_id=old),
        header(old),
        event("task_started", turn_id=turn),
        message("assistant", "Before."),
        token_count(10, 8),
        event("task_started", turn_id="01a20046-0000-7000-8000-000000000000"),
        message("assistant", "After."),
        token_count(30, 9),
    )
    opening = events[0]
    assert isinstance(opening, Opening)
    assert (opening.kind, opening.parent) == (SessionKind.FORK, Ref(session=old))
    assert [step.meta.get("tokens", {}).get("input") for step in steps_of(events, "model_call")] == [None, 8]
    assert [step.meta.get("copied") for step in steps_of(events, "assistant")] == [True, None]


def test_after_a_rollback_the_session_goes_on_from_before_the_prompt() -> None:
    events = read(
        header(),
        message("user", "One."),
        message("assistant", "1", id="m1"),
        message("user", "Two."),
        message("assistant", "2"),
        event("thread_rolled_back", num_turns=1),
        message("user", "Three."),
    )
    assert steps_of(events, "discard")[0].meta == {"turns": 1}
    assert steps_of(events, "user")[-1].after == (Ref("m1"),)


def test_settings_are_recorded_when_they_change() -> None:
    def context(**payload: Json) -> dict[str, Json]:
        return {"type": "turn_context", "payload": payload}

    events = read(
        header(),
        context(turn_id="1", model="a", cwd="/home/dev"),
        context(turn_id="2", model="a", cwd="/home/dev"),
        context(turn_id="3", model="b", cwd="/home/dev"),
    )
    assert [step.meta for step in steps_of(events, "config_change")] == [{"model": "a"}, {"model": "b"}]
    assert losses_of(events) == {"turn_context": 1}


def test_what_a_version_adds_is_counted_by_its_name() -> None:
    events = read(header(), {"type": "dream", "payload": {}}, event("nap"), item("song"), {"payload": 1})
    assert losses_of(events) == {"unknown_dream": 1, "unknown_nap": 1, "unknown_song": 1, "unknown_untyped": 1}


def test_rollouts_are_recognised_by_name_or_by_first_line() -> None:
    assert codex.recognises(f"/x/{MAIN.name}", MAIN.read_bytes()[:64])
    assert codex.recognises("/x/thread.jsonl", MAIN.read_bytes()[:65536])
    assert codex.recognises("old.jsonl", b'{"id":"1","timestamp":"2025-05-07T17:24:21Z","instructions":null}\n')
    assert not codex.recognises("/x/chat.jsonl", b'{"type":"user","message":{}}\n')
    assert not codex.recognises(f"/x/{MAIN.name}", b"SQLite format 3\x00")


def test_a_file_without_header_takes_its_session_from_its_name() -> None:
    events = events_of_lines(codex, lines_of(MAIN)[9:12], str(MAIN))
    assert isinstance(events[0], Opening)
    assert events[0].session == PARENT


@pytest.mark.parametrize("path", ALL, ids=lambda path: path.name[-12:-6])
def test_a_file_that_grows_keeps_its_names(path: Path) -> None:
    lines = lines_of(path)
    whole = names_of(events_of_lines(codex, lines, str(path)))
    for end in range(1, len(lines)):
        assert names_of(events_of_lines(codex, lines[:end], str(path))) <= whole


@given(mutated([line for path in ALL for line in lines_of(path)]))
def test_no_line_is_too_strange_to_read(lines: list[bytes]) -> None:
    assert pieces_of(codex, lines, "rollout.jsonl") == pieces_of(codex, lines, "rollout.jsonl")


@given(mutated([line for path in ALL for line in lines_of(path)]))
@example([b"{}"])
def test_no_line_is_dropped_in_silence(lines: list[bytes]) -> None:
    for line in lines:
        events = events_of_lines(codex, [line])
        assert any(isinstance(event, Step | Loss) for event in events) or b"session_meta" in line or not line.strip()


@pytest.mark.skipif(not PUBLIC.is_dir(), reason="the public sessions are not part of the project")
def test_a_long_public_thread_is_read_to_its_last_token(read_events: ReadEvents) -> None:
    events = read_events(codex, PUBLIC / "large" / "agentv-codex-2.jsonl")
    counts = [step.meta["tokens"] for step in steps_of(events, "model_call") if "tokens" in step.meta]
    assert sum(count["input"] + count["cache_read"] for count in counts) == 11_070_182
    assert sum(count["output"] for count in counts) == 71_829
    assert sum(step.opens_request for step in steps_of(events)) == 10
    assert len(steps_of(events, "tool_call")) == len(steps_of(events, "tool_result")) == 177
    assert [event.session[36:] for event in events if isinstance(event, Opening)] == ["", "~1", "~2"]
    assert not any(kind.startswith("unknown") for kind in losses_of(events))
