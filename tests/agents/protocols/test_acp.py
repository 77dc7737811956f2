"""What is said over ACP as steps: the traffic of seven real agents, and each message alone."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.agents.hooks import UNNAMED
from tallystick.agents.protocols.acp import Acp, Side, agent_name
from tallystick.model.step import Event, Loss, Opening, Ref, SessionKind, Source, Step
from tests.agents.protocols.acp_talk import Talk, steps
from tests.support.cases import cases, each, each_case
from tests.support.shown import shown

TRAFFIC = Path(__file__).parents[2] / "recordings" / "acp"
AGENTS = cases(__file__, "agents", dict[str, str])


def replayed(name: str) -> tuple[Acp, list[Event]]:
    """A recorded conversation and its events. Each prompts twice: a command and a file are allowed, another is refused."""
    acp, events, at = Acp("agent"), list[Event](), 0
    for text in (TRAFFIC / f"{name}.jsonl").read_text("utf-8").splitlines():
        item = json.loads(text)
        at = item["at_ns"]
        events += acp.take(Side(item["from"]), json.dumps(item["line"]).encode() + b"\n", at)
    return acp, [*events, *acp.end(at, returncode=0)]


@pytest.fixture
def talk() -> Talk:
    found = Talk()
    found.begin()
    return found


# Real traffic -----------------------------------------------------------------------------------------------------------


@each("name, agent", AGENTS.items())
def test_each_agent_is_known_by_the_name_of_its_histories(name: str, agent: str) -> None:
    acp, events = replayed(name)
    assert acp.agent == agent
    assert {event.agent for event in events if isinstance(event, Opening)} == {agent}
    assert {event.source for event in steps(events)} == {Source.ACP}


@each("name", AGENTS)
def test_each_prompt_call_question_and_turn_is_told_once(name: str) -> None:
    _, events = replayed(name)
    count = Counter(event.type for event in steps(events))
    assert count["user"] == 2
    assert sum(step.opens_request for step in steps(events, "user")) == 2
    calls = {step.source_id for step in steps(events, "tool_call")}
    assert len(calls) == 3
    # Hermes asks nothing about the command, the others ask about all three.
    expected = ["allow", "deny"] if name.startswith("hermes") else ["allow", "allow", "deny"]
    assert [step.meta["decision"] for step in steps(events, "permission")] == expected
    ends = [step.meta for step in steps(events) if step.meta.get("subtype") == "turn_end"]
    assert ends[0]["stop_reason"] == "end_turn"
    assert len(ends) == 2


@each("name", AGENTS)
def test_questions_and_results_follow_from_their_calls(name: str) -> None:
    _, events = replayed(name)
    calls = {step.source_id for step in steps(events, "tool_call")}
    for step in [*steps(events, "permission"), *steps(events, "tool_result")]:
        assert step.meta["corr"] in calls
        assert step.after == (Ref(step.meta["corr"]),)


@each("name", AGENTS)
def test_tools_have_the_names_of_the_agents_own_histories(name: str) -> None:
    shell, write = {
        "claude-code": ("Bash", "Write"),
        "codex": ("exec_command", "apply_patch"),
        "copilot": ("bash", "create"),
        "opencode": ("bash", "write"),
        "hermes": ("terminal", "write_file"),
    }.get(AGENTS[name], ("run_shell_command", "write_file"))
    _, events = replayed(name)
    assert list(dict.fromkeys(step.meta["tool"] for step in steps(events, "tool_call"))) == [shell, write]


@each("name", AGENTS)
def test_what_is_asked_is_kept_exactly(name: str) -> None:
    _, events = replayed(name)
    refused = steps(events, "permission")[-1]
    assert "refused.txt" in json.dumps(refused.values["content.shown"])
    assert {option["kind"] for option in shown(refused.values["content.options"])} >= {"allow_once", "reject_once"}
    assert refused.meta["option_kind"] == "reject_once"
    assert refused.meta["decided_by"] == "user"
    assert refused.meta["duration_ms"] >= 0


@each("name", [name for name in AGENTS if not name.startswith(("codex", "gemini", "copilot"))])
def test_history_that_is_told_again_is_no_new_activity(name: str) -> None:
    _, events = replayed(name)
    (told, *_) = [step for step in steps(events) if step.meta.get("subtype") == "replay"]
    assert told.meta["updates"] == len(shown(told.values["content.replay"]))
    assert "Create out.txt and note.txt" in json.dumps(told.values["content.replay"])


def test_hermes_own_names_of_calls_are_no_ids() -> None:
    _, events = replayed("hermes-agent-0.19.0")
    assert all((step.source_id or "").startswith(UNNAMED) for step in steps(events, "tool_call"))
    asked = steps(events, "permission")[0]
    assert shown(asked.values["content.shown"])["toolCallId"] == "edit-approval-1"
    assert asked.meta["corr"] == steps(events, "tool_call")[1].source_id


def test_a_file_that_the_editor_wrote_is_an_effect_of_its_call() -> None:
    _, events = replayed("gemini-cli-0.61.0")
    (wrote,) = [step for step in steps(events, "file_effect") if step.meta["action"] == "write"]
    assert wrote.values["content.path"] == "/home/dev/project/note.txt"
    assert wrote.values["content.text"] == "hello from the fake model\n"
    assert wrote.meta["corr"] == steps(events, "tool_call")[1].source_id


def test_a_fork_hangs_on_its_session() -> None:
    _, events = replayed("opencode-1.18.33")
    first, fork = [event for event in events if isinstance(event, Opening)]
    assert (fork.kind, fork.parent) == (SessionKind.FORK, Ref(session=first.session))
    assert [step.type for step in steps(events) if step.session == fork.session] == [
        "system",
        "system",
        "system",
        "session_end",
    ]


# Openings ---------------------------------------------------------------------------------------------------------------


def test_of_mcp_servers_names_are_kept_and_nothing_that_may_be_secret() -> None:
    talk = Talk()
    servers = [
        {"name": "files", "command": "run", "args": ["--token", "S3CRET"], "env": [{"name": "KEY", "value": "S3CRET"}]},
        {"name": "web", "type": "http", "url": "https://x/S3CRET", "headers": [{"name": "Auth", "value": "S3CRET"}]},
    ]
    talk.ask("session/new", {"cwd": "/home/dev", "mcpServers": servers})
    events = talk.answer({"sessionId": "s"})
    (opened,) = [event for event in events if isinstance(event, Opening)]
    assert opened.values["content.mcp_servers"] == [
        {"name": "files", "type": "stdio", "env_names": ["KEY"]},
        {"name": "web", "type": "http", "headers_names": ["Auth"]},
    ]
    assert "S3CRET" not in repr(events)
    assert opened.values["personal.cwd"] == "/home/dev"
    assert (opened.meta["client"], opened.meta["agent_version"]) == ("editor", "9")


def test_authentication_leaves_no_trace_but_that_there_was_some() -> None:
    talk = Talk()
    talk.ask("authenticate", {"methodId": "key", "secret": "S3CRET"})
    assert "S3CRET" not in repr([*talk.answer({}), *talk.begin()])


def test_a_load_that_fails_begins_no_session() -> None:
    talk = Talk()
    talk.ask("session/load", {"sessionId": "gone", "cwd": "/"})
    events = talk.say(Side.AGENT, {"id": talk.ids, "error": {"code": -32002, "message": "not found"}})
    assert [type(event) for event in events] == [Loss]


def test_hermes_answers_a_load_of_nothing_with_nothing() -> None:
    talk = Talk("hermes-agent")
    talk.ask("session/load", {"sessionId": "gone", "cwd": "/"})
    assert [type(event) for event in talk.answer({})] == [Loss]


def test_a_resume_of_an_unknown_id_is_a_session_under_the_id_that_its_provenance_tells() -> None:
    talk = Talk("hermes-agent")
    talk.ask("session/resume", {"sessionId": "gone", "cwd": "/"})
    events = talk.answer({"_meta": {"hermes": {"sessionProvenance": {"acpSessionId": "new"}}}})
    assert [event.session for event in events if isinstance(event, Opening)] == ["new"]


@each_case("said, name")
def test_agents_are_named_by_a_word(said: str, name: str) -> None:
    assert agent_name(said) == name


# What is not as it should be ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", ["session_id", "sessionId", "cwd", "CWD", "mcp_servers", "prompt"])
def test_a_key_of_meta_that_shadows_a_parameter_is_warned_of(talk: Talk, key: str) -> None:
    events = talk.ask("session/prompt", {"sessionId": "s", "prompt": [], "_meta": {key: "x", "ours.example/k": 1}})
    (warning,) = steps(events, "warning")
    assert (warning.meta["subtype"], warning.values["content.names"]) == ("meta_shadow", [key])


def test_keys_with_a_domain_and_trace_context_are_no_shadows(talk: Talk) -> None:
    meta = {"traceparent": "00-ab-cd-01", "ours.example/cwd": 1}
    (prompt,) = steps(talk.ask("session/prompt", {"sessionId": "s", "prompt": [], "_meta": meta}))
    assert prompt.meta["traceparent"] == "00-ab-cd-01"


def test_what_is_no_json_is_a_warning_in_the_session_that_was_spoken_of(talk: Talk) -> None:
    (warning,) = talk.acp.take(Side.AGENT, b"debug: here\n", talk.at)
    assert isinstance(warning, Step)
    assert (warning.meta["subtype"], warning.values["content.text"]) == ("not_json", "debug: here\n")


def test_updates_of_an_unknown_kind_are_shown_as_they_are(talk: Talk) -> None:
    (told,) = steps(talk.update("something_new", a=[1]))
    assert told.values["content.raw"] == {"sessionUpdate": "something_new", "a": [1]}


def test_lines_that_were_missed_are_gaps_in_every_open_session(talk: Talk) -> None:
    (gap,) = steps(list(talk.acp.missed(7, talk.at)))
    assert (gap.type, gap.meta["lines"]) == ("gap", 7)


def test_an_extension_is_told_with_its_answer(talk: Talk) -> None:
    talk.ask("_vendor/thing", {"sessionId": "s", "x": 1}, Side.AGENT)
    (told,) = steps(talk.answer({"y": 2}, Side.EDITOR))
    assert (told.meta["method"], told.meta["from"]) == ("_vendor/thing", "agent")
    assert (shown(told.values["content.params"])["x"], shown(told.values["content.result"])) == (1, {"y": 2})


def lines_of_traffic() -> Iterator[tuple[Side, dict[str, Any]]]:
    for path in sorted(TRAFFIC.glob("*.jsonl")):
        for text in path.read_text("utf-8").splitlines():
            item = json.loads(text)
            yield Side(item["from"]), item["line"]


LINES = list(lines_of_traffic())
STRANGE: st.SearchStrategy[Any] = (
    st.none() | st.integers() | st.text(max_size=3) | st.lists(st.none(), max_size=2) | st.just({"a": {}})
)


@st.composite
def damaged(draw: st.DrawFn) -> list[tuple[Side, bytes]]:
    """Real messages, some members of which were replaced."""
    result = []
    for index in draw(st.lists(st.integers(0, len(LINES) - 1), min_size=1, max_size=12)):
        side, line = LINES[index]
        copied = json.loads(json.dumps(line))
        node: Any = copied
        while isinstance(node, dict) and node and draw(st.booleans()):
            key = draw(st.sampled_from(sorted(node)))
            if draw(st.booleans()):
                node[key] = draw(STRANGE)
                break
            node = node[key]
        result.append((side, json.dumps(copied).encode()))
    return result


@given(damaged(), st.binary(max_size=40))
def test_nothing_that_is_said_makes_it_fail(lines: list[tuple[Side, bytes]], noise: bytes) -> None:
    acp = Acp("agent")
    for at, (side, line) in enumerate(lines):
        for event in acp.take(side, line, at):
            assert isinstance(event, Opening | Step | Loss)
    list(acp.take(Side.AGENT, noise, 99))
    list(acp.end(100, returncode=0))
