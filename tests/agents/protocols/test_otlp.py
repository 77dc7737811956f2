"""Telemetry as steps: what five agents really exported, other programs by the conventions, and what is no telemetry."""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

from hypothesis import given
from hypothesis import strategies as st

from tallystick.agents.protocols.otlp import Memory, Signal, events_of
from tallystick.model.step import Event, Input, Loss, Opening, Ref, SessionKind, Source, Step
from tests.support.cases import each, each_case
from tests.support.shown import shown

RECORDINGS = Path(__file__).parents[2] / "recordings" / "otlp"
AGENTS = {path.name.rsplit("-", 1)[0]: path for path in sorted(RECORDINGS.glob("*.jsonl"))}
COMMAND = "echo hi > out.txt; cat out.txt"


def recorded(agent: str) -> list[tuple[Signal, dict[str, Any]]]:
    lines = [json.loads(line) for line in AGENTS[agent].read_text("utf-8").splitlines()]
    return [(cast("Signal", line["path"].rsplit("/", 1)[1]), line["body"]) for line in lines]


def told(agent: str) -> list[Event]:
    """All events of a recording; they are of this agent and no other."""
    memory = Memory()
    pairs = [pair for signal, body in recorded(agent) for pair in events_of(signal, body, memory)]
    assert {name for name, _ in pairs} == {agent}
    return [event for _, event in pairs]


def steps(events: list[Event]) -> list[Step]:
    return [event for event in events if isinstance(event, Step)]


@each("agent", ["claude-code", "codex", "copilot", "gemini", "qwen"])
def test_a_real_session_is_told_with_prompt_calls_results_answers_and_usage(agent: str) -> None:
    events = told(agent)
    found = steps(events)
    assert {step.source for step in found} == {Source.OTEL}
    assert len({step.session for step in found}) == 1
    assert {event.agent for event in events if isinstance(event, Opening)} == {agent}
    kinds = Counter(step.type for step in found if not (agent == "copilot" and step.type.startswith("tool")))
    assert kinds["user"] >= 1
    assert kinds["model_call"] == 3
    (text,) = {step.values["content.text"] for step in found if step.type == "user"}
    assert text == "Create out.txt and note.txt"
    calls = {step.source_id: step for step in found if step.type == "tool_call"}
    results = {step.source_id: step for step in found if step.type == "tool_result" and "success" in step.meta}
    assert len(calls) == 2
    assert set(results) == {f"{call}/result" for call in calls}
    assert all(step.meta["success"] is True and step.meta["duration_ms"] >= 0 for step in results.values())
    commands = {
        shown(call.values["content.args"]).get("command", shown(call.values["content.args"]).get("cmd"))
        for call in calls.values()
    }
    assert COMMAND in commands


@each("agent", ["claude-code", "codex", "copilot", "gemini", "qwen"])
def test_tokens_are_counted_once_each_and_cached_ones_are_no_input(agent: str) -> None:
    usage = [step for step in steps(told(agent)) if step.type == "model_call"]
    for step in usage:
        tokens = step.meta["tokens"]
        assert (tokens["input"], tokens["output"], tokens["cache_read"]) == (100, 20, 10)
        assert step.input is Input.HIDDEN
        assert step.source_id is not None
        assert step.source_id.endswith("/usage") or agent == "codex"
    assert len({step.source_id for step in usage}) == 3


@each("agent", ["claude-code", "codex", "copilot", "gemini", "qwen"])
def test_what_is_not_recorded_is_counted_by_kind(agent: str) -> None:
    losses = Counter(event.kind for event in told(agent) if isinstance(event, Loss))
    assert losses["metric"] > 0
    assert not any(event.fault for event in told(agent) if isinstance(event, Loss))


@each("agent", ["claude-code", "codex", "copilot", "gemini", "qwen"])
def test_the_same_telemetry_again_has_the_same_ids(agent: str) -> None:
    assert [step.source_id for step in steps(told(agent))] == [step.source_id for step in steps(told(agent))]


def test_claude_gives_a_prompt_the_id_of_the_transcript_and_a_call_that_of_the_hooks() -> None:
    found = steps(told("claude-code"))
    assert next(step.source_id for step in found if step.type == "user") == "4b084935-5ccc-4754-8e9a-59059c309a07"
    call = next(step for step in found if step.type == "tool_call")
    assert call.source_id == call.meta["corr"] == "toolu_e3f0905e67dd41e2a92abcd7"
    permission = next(step for step in found if step.type == "permission")
    assert (permission.meta["decision"], permission.meta["decided_by"]) == ("allow", "config")
    assert next(step.meta["cost_microusd"] for step in found if step.type == "model_call") == 827


