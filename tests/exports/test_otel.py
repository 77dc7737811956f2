"""Spans of sessions, read as a receiver reads them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from tallystick.agents.claude_code import transcript as claude_code
from tallystick.agents.gptme import transcript as gptme
from tallystick.agents.headless import transcript as headless
from tallystick.exports import _genai_names as names
from tallystick.exports import otel
from tallystick.journal.home import Home
from tallystick.journal.read import read_session
from tallystick.model.recorded import Recorded
from tallystick.model.step import Json, Opening, Step
from tests.agents.conftest import events_of
from tests.agents.gptme.test_transcript import RECEIPTS
from tests.agents.headless.test_transcript import GOLDEN
from tests.exports.conftest import Record, recorded_steps
from tests.exports.spans import attributes, decoded, spans_of

CLAUDE = next((Path(__file__).parents[1] / "recordings" / "claude-code").rglob("a42b3437*.jsonl"))


def written(steps: Sequence[Recorded], *, with_content: bool = False) -> list[Span]:
    return spans_of(otel.write(steps, session="s1", with_content=with_content))


def said(span: Span) -> dict[str, Json]:
    return attributes(span.attributes)


def operation(span: Span) -> str | None:
    found = said(span).get(names.OPERATION)
    return found if isinstance(found, str) else None


@pytest.fixture
def claude(record: Record) -> list[Recorded]:
    events = events_of(claude_code, CLAUDE)
    return record([event for event in events if getattr(event, "session", CLAUDE.stem) == CLAUDE.stem])


def steps(folder: Path, *made: Step) -> list[Recorded]:
    return recorded_steps([Opening(session="s", agent="demo"), *made], folder / "store")


def call(name: str, **more: Json) -> Step:
    return Step(session="s", type="tool_call", source_id=name, meta={"tool": "Bash", "corr": name}, **more)


def result(name: str, meta: dict[str, Json] | None = None, **more: Json) -> Step:
    return Step(session="s", type="tool_result", source_id=f"{name}/r", meta={"corr": name, **(meta or {})}, **more)


@pytest.mark.parametrize("with_content", [False, True])
def test_on_every_sample_spans_are_a_tree_under_one_root(samples: Home, *, with_content: bool) -> None:
    for sid, _ in samples.sessions():
        spans = written(list(read_session(samples, sid, load_blobs=True)), with_content=with_content)
        ids = [span.span_id for span in spans]
        assert len(set(ids)) == len(ids)
        assert [span.name for span in spans if not span.parent_span_id] == [spans[-1].name]
        assert {span.parent_span_id for span in spans[:-1]} <= set(ids)
        assert len({span.trace_id for span in spans}) == 1
        root = spans[-1]
        assert all(
            root.start_time_unix_nano <= span.start_time_unix_nano <= span.end_time_unix_nano <= root.end_time_unix_nano
            for span in spans
        )


def test_each_call_with_its_result_is_one_span_and_each_model_call_another(claude: list[Recorded]) -> None:
    spans = written(claude)
    tools = [span for span in spans if operation(span) == names.EXECUTE_TOOL]
    assert len(tools) == sum(step.type == "tool_call" for step in claude)
    assert sum(operation(span) == names.CHAT for span in spans) == sum(step.type == "model_call" for step in claude)
    assert {span.name for span in tools} >= {"execute_tool Bash", "execute_tool Read"}
    denied = [said(span) for span in tools if said(span).get(names.ERROR_TYPE) == "denied"]
    assert [(one["tallystick.decision"], one["tallystick.decided_by"]) for one in denied] == [("deny", "hook")]


def test_requests_are_invocations_of_the_agent_below_the_root(claude: list[Recorded]) -> None:
    spans = written(claude)
    root = spans[-1]
    prompts = [step for step in claude if step.type == "user" and "origin" not in step.meta]
    requests = [span for span in spans if operation(span) == names.INVOKE_AGENT]
    assert [span.span_id.hex() for span in requests] == [step.hash[:16] for step in prompts]
    assert {span.parent_span_id for span in requests} == {root.span_id}
    assert operation(root) is None
    assert said(root)["tallystick.last_hash"] == claude[-1].hash
    assert said(root)["tallystick.entries"] == len(claude)
    assert {said(span)[names.CONVERSATION] for span in spans} == {"s1"}


def test_input_tokens_count_what_came_from_a_cache(claude: list[Recorded]) -> None:
    step = next(step for step in claude if step.type == "model_call" and step.meta["tokens"].get("cache_read"))
    (span,) = [span for span in written(claude) if span.span_id.hex() == step.hash[:16]]
    tokens, found = step.meta["tokens"], said(span)
    assert found[names.INPUT_TOKENS] == tokens["input"] + tokens["cache_read"] + tokens["cache_write"]
    assert found[names.CACHE_READ_TOKENS] == tokens["cache_read"]
    assert (found[names.PROVIDER], span.kind) == ("anthropic", Span.SPAN_KIND_CLIENT)


def test_content_is_there_only_on_demand(claude: list[Recorded]) -> None:
    bare = b"".join(otel.write(claude, session="s1", with_content=False))
    full = b"".join(otel.write(claude, session="s1", with_content=True))
    for word in (b"git push --force", b"Forced pushes to main", b"15 % off", b"ticket-118"):
        assert word in full
        assert word not in bare


def test_messages_have_the_shape_of_the_conventions(claude: list[Recorded]) -> None:
    found = [said(span) for span in written(claude, with_content=True)]
    (prompt,) = json.loads(found[-2][names.INPUT_MESSAGES])
    assert (prompt["role"], prompt["parts"][0]["type"]) == ("user", "text")
    outputs = [json.loads(one[names.OUTPUT_MESSAGES]) for one in found if names.OUTPUT_MESSAGES in one]
    assert all(set(message) == {"role", "parts", "finish_reason"} for (message,) in outputs)
    assert {part["type"] for (message,) in outputs for part in message["parts"]} == {"text", "reasoning", "tool_call"}


def test_checks_and_decisions_are_events_and_sub_agents_spans(record: Record) -> None:
    golden = record(events_of(headless, GOLDEN))
    spans = written(golden)
    notes = [event.name for span in spans for event in span.events]
    assert notes.count("tallystick.security_decision") == 5
    assert notes.count("tallystick.security_triage") == 3
    (agent,) = [span for span in spans if span.name == "invoke_agent critic"]
    ends = {step.type: step for step in golden if step.type.startswith("subagent")}
    assert agent.span_id.hex() == ends["subagent_start"].hash[:16]
    assert agent.start_time_unix_nano < agent.end_time_unix_nano


def test_a_session_in_which_no_human_asked_is_itself_the_invocation(tmp_path: Path) -> None:
    found = written(steps(tmp_path, call("a"), result("a", {"success": True})))
    assert [operation(span) for span in found] == [names.EXECUTE_TOOL, names.INVOKE_AGENT]


def test_a_call_without_a_result_and_a_result_without_a_call_are_not_lost(tmp_path: Path) -> None:
    found = written(steps(tmp_path, call("a"), result("b")))
    assert [span.name for span in found] == ["execute_tool Bash", "session demo"]
    assert [event.name for event in found[-1].events] == ["tallystick.tool_result"]


def test_an_id_that_is_used_twice_gives_two_spans(tmp_path: Path) -> None:
    again = Step(session="s", type="tool_call", source_id="a2", meta={"tool": "Read", "corr": "a"})
    found = written(steps(tmp_path, call("a"), again, result("a", {"success": False, "exit_code": 2})))
    assert [span.name for span in found[:-1]] == ["execute_tool Bash", "execute_tool Read"]
    assert said(found[1])["process.exit.code"] == 2
    assert said(found[1])[names.ERROR_TYPE] == names.OTHER
    assert found[1].status.code == 2


def test_a_revised_result_counts_once_as_it_was_last(tmp_path: Path) -> None:
    newer = result("a", {"success": True}, values={"content.output": "second"})
    found = written(
        steps(tmp_path, call("a"), result("a", values={"content.output": "first"}), newer), with_content=True
    )
    assert [said(span).get(names.TOOL_RESULT) for span in found[:-1]] == ["second"]


def test_what_a_child_session_hangs_on_is_a_link(tmp_path: Path) -> None:
    (first, *_) = steps(tmp_path)
    child = Recorded(
        session="c" * 32,
        n=0,
        hash="a" * 64,
        prev="0" * 64,
        parents=(f"{first.session}#{first.hash}",),
        meta={"type": "session_start", "agent": "demo", "kind": "child", "ts": "2026-01-01T00:00:00.000000Z"},
    )
    (span,) = written([child])
    assert span.links[0].span_id.hex() == first.hash[:16]
    assert span.links[0].trace_id == written([first])[0].trace_id


def test_hostile_members_break_nothing(tmp_path: Path) -> None:
    values: dict[str, Json] = {
        "content.args": {"a": ["\x1b[31m\u202e\0", 1 << 50, None, 0.5]},
        "content.text": "\u2028" * 9,
    }
    meta = {"duration_ms": (1 << 53) - 1, "tokens": {"input": (1 << 53) - 1, "output": "many"}, "model": "m" * 5000}
    made = steps(
        tmp_path,
        Step(session="s", type="user", source_id="u", values=values),
        Step(session="s", type="model_call", source_id="m", meta=meta),
        call("a", values=values),
        result("a", values={"content.output": [values]}),
        Step(session="s", type="strange", source_id="x", values=values),
    )
    assert len(written(made, with_content=True)) == 4
    assert list(otel.write([], session="s", with_content=True)) == []


def test_the_schema_of_the_conventions_is_named(record: Record) -> None:
    (line, *_) = otel.write(record(events_of(gptme, RECEIPTS)), session="s1", with_content=False)
    request = decoded(line).resource_spans[0]
    assert request.scope_spans[0].schema_url == names.SCHEMA_URL
    assert attributes(request.resource.attributes)["service.name"] == "gptme"
