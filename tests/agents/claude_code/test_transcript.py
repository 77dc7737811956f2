from __future__ import annotations

import json
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given

from tallystick.agents import Adapter
from tallystick.agents.claude_code import transcript as claude_code
from tallystick.model.step import Event, Input, Loss, Opening, Ref, SessionKind, Step
from tests.agents.claude_lines import (
    assistant,
    call,
    ids,
    one,
    openings,
    read,
    result,
    said,
    user,
)
from tests.agents.mutations import lines_of, losses_of, mutated, names_of, pieces_of, steps_of, types_of
from tests.support.shown import shown

ReadEvents = Callable[[Adapter, Path], list[Event]]

ROOT = Path(__file__).resolve().parents[3]
RECORDINGS = ROOT / "tests" / "recordings"
PROJECT = RECORDINGS / "claude-code" / "2.1.330" / ".claude" / "projects" / "-home-dev-project"
PUBLIC = ROOT / ".." / "shared" / "data" / "public"

MAIN = "a42b3437-edc3-4f9f-94df-46a5393a6b90"
COMPACTED = "c70cf123-6122-475f-8809-1f48f9d0740d"
CUT_SHORT = "8b0b7228-5d23-4fb6-80cd-ac975b7af092"
AGENT = "ac22766a05ee82a73"
SPAWNING = "toolu_ef594f4583964367b4b23315"

SUB_AGENT_FILE = PROJECT / MAIN / "subagents" / f"agent-{AGENT}.jsonl"
ALL = [*(PROJECT / f"{session}.jsonl" for session in (MAIN, COMPACTED, CUT_SHORT)), SUB_AGENT_FILE]


def test_a_session_is_recorded_whole(read_events: ReadEvents) -> None:
    events = read_events(claude_code, PROJECT / f"{MAIN}.jsonl")
    assert types_of(events) == {
        "user": 2,
        "system": 12,
        "model_call": 13,
        "assistant": 9,
        "tool_call": 12,
        "tool_result": 12,
    }
    assert losses_of(events) == {
        "api-request": 13,
        "api-request-blob": 2,
        "api-request-shape": 1,
        "atis-latch": 4,
        "cost-state": 2,
        "last-prompt": 5,
        "mode": 1,
        "original_file": 2,
        "queue-operation": 4,
        "thinking_signature": 2,
        "tools-used": 5,
    }
    [opening] = openings(events).values()
    assert opening.kind is SessionKind.ROOT
    assert opening.meta == {"agent_version": "2.1.330", "entrypoint": "sdk-cli"}
    assert opening.values == {"personal.cwd": "/home/dev/project", "content.branch": "main"}


def test_what_a_human_asked_opens_a_request(read_events: ReadEvents) -> None:
    prompts = [step for step in steps_of(read_events(claude_code, ALL[0])) if step.opens_request]
    assert [step.type for step in prompts] == ["user", "user"]
    assert prompts[1].values == {"content.text": "Write the change down in CHANGELOG.md."}
    assert prompts[1].ts == "2026-11-21T22:31:18.404Z"
    assert "origin" not in prompts[1].meta


def test_usage_counts_once_for_each_message(read_events: ReadEvents) -> None:
    lines = [json.loads(line) for line in lines_of(ALL[0])]
    messages = {line["message"]["id"]: line["message"]["usage"] for line in lines if line["type"] == "assistant"}
    calls = steps_of(read_events(claude_code, ALL[0]), "model_call")
    assert [step.source_id for step in calls] == [f"{message}/usage" for message in messages]
    assert sum(step.meta["tokens"]["output"] for step in calls) == sum(u["output_tokens"] for u in messages.values())
    assert calls[0].meta["tokens"] == {"input": 4, "output": 131, "cache_read": 0, "cache_write": 14210, "reasoning": 0}
    assert calls[0].meta["model"] == "claude-opus-5-5"
    assert calls[0].meta["stop_reason"] == "tool_use"
    assert {step.input for step in calls} == {Input.PATH}