def test_gemini_s_tool_events_get_the_id_that_stands_in_the_answer() -> None:
    found = steps(told("gemini"))
    results = [step.source_id for step in found if step.type == "tool_result"]
    assert results[0] == "run_shell_command__fc-b80c9cdfc28947a889b72b1a/result"


def log(name: str, at: dict[str, Any], *, service: str = "claude-code", **more: Any) -> dict[str, Any]:
    pairs = [{"key": key, "value": typed(value)} for key, value in {"event.name": name, **at}.items()]
    resource = {"attributes": [{"key": "service.name", "value": {"stringValue": service}}]}
    return {"resourceLogs": [{"resource": resource, "scopeLogs": [{"logRecords": [{"attributes": pairs, **more}]}]}]}


def typed(value: Any) -> dict[str, Any]:
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value}
    if isinstance(value, list):
        return {"arrayValue": {"values": [typed(item) for item in value]}}
    return {"stringValue": value}


def span(operation: str, at: dict[str, Any], *, number: int = 1, parent: int = 0, **more: Any) -> dict[str, Any]:
    pairs = {"gen_ai.operation.name": operation, **at}
    return {
        "traceId": "ab" * 16,
        "spanId": f"{number:016x}",
        "parentSpanId": f"{parent:016x}" if parent else "",
        "name": operation,
        "startTimeUnixNano": str(1_700_000_000_000_000_000 + number * 1_000_000_000),
        "endTimeUnixNano": str(1_700_000_000_500_000_000 + number * 1_000_000_000),
        "attributes": [{"key": key, "value": typed(value)} for key, value in pairs.items()],
        **more,
    }


def spans(*found: dict[str, Any], service: str = "my-agent") -> dict[str, Any]:
    resource = {"attributes": [{"key": "service.name", "value": {"stringValue": service}}]}
    return {"resourceSpans": [{"resource": resource, "scopeSpans": [{"spans": list(found)}]}]}


def messages(*pairs: tuple[str, str]) -> str:
    return json.dumps([{"role": role, "parts": [{"type": "text", "content": text}]} for role, text in pairs])


def from_spans(*found: dict[str, Any], **named: Any) -> list[tuple[str, Event]]:
    return list(events_of("traces", spans(*found, **named)))


def test_spans_by_the_conventions_become_steps_of_the_service_that_sent_them() -> None:
    chat = span(
        "chat",
        {
            "gen_ai.conversation.id": "talk-1",
            "gen_ai.response.id": "resp-1",
            "gen_ai.response.model": "some-model",
            "gen_ai.response.finish_reasons": ["stop"],
            "gen_ai.usage.input_tokens": 50,
            "gen_ai.usage.output_tokens": 7,
            "gen_ai.usage.cache_read.input_tokens": 20,
            "gen_ai.input.messages": messages(("user", "old"), ("assistant", "said"), ("user", "new")),
            "gen_ai.output.messages": json.dumps(
                [
                    {
                        "role": "assistant",
                        "parts": [
                            {"type": "reasoning", "content": "hm"},
                            {"type": "text", "content": "yes"},
                            {"type": "tool_call", "id": "c1", "name": "look", "arguments": {"at": 1}},
                        ],
                    }
                ]
            ),
        },
    )
    pairs = from_spans(chat)
    assert {agent for agent, _ in pairs} == {"my-agent"}
    opening, *rest = (event for _, event in pairs)
    assert isinstance(opening, Opening)
    assert opening.session == "talk-1"
    found = [(step.type, step.source_id, dict(step.values)) for step in steps(rest)]
    assert found == [
        ("user", f"hook/otel/{'ab' * 16}/{1:016x}/prompt", {"content.text": "new"}),
        ("model_call", "resp-1/usage", {}),
        ("assistant", "resp-1/0", {"content.thinking": "hm"}),
        ("assistant", "resp-1/1", {"content.text": "yes"}),
        ("tool_call", "c1", {"content.args": {"at": 1}}),
    ]
    assert steps(rest)[1].meta["tokens"] == {"input": 30, "output": 7, "cache_read": 20}


