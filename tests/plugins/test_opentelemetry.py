from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextvars import copy_context
from pathlib import Path
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.context import attach, get_current
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.trace import Status, StatusCode

from tallystick import Recorder, verify
from tallystick.ask.show import given_to
from tallystick.journal.read import read_session
from tallystick.model.recorded import Recorded
from tallystick.plugins.opentelemetry import SpanRecorder

Attributes = dict[str, Any]


@pytest.fixture
def recorder(tmp_path: Path) -> Iterator[Recorder]:
    with Recorder(tmp_path / "store") as recorder:
        yield recorder
    assert verify(home=tmp_path / "store").exit_code == 0


@pytest.fixture
def spans(recorder: Recorder) -> SpanRecorder:
    return SpanRecorder(recorder, agent="demo")


@pytest.fixture
def tracer(spans: SpanRecorder) -> Iterator[trace.Tracer]:
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(spans)  # type: ignore[arg-type]  # it has all that the SDK calls
    yield provider.get_tracer("test")
    provider.shutdown()


def agent(name: str, **more: str) -> Attributes:
    return {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": name, **more}


def tool(name: str, **more: str) -> Attributes:
    return {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": name, **more}


def text(role: str, content: str) -> Attributes:
    return {"role": role, "parts": [{"type": "text", "content": content}]}


ASKED = [text("user", "What is here?")]
CALLED = {
    "role": "assistant",
    "parts": [{"type": "tool_call", "id": "call_1", "name": "ls", "arguments": {"path": "."}}],
}
RESULT = {"role": "tool", "parts": [{"type": "tool_call_response", "id": "call_1", "response": "a b"}]}


def chat(name: str, given: list[Any], said: list[Any]) -> Attributes:
    return {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "gpt-test",
        "gen_ai.request.temperature": 0.5,
        "gen_ai.response.model": "gpt-test-1",
        "gen_ai.response.id": name,
        "gen_ai.response.finish_reasons": ["stop"],
        "gen_ai.usage.input_tokens": 100,
        "gen_ai.usage.output_tokens": 20,
        "gen_ai.usage.cache_read.input_tokens": 60,
        "gen_ai.usage.cache_creation.input_tokens": 10,
        "gen_ai.usage.reasoning.output_tokens": 5,
        "gen_ai.system_instructions": json.dumps([{"type": "text", "content": "Be brief."}]),
        "gen_ai.input.messages": json.dumps(given),
        "gen_ai.output.messages": json.dumps(said),
    }


def sessions(recorder: Recorder) -> dict[str, list[Recorded]]:
    """The steps of all sessions, by their source's id."""
    found = {}
    for sid, _ in recorder.home.sessions():
        steps = list(read_session(recorder.home, sid))
        if steps:
            found[str(steps[0].meta["source_session"])] = steps
    return found


def test_a_conversation_is_a_session_with_what_each_model_call_was_given(
    recorder: Recorder, tracer: trace.Tracer
) -> None:
    with tracer.start_as_current_span("a", attributes=agent("helper", **{"gen_ai.conversation.id": "talk-1"})):
        with tracer.start_as_current_span("c", attributes=chat("r1", ASKED, [CALLED])):
            pass
        with tracer.start_as_current_span("t", attributes=tool("ls", **{"gen_ai.tool.call.id": "call_1"})) as span:
            span.set_attribute("gen_ai.tool.call.result", "a b")
        with tracer.start_as_current_span("c") as span:
            span.set_attributes(chat("r2", [*ASKED, CALLED, RESULT], [text("assistant", "Two.")]))
    steps = sessions(recorder)["talk-1"]
    kinds = [step.type for step in steps]
    said = ["system", "user", "model_call", "tool_call"]
    assert kinds == ["session_start", *said, "tool_result", "model_call", "assistant"]
    assert all(step.meta["source"] == "otel" for step in steps)
    first, second = (step for step in steps if step.type == "model_call")
    assert first.meta["tokens"] == {"input": 30, "output": 20, "cache_read": 60, "cache_write": 10, "reasoning": 5}
    assert (first.meta["source_id"], first.meta["provider"], first.meta["stop_reason"]) == (
        "r1/usage",
        "openai",
        "stop",
    )
    assert first.values["content.settings"] == {"temperature": 0.5}
    given = [step.type for step in given_to(recorder.home, second).steps]
    assert given == ["system", "user", "tool_call", "tool_result"]
    assert (steps[5].meta["success"], steps[5].values["content.output"]) == (True, "a b")


def test_a_tool_call_is_on_record_before_the_tool_runs(recorder: Recorder, tracer: trace.Tracer) -> None:
    more = {"gen_ai.tool.call.arguments": '{"path": "x"}', "gen_ai.conversation.id": "talk"}
    with tracer.start_as_current_span("t", attributes=tool("rm", **more)) as span:
        [call] = sessions(recorder)["talk"][1:]
        assert (call.type, call.meta["tool"], call.values["content.args"]) == ("tool_call", "rm", {"path": "x"})
        span.set_status(Status(StatusCode.ERROR, "gone"))
    result = sessions(recorder)["talk"][-1]
    assert (result.meta["success"], result.parents) == (False, ())
    assert "gone" in str(result.text("content.error"))


def test_arguments_that_are_told_at_the_end_revise_the_call(recorder: Recorder, tracer: trace.Tracer) -> None:
    with tracer.start_as_current_span("t", attributes=tool("ls", **{"gen_ai.conversation.id": "talk"})) as span:
        span.set_attribute("gen_ai.tool.call.arguments", '{"path": "."}')
        span.set_status(Status(StatusCode.ERROR, "no such folder"))
    _, call, revised, result = sessions(recorder)["talk"]
    assert (revised.meta["revises"], revised.values["content.args"]) == (call.n, {"path": "."})
    assert result.text("content.error") == "_SpanError: no such folder"


def test_an_agent_within_an_agent_is_a_child_session(recorder: Recorder, tracer: trace.Tracer) -> None:
    with (
        tracer.start_as_current_span("a", attributes=agent("boss", **{"gen_ai.conversation.id": "talk"})),
        tracer.start_as_current_span("t", attributes=tool("delegate")),
        tracer.start_as_current_span("b", attributes=agent("helper", **{"gen_ai.agent.id": "h1"})),
        tracer.start_as_current_span("http"),
        tracer.start_as_current_span("c", attributes=chat("r1", ASKED, [text("assistant", "Two.")])),
    ):
        pass
    found = sessions(recorder)
    boss, helper = found["talk"], found["talk/h1"]
    start = next(step for step in boss if step.type == "subagent_start")
    assert start.meta["parent"] == boss[1].n
    assert helper[0].parents == (f"{boss[0].session}#{start.hash}",)
    assert (helper[0].meta["kind"], helper[0].meta["agent_role"]) == ("child", "helper")
    assert [step.type for step in helper][-2:] == ["assistant", "session_end"]
    end = next(step for step in boss if step.type == "subagent_end")
    assert f"{helper[0].session}#{helper[-1].hash}" in end.parents


def test_a_span_in_a_thread_without_our_context_is_within_the_call_that_it_names_as_its_parent(
    recorder: Recorder, tracer: trace.Tracer
) -> None:
    def work(context: Any) -> None:
        attach(context)
        with tracer.start_as_current_span("t", attributes=tool("inner")):
            pass

    def run(target: Any) -> None:
        thread = threading.Thread(target=target)
        thread.start()
        thread.join()

    with tracer.start_as_current_span("t", attributes=tool("outer", **{"gen_ai.conversation.id": "talk"})):
        context = get_current()
        run(lambda: work(context))
        copied = copy_context()
        run(lambda: copied.run(work, context))
    steps = sessions(recorder)["talk"]
    outer = next(step for step in steps if step.meta.get("tool") == "outer")
    assert {step.meta.get("parent") for step in steps if step.meta.get("tool") == "inner"} == {outer.n}
    assert [step.meta.get("parent") for step in steps if step.meta.get("tool") == "outer"] == [None, None]


def test_other_spans_are_passed_over_and_genai_ones_counted(
    recorder: Recorder, spans: SpanRecorder, tracer: trace.Tracer
) -> None:
    with tracer.start_as_current_span("GET /"):
        pass
    with tracer.start_as_current_span("r", attributes={"gen_ai.operation.name": "retrieval"}):
        pass
    assert sessions(recorder) == {}
    assert spans.skipped == {"retrieval": 1}
    assert spans.force_flush()


def test_a_call_that_says_nothing_of_its_input_says_so(recorder: Recorder, tracer: trace.Tracer) -> None:
    attributes = {"gen_ai.operation.name": "embeddings", "gen_ai.request.model": "e1", "gen_ai.system": "openai"}
    with tracer.start_as_current_span("e", attributes=attributes) as span:
        trace_id = span.get_span_context().trace_id
    [call] = sessions(recorder)[f"{trace_id:032x}"][1:]
    assert (call.meta["input"], call.meta["operation"], call.meta["provider"]) == (
        "not-visible",
        "embeddings",
        "openai",
    )


def test_spans_that_cannot_be_recorded_do_not_break_the_program(
    recorder: Recorder, tracer: trace.Tracer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("os.write", _full)
        for attributes in (tool("ls"), agent("x"), chat("r1", ASKED, []), {"gen_ai.operation.name": "execute_tool"}):
            with tracer.start_as_current_span("s", attributes=attributes):
                pass
    with tracer.start_as_current_span("t", attributes=tool("ls", **{"gen_ai.conversation.id": "talk"})):
        pass
    assert len(sessions(recorder)["talk"]) == 3


def _full(*_: object) -> int:
    raise OSError(28, "No space left on device")