def test_a_message_comes_as_its_call_then_its_blocks(read_events: ReadEvents) -> None:
    events = read_events(claude_code, ALL[0])
    first = [step for step in steps_of(events) if step.type != "system"][1:6]
    assert [step.type for step in first] == ["model_call", "assistant", "assistant", "tool_call", "tool_result"]
    assert shown(first[1].values["content.thinking"]).startswith("The ticket gives the numbers.")
    assert first[2].values == {"content.text": "I'll start with the ticket."}
    assert first[3].values == {"content.args": {"file_path": "/home/dev/project/docs/ticket-118.txt"}}
    assert all(step.after == (Ref(before.source_id),) for before, step in pairwise(first))


def test_each_call_has_its_result(read_events: ReadEvents) -> None:
    events = read_events(claude_code, ALL[0])
    calls = {step.meta["corr"]: step for step in steps_of(events, "tool_call")}
    results = {step.meta["corr"]: step for step in steps_of(events, "tool_result")}
    assert calls.keys() == results.keys()
    for call_id, step in results.items():
        assert step.source_id == f"{call_id}/result"
        assert step.meta["tool"] == calls[call_id].meta["tool"]
        assert Ref(call_id) in step.after
    assert [step.meta["success"] for step in results.values()].count(False) == 2


def test_a_refused_call_says_who_refused_it(read_events: ReadEvents) -> None:
    events = read_events(claude_code, ALL[0])
    [refused] = [step for step in steps_of(events, "tool_result") if step.meta.get("decision") == "deny"]
    assert refused.meta["decided_by"] == "hook"
    assert refused.meta["decision_reason"] == "hook:PreToolUse"
    assert refused.meta["success"] is False
    assert shown(refused.values["content.output"]).startswith("PreToolUse:Bash hook error: Forced pushes")
    assert refused.values.keys() == {"content.output"}


def test_an_image_is_a_part_once(read_events: ReadEvents) -> None:
    events = read_events(claude_code, ALL[0])
    [step] = [step for step in steps_of(events) if step.raw]
    assert step.raw["content.part_0"].startswith(b"\x89PNG\r\n")
    assert len(step.raw["content.part_0"]) == 93
    assert step.values["content.output"] == [{"type": "image", "media_type": "image/png", "part": "content.part_0"}]
    assert shown(step.values["content.result"])["file"]["part"] == "content.part_0"


def test_an_edit_keeps_its_patch_and_neither_copy_of_the_file(read_events: ReadEvents) -> None:
    events = read_events(claude_code, ALL[0])
    edit = next(step for step in steps_of(events, "tool_result") if step.meta["tool"] == "Edit")
    assert shown(edit.values["content.result"]).keys() == {"structuredPatch", "userModified", "replaceAll"} - {
        "replaceAll"
    }
    assert (
        "+    return (cents * percent + 50) // 100"
        in shown(edit.values["content.result"])["structuredPatch"][0]["lines"]
    )


def test_a_sub_agent_hangs_on_the_call_that_spawned_it(read_events: ReadEvents) -> None:
    events = read_events(claude_code, SUB_AGENT_FILE)
    [opening] = openings(events).values()
    assert opening.session == f"{MAIN}/{AGENT}"
    assert opening.kind is SessionKind.CHILD
    assert opening.parent == Ref(SPAWNING, MAIN)
    assert opening.meta["agent_role"] == "general-purpose"
    assert opening.values["content.label"] == "Find callers of discount"
    assert types_of(events) == {
        "user": 1,
        "system": 10,
        "model_call": 3,
        "assistant": 2,
        "tool_call": 2,
        "tool_result": 2,
    }
    [task] = steps_of(events, "user")
    assert task.meta["origin"] == "parent"
    assert not task.opens_request


def test_after_a_compaction_the_session_goes_on_as_another(read_events: ReadEvents) -> None:
    events = read_events(claude_code, PROJECT / f"{COMPACTED}.jsonl")
    first, second = openings(events).values()
    assert (first.session, first.kind) == (COMPACTED, SessionKind.ROOT)
    assert (second.session, second.kind) == (f"{COMPACTED}~1", SessionKind.CONTINUATION)
    ended = steps_of([event for event in events if isinstance(event, Step) and event.session == COMPACTED])
    assert [step.type for step in ended[-2:]] == ["compaction", "session_end"]
    assert second.parent == Ref(ended[-2].source_id, COMPACTED)
    assert ended[-2].meta["trigger"] == "manual"
    assert ended[-2].meta["tokens_before"] == 15695
    goes_on = [step for step in steps_of(events) if step.session == second.session]
    assert [step.meta.get("origin") for step in goes_on[:4]] == ["summary", "command", "command", "command"]
    assert goes_on[0].after == ()
    assert [step.values["content.text"] for step in goes_on if step.opens_request] == [
        "Name the export in the README as well."
    ]