@each(
    "usage, counts",
    [
        ({"input_tokens": 50, "cache_creation.input_tokens": 8}, {"input": 42, "cache_write": 8}),
        (
            {"input_tokens": 50, "cache_read_input_tokens": 20, "cache_creation_input_tokens": 8},
            {"input": 22, "cache_read": 20, "cache_write": 8},
        ),
        ({"input_tokens": 5, "cache_read.input_tokens": 20}, {"input": 0, "cache_read": 20}),
        ({"output_tokens": 5, "reasoning.output_tokens": 4}, {"output": 5, "reasoning": 4}),
    ],
)
def test_what_a_cache_gave_or_took_is_taken_off_the_input_of_a_span(
    usage: dict[str, Any], counts: dict[str, int]
) -> None:
    at = {f"gen_ai.usage.{name}": count for name, count in usage.items()}
    (call,) = (
        step for step in steps([event for _, event in from_spans(span("chat", at))]) if step.type == "model_call"
    )
    assert call.meta["tokens"] == counts


def test_a_tool_span_is_a_call_and_its_end_and_a_failure_says_so() -> None:
    at = {
        "gen_ai.tool.name": "run",
        "gen_ai.tool.call.id": "c9",
        "gen_ai.tool.call.arguments": '{"cmd": "false"}',
        "error.type": "ExitError",
    }
    pairs = from_spans(span("execute_tool", at, status={"code": 2, "message": "it failed"}))
    call, result = steps([event for _, event in pairs])
    assert (call.source_id, call.values["content.args"]) == ("c9", {"cmd": "false"})
    assert (result.source_id, result.meta["success"], result.meta["error"]) == ("c9/result", False, "ExitError")
    assert result.values["content.error"] == "it failed"
    assert result.meta["duration_ms"] == 500


def test_a_span_without_a_conversation_belongs_to_its_trace_s_and_an_agent_below_another_is_a_sub_agent() -> None:
    root = span("invoke_agent", {"gen_ai.conversation.id": "talk", "gen_ai.input.messages": messages(("user", "go"))})
    tool = span("execute_tool", {"gen_ai.tool.name": "t"}, number=2, parent=1)
    child = span("invoke_agent", {"gen_ai.agent.name": "helper"}, number=3, parent=2)
    found = steps([event for _, event in from_spans(tool, child, root)])
    assert {step.session for step in found} == {"talk"}
    assert [step.type for step in found] == ["user", "tool_call", "tool_result", "subagent_start", "subagent_end"]
    start, end = found[-2:]
    assert str(start.source_id).removesuffix("/start") == str(end.source_id).removesuffix("/end")
    assert ("success" in start.meta, end.meta["success"], end.meta["duration_ms"]) == (False, True, 500)


def test_a_prompt_told_by_the_agent_s_span_and_by_its_calls_is_one() -> None:
    root = span("invoke_agent", {"gen_ai.input.messages": messages(("user", "go"))})
    chats = [span("chat", {"gen_ai.input.messages": messages(("user", "go"))}, number=n, parent=1) for n in (2, 3)]
    prompts = [step for step in steps([event for _, event in from_spans(root, *chats)]) if step.type == "user"]
    assert len(prompts) == 3
    assert len({(step.source_id, step.values["content.text"]) for step in prompts}) == 1


def test_older_spellings_of_messages_and_tokens_are_read() -> None:
    at = {
        "gen_ai.prompt.0.role": "user",
        "gen_ai.prompt.0.content": "hello",
        "gen_ai.completion.0.role": "assistant",
        "gen_ai.completion.0.content": "hi",
        "gen_ai.usage.prompt_tokens": 3,
        "gen_ai.usage.completion_tokens": 2,
    }
    found = steps([event for _, event in from_spans(span("chat", at))])
    assert [step.values.get("content.text") for step in found] == ["hello", None, "hi"]
    assert found[1].meta["tokens"] == {"input": 3, "output": 2}


def test_words_that_an_agent_does_not_export_are_not_recorded_as_words() -> None:
    at = {"session.id": "s", "prompt": "<REDACTED>", "message.uuid": "u1"}
    _, (_, step) = events_of("logs", log("user_prompt", at))
    assert isinstance(step, Step)
    assert (step.source_id, dict(step.values), step.meta["redacted"]) == ("u1", {}, True)


def test_arguments_that_claude_cut_are_not_taken_for_the_whole() -> None:
    at = {"session.id": "s", "tool_name": "Write", "tool_use_id": "t1", "tool_input": '{"a":1}', "success": "false"}
    for size, args in ((7, {"a": 1}), (9000, None)):
        _, (_, call), (_, result) = events_of("logs", log("tool_result", {**at, "tool_input_size_bytes": str(size)}))
        assert isinstance(call, Step)
        assert isinstance(result, Step)
        assert call.values.get("content.args") == args
        assert result.meta["success"] is False


def test_two_events_of_one_kind_at_one_time_get_two_ids() -> None:
    payload = log(
        "codex.user_prompt",
        {"conversation.id": "c", "prompt": "a", "event.timestamp": "2026-01-01T00:00:00Z"},
        service="codex_cli_rs",
    )
    records = payload["resourceLogs"][0]["scopeLogs"][0]["logRecords"]
    records.append(json.loads(json.dumps(records[0]).replace('"a"', '"b"')))
    first, second = (step.source_id for step in steps([event for _, event in events_of("logs", payload)]))
    assert second == f"{first}/2"


@each_case("service, agent")
def test_the_agent_is_named_after_the_service(service: str, agent: str) -> None:
    assert {name for name, _ in from_spans(span("chat", {}), service=service)} == {agent}


def test_a_failed_request_is_a_warning() -> None:
    at = {"session.id": "s", "error": "overloaded", "status_code": "529", "attempt": 2}
    _, (_, step) = events_of("logs", log("api_error", at))
    assert isinstance(step, Step)
    assert (step.type, step.meta["status"], step.values["content.error"]) == ("warning", 529, "overloaded")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


def mutated(value: Any, place: Iterator[int], put: Any) -> Any:
    """`value` with `put` in the place of the part at which the count reaches 0."""
    if next(place) == 0:
        return put
    if isinstance(value, dict):
        return {key: mutated(item, place, put) for key, item in value.items()}
    if isinstance(value, list):
        return [mutated(item, place, put) for item in value]
    return value


@given(st.sampled_from(sorted(AGENTS)), st.integers(0, 900), JSON, st.data())
def test_telemetry_of_any_shape_raises_nothing(agent: str, at: int, put: Any, data: st.DataObject) -> None:
    signal, body = data.draw(st.sampled_from(recorded(agent)))
    for _, event in events_of(signal, mutated(body, iter(range(at, -10_000_000, -1)), put)):
        assert isinstance(event, Step | Opening | Loss)


def opening(payload: dict[str, Any]) -> Opening:
    return next(event for _, event in events_of("logs", payload) if isinstance(event, Opening))


def test_a_sub_agent_has_a_session_of_its_own_that_hangs_on_its_parent() -> None:
    at = {"session.id": "s", "agent_id": "a1", "tool_use_id": "t1", "tool_name": "Bash", "success": "true"}
    claude = opening(log("tool_result", at))
    assert (claude.session, claude.kind, claude.parent) == ("s/a1", SessionKind.CHILD, Ref(session="s"))
    at = {"session.id": "s", "prompt_id": "s#helper-call_9#0", "call_id": "c", "function_name": "x"}
    qwen = opening(log("qwen-code.tool_call", at, service="qwen-code"))
    assert (qwen.session, qwen.parent) == ("s/helper-call_9", Ref("call_9", "s"))
    at["prompt_id"] = "s########0"
    assert opening(log("qwen-code.tool_call", at, service="qwen-code")).kind is SessionKind.ROOT


def test_codex_names_the_session_of_a_sub_agent_in_what_the_call_gave() -> None:
    memory = Memory()
    at = {"conversation.id": "s", "tool_name": "spawn_agent", "call_id": "c1", "output": '{"agent_id": "s2"}'}
    list(events_of("logs", log("codex.tool_result", at, service="codex_exec"), memory))
    begun = log("codex.conversation_starts", {"conversation.id": "s2"}, service="codex_exec")
    ((_, found),) = events_of("logs", begun, memory)
    assert isinstance(found, Opening)
    assert (found.session, found.kind, found.parent) == ("s2", SessionKind.CHILD, Ref("c1", "s"))


def test_a_command_of_codex_that_failed_is_no_success_though_it_ran() -> None:
    output = "Chunk ID: 1\nWall time: 0.1 seconds\nProcess exited with code 1\nOutput:\n"
    at = {"conversation.id": "s", "call_id": "c", "tool_name": "exec_command", "success": "true", "output": output}
    *_, (_, result) = events_of("logs", log("codex.tool_result", {**at, "duration_ms": "50"}, service="codex_exec"))
    assert isinstance(result, Step)
    assert {name: result.meta[name] for name in ("success", "exit_code", "duration_ms")} == {
        "success": False,
        "exit_code": 1,
        "duration_ms": 50,
    }