def test_a_session_that_was_killed_ends_with_its_open_call(read_events: ReadEvents) -> None:
    events = read_events(claude_code, PROJECT / f"{CUT_SHORT}.jsonl")
    assert steps_of(events)[-1].type == "tool_call"
    assert "tool_result" not in types_of(events)


# Laws -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ALL, ids=lambda path: path.stem[:8])
def test_every_line_makes_at_least_one_event(path: Path) -> None:
    pieces = pieces_of(claude_code, lines_of(path), str(path))
    events = [event for piece in pieces for event in piece if not isinstance(event, Opening)]
    assert len(events) >= len(lines_of(path))


@pytest.mark.parametrize("path", ALL, ids=lambda path: path.stem[:8])
def test_what_a_file_said_it_says_when_it_has_grown(path: Path) -> None:
    lines = lines_of(path)
    whole = names_of([event for piece in pieces_of(claude_code, lines, str(path)) for event in piece])
    for cut in range(0, len(lines), 3):
        part = names_of([event for piece in pieces_of(claude_code, lines[:cut], str(path)) for event in piece])
        assert part <= whole


@pytest.mark.parametrize("path", ALL, ids=lambda path: path.stem[:8])
def test_every_step_follows_one_that_was_given_before(path: Path, read_events: ReadEvents) -> None:
    given: set[tuple[str, str | None]] = set()
    for step in steps_of(read_events(claude_code, path)):
        for ref in step.after:
            assert (ref.session or step.session, ref.source_id) in given
        given.add((step.session, step.source_id))


SAMPLE = [line for path in ALL for line in lines_of(path)][::7]


@given(mutated(SAMPLE))
def test_no_input_makes_it_raise(lines: list[bytes]) -> None:
    events = [event for piece in pieces_of(claude_code, lines, "s.jsonl") for event in piece]
    assert len([event for event in events if not isinstance(event, Opening)]) >= len(lines)


# Whose a file is ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path", sorted(RECORDINGS.rglob("*.jsonl")), ids=lambda path: str(path.relative_to(RECORDINGS))
)
def test_it_knows_its_own_files(path: Path) -> None:
    head = path.read_bytes()[: 64 * 1024]
    is_ours = path.relative_to(RECORDINGS).parts[0] == "claude-code"
    assert bool(claude_code.recognises(str(path), head)) is is_ours


@pytest.mark.parametrize(
    ("head", "is_ours"),
    [
        (b'{"type":"summary","summary":"x","leafUuid":"u"}\n', True),
        (b'{"type":"queue-operation","operation":"enqueue","sessionId":"s"}\n', True),
        (b'{"parentUuid":null,"isSidechain":false,"sessionId":"s","message":{"content":"' + b"a" * 64_000, True),
        (b'{"uuid":"b","sessionId":"c","type":"user","message":{"role":"user","parts":[]}}\n', False),
        (b'{"role":"user","message":{"content":[]}}\n', False),
        (b"\xff\xfe\0\0", False),
        (b"", False),
    ],
)
def test_it_knows_a_transcript_by_its_first_lines(head: bytes, *, is_ours: bool) -> None:
    assert bool(claude_code.recognises("x.jsonl", head)) is is_ours


# Sessions of real people ----------------------------------------------------------------------------------------------


@pytest.mark.skipif(not PUBLIC.is_dir(), reason="the public sessions are not beside this checkout")
def test_a_long_public_session_is_recorded_whole(read_events: ReadEvents) -> None:
    events = read_events(claude_code, PUBLIC / "large" / "pup-mcp-1.jsonl")
    assert types_of(events) == {
        "user": 21,
        "system": 6,
        "model_call": 221,
        "assistant": 109,
        "tool_call": 343,
        "tool_result": 341,
        "compaction": 2,
        "session_end": 2,
    }
    kinds = [opening.kind for opening in openings(events).values()]
    assert [kinds.count(kind) for kind in (SessionKind.ROOT, SessionKind.CONTINUATION, SessionKind.CHILD)] == [1, 2, 4]
    assert losses_of(events) == {
        "file-history-snapshot": 75,
        "original_file": 14,
        "progress": 114,
        "thinking_signature": 16,
    }


def test_lines_without_any_id_are_named_by_their_place() -> None:
    line = user("u", None, "one")
    del line["uuid"]
    events = read(line, line)
    assert ids(events) == ["s/@0", f"s/@{len(json.dumps(line)) + 1}"]


def test_an_id_that_stands_twice_is_two_events() -> None:
    events = read(
        assistant("a", None, call("c1")), result("r", "a", "c1", "one"), result("q", "a", "c1", "two", is_error=True)
    )
    assert [step.source_id for step in steps_of(events, "tool_result")] == ["c1/result", "q"]


def test_a_line_that_stands_twice_counts_once() -> None:
    events = read(user("u", None, "one"), user("u", None, "one"), user("v", "u", "two"))
    assert ids(events) == ["u", "v"]
    assert losses_of(events) == {"duplicate_line": 1}


def test_history_that_a_resumed_session_repeats_leads_on_to_it() -> None:
    events = read(user("u", None, "one"), assistant("a", "u", "yes"), user("v", "a", "two", sessionId="t"))
    assert openings(events)["t"].kind is SessionKind.FORK
    assert openings(events)["t"].parent == Ref("a", "s")
    assert one(events, "v").session == "t"


def test_a_summary_without_a_boundary_is_a_compaction_all_the_same() -> None:
    events = read(
        user("u", None, "one"),
        assistant("a", "u", "yes"),
        user("k", None, "Summary: one, yes", isCompactSummary=True),
        user("v", "k", "two"),
    )
    assert ids(events, "s") == ["u", "m1/usage", "a", "k/compaction", "k/compaction/end"]
    assert ids(events, "s~1") == ["k", "v"]
    assert openings(events)["s~1"].parent == Ref("k/compaction", "s")


def test_a_conversation_rewound_beyond_its_compaction_hangs_on_the_old_session() -> None:
    boundary = said("system", "k", None, subtype="compact_boundary", content="Conversation compacted")
    events = read(user("u", None, "one"), assistant("a", "u", "yes"), boundary, user("v", "a", "two"))
    assert one(events, "v").session == "s~1"
    assert one(read(*[user("u", None, "one"), boundary, user("v", "k", "x"), user("w", "u", "y")]), "w").after == (
        Ref("u", "s"),
    )


def test_names_of_a_session_count_as_they_stand_at_the_end() -> None:
    name = {"type": "custom-title", "sessionId": "s"}
    events = read(
        {**name, "customTitle": "first"},
        user("u", None, "one"),
        {"type": "summary", "summary": "Here", "leafUuid": "u"},
        {"type": "summary", "summary": "Elsewhere", "leafUuid": "other"},
        {**name, "customTitle": "second"},
    )
    assert one(events, "s/custom-title").values == {"content.title": "second"}
    assert one(events, "s/summary/u").values == {"content.title": "Here"}
    assert one(events, "s/summary/other").values == {"content.text": "Elsewhere"}
    assert losses_of(events) == {"custom-title_again": 1}


def test_summaries_alone_make_no_session() -> None:
    events = read({"type": "summary", "summary": "Elsewhere", "leafUuid": "other"})
    assert events == [Loss(kind="summary", detail="names no conversation of this file")]


def test_what_is_not_understood_is_counted() -> None:
    events = read(b"{", b"[1]", b'{"type": 3}', {"type": "brand-new"}, {"type": "user", "uuid": "u", "sessionId": "s"})
    assert losses_of(events) == {
        "bad_line": 1,
        "unknown_line": 2,
        "unknown_brand-new": 1,
        "empty_message": 1,
    }
    assert [event.fault for event in events if isinstance(event, Loss)].count(True) == 1


def test_padding_before_a_line_is_passed_over() -> None:
    assert ids(read(b"\0\0\0" + json.dumps(user("u", None, "one")).encode())) == ["u"]
