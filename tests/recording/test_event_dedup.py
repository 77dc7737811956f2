"""Two witnesses of one session, in whatever order they speak."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tallystick.journal.archive import Archive
from tallystick.journal.home import Home
from tallystick.journal.read import read_session
from tallystick.model.recorded import Recorded
from tallystick.model.step import Json, Opening, Ref, Source, Step
from tallystick.recording.event_dedup import Outcome
from tallystick.recording.record import SessionRecord
from tallystick.recording.writer import Writer
from tallystick.trust.verify import verify_store
from tests.support.laws import examples


def call(source_id: str, args: Json, *, tool: str = "Bash", source: Source = Source.TRANSCRIPT) -> Step:
    members = {"tool": tool, "corr": source_id}
    return Step(
        session="s",
        type="tool_call",
        source=source,
        source_id=source_id,
        meta=members,
        values={"content.args": args},
    )


def result(call_id: str, output: Json, *, source: Source = Source.TRANSCRIPT, **more: Json) -> Step:
    values = {"content.output": output, **{f"content.{name}": value for name, value in more.items()}}
    return Step(
        session="s",
        type="tool_result",
        source=source,
        source_id=f"{call_id}/result",
        meta={"corr": call_id},
        values=values,
        after=(Ref(call_id),),
    )


def hook(step: Step, source_id: str) -> Step:
    """The event as a hook without ids tells it."""
    return msgspec.structs.replace(step, source=Source.HOOK, source_id=source_id, meta={"tool": step.meta.get("tool")})


def steps(home: Home, record: SessionRecord) -> list[Recorded]:
    record.flush_sightings()
    return list(read_session(home, record.sid))


def test_a_call_without_id_and_the_same_with_one_are_one_entry(home: Home, record: SessionRecord) -> None:
    assert record.add(hook(call("-", {"command": "ls"}), "hook/1")) == (Outcome.RECORDED, 1)
    assert record.add(call("c1", {"command": "ls"})) == (Outcome.CORROBORATED, 1)
    assert [step.type for step in steps(home, record)] == ["session_start", "tool_call", "sighting"]
    assert steps(home, record)[2].meta["steps"] == [{"n": 1, "source_id": "c1"}]


def test_the_result_of_a_joined_call_is_found_by_either_name(home: Home, record: SessionRecord) -> None:
    record.add(hook(call("-", {"command": "ls"}), "hook/1"))
    record.add(hook(result("hook/1", "a\n"), "hook/1/result"))
    record.add(call("c1", {"command": "ls"}))
    assert record.add(result("c1", "a")) == (Outcome.CORROBORATED, 2)
    assert len(steps(home, record)) == 4


def test_the_witness_with_ids_may_come_first(home: Home, record: SessionRecord) -> None:
    record.add(call("c1", {"command": "ls"}))
    record.add(result("c1", "a"))
    assert record.add(hook(call("-", {"command": "ls"}), "hook/9")) == (Outcome.CORROBORATED, 1)
    assert record.add(hook(result("hook/9", "a"), "hook/9/result")) == (Outcome.CORROBORATED, 2)
    assert steps(home, record)[-1].meta["steps"] == [
        {"n": 1, "source_id": "hook/9"},
        {"n": 2, "source_id": "hook/9/result"},
    ]


def test_results_need_not_be_equal_and_both_stand(home: Home, record: SessionRecord) -> None:
    record.add(hook(call("-", {"command": "ls"}), "hook/1"))
    record.add(hook(result("hook/1", "a"), "hook/1/result"))
    record.add(call("c1", {"command": "ls"}))
    assert record.add(result("c1", "b")) == (Outcome.CONTRADICTED, 3)
    assert (steps(home, record)[3].meta["corroborates"], steps(home, record)[3].meta["agrees"]) == (2, False)
    assert record.add(result("c1", "b")) == (Outcome.KNOWN, 3)
    assert record.add(hook(result("hook/1", "a"), "hook/1/result")) == (Outcome.KNOWN, 2)


@pytest.mark.parametrize(
    "other",
    [
        call("c1", {"command": "ls -l"}),
        call("c1", {"command": "ls"}, tool="Read"),
        Step(session="s", type="permission", source_id="c1", meta={"tool": "Bash"}, values={"content.args": "ls"}),
    ],
)
def test_another_call_is_another_entry(record: SessionRecord, other: Step) -> None:
    record.add(hook(call("-", {"command": "ls"}), "hook/1"))
    assert record.add(other) == (Outcome.RECORDED, 2)


def test_equal_calls_are_joined_in_order_and_each_once(record: SessionRecord) -> None:
    for k in (1, 2):
        record.add(hook(call("-", {"command": "ls"}), f"hook/{k}"))
    assert record.add(call("c1", {"command": "ls"})) == (Outcome.CORROBORATED, 1)
    assert record.add(call("c2", {"command": "ls"})) == (Outcome.CORROBORATED, 2)
    assert record.add(call("c3", {"command": "ls"})) == (Outcome.RECORDED, 3)
    assert record.add(call("c2", {"command": "ls"})) == (Outcome.KNOWN, 2)


def test_of_equal_calls_the_nearest_is_the_same_one(record: SessionRecord) -> None:
    def at(step: Step, second: int) -> Step:
        return msgspec.structs.replace(step, ts=f"2026-01-01T10:00:{second:02}Z")

    for number, second in enumerate(
        (1, 20, 40), start=1
    ):  # the first is a sub-agent's, whose file the other source has not
        record.add(at(hook(call("-", {"command": "ls"}), f"hook/{number}"), second))
    assert record.add(at(call("c2", {"command": "ls"}), 21)) == (Outcome.CORROBORATED, 2)
    assert record.add(at(call("c3", {"command": "ls"}), 39)) == (Outcome.CORROBORATED, 3)
    assert record.add(at(call("c4", {"command": "ls"}), 41)) == (Outcome.CORROBORATED, 1)


def test_an_equal_call_of_another_time_is_another_call(record: SessionRecord) -> None:
    def at(step: Step, ts: str) -> Step:
        return msgspec.structs.replace(step, ts=ts)

    record.add(at(call("c1", "go on"), "2026-01-01T10:00:00Z"))
    late = at(hook(call("-", "go on"), "hook/1"), "2026-01-02T10:00:00Z")
    assert record.add(late) == (Outcome.RECORDED, 2)
    early = at(hook(call("-", "go on"), "hook/0"), "2026-01-01T10:00:02Z")
    assert record.add(early) == (Outcome.RECORDED, 3)  # a day later, nobody waits for it any more
    assert record.add(at(call("c2", "go on"), "2026-01-02T09:59:59+00:00")) == (Outcome.CORROBORATED, 2)
    assert record.add(at(call("c0", "go on"), "2026-01-01T10:00:01")) == (Outcome.CORROBORATED, 3)  # no zone: no time


def test_what_a_second_witness_adds_stands_beside_without_what_is_the_same(home: Home, record: SessionRecord) -> None:
    large = "line\n" * 1000
    record.add(call("c", "ls", source=Source.HOOK))
    record.add(result("c", large, source=Source.HOOK))
    assert record.add(result("c", large.strip(), patch=[1])) == (Outcome.EXTENDED, 3)
    added = steps(home, record)[3]
    assert (added.meta["corroborates"], added.meta["agrees"], added.meta["same"]) == (2, True, ["content.output"])
    assert added.values == {"content.patch": [1]}
    assert record.add(result("c", large.strip(), patch=[1])) == (Outcome.KNOWN, 3)
    assert record.add(result("c", large, source=Source.HOOK)) == (Outcome.KNOWN, 2)
    assert record.add(result("c", large, patch=[2])) == (Outcome.REVISED, 4)


def test_who_has_seen_a_step_has_seen_it_once(home: Home, record: SessionRecord, writer: Writer) -> None:
    record.add(call("c", "ls", source=Source.HOOK))
    assert record.add(call("c", "ls"))[0] is Outcome.CORROBORATED
    assert record.add(call("c", "ls"))[0] is Outcome.KNOWN
    writer.release(record.sid)
    again = writer.record_of(record.sid, "demo")
    assert again.add(call("c", "ls"))[0] is Outcome.KNOWN
    assert again.add(call("c", "ls", source=Source.ACP))[0] is Outcome.CORROBORATED
    assert [step.type for step in steps(home, again)].count("sighting") == 2


def test_names_are_learnt_again_from_the_journal(home: Home, record: SessionRecord, writer: Writer) -> None:
    record.add(hook(call("-", {"command": "ls"}), "hook/1"))
    record.add(call("c1", {"command": "ls"}))
    record.add(hook(call("-", {"command": "pwd"}), "hook/2"))
    writer.release(record.sid)
    again = writer.record_of(record.sid, "demo")
    assert again.add(hook(result("hook/1", "a"), "hook/1/result")) == (Outcome.RECORDED, 4)
    assert again.add(result("c1", "a")) == (Outcome.CORROBORATED, 4)
    assert again.add(call("c2", {"command": "pwd"})) == (Outcome.CORROBORATED, 2)


def test_a_large_value_is_found_again_too(record: SessionRecord, writer: Writer) -> None:
    large = "x" * 200_000
    record.add(hook(call("-", {"command": large}), "hook/1"))
    writer.release(record.sid)
    again = writer.record_of(record.sid, "demo")
    assert again.add(call("c1", {"command": large})) == (Outcome.CORROBORATED, 1)


def test_a_prompt_that_two_tell_opens_one_request(home: Home, record: SessionRecord, writer: Writer) -> None:
    prompt = Step(session="s", type="user", source_id="p", values={"content.text": "do it\n"}, opens_request=True)
    record.add(
        Step(
            session="s",
            type="user",
            source_id="hook/1",
            source=Source.HOOK,
            values={"content.text": "do it"},
            opens_request=True,
        )
    )
    assert record.add(prompt) == (Outcome.CORROBORATED, 1)
    told_more = Step(
        session="s",
        type="user",
        source=Source.ACP,
        source_id="p",
        values={"content.text": "do it", "content.files": ["a"]},
        opens_request=True,
    )
    assert record.add(told_more)[0] is Outcome.EXTENDED
    record.add(call("c", "ls"))
    assert [step.type for step in steps(home, record)[1:]] == ["user", "user", "tool_call", "sighting"]
    assert {step.meta.get("request") for step in steps(home, record)[2:4]} == {1}
    writer.release(record.sid)
    assert writer.record_of(record.sid, "demo").request == 1


def test_a_late_sighting_leaves_an_ended_session_ended(home: Home, record: SessionRecord, archive: Archive) -> None:
    record.add(call("c", "ls", source=Source.HOOK))
    record.add(Step(session="s", type="session_end", source=Source.HOOK, meta={"status": "failed"}))
    assert record.add(call("c", "ls"))[0] is Outcome.CORROBORATED
    kinds = [(step.type, step.meta.get("status")) for step in steps(home, record)]
    assert kinds[2:] == [
        ("session_end", "failed"),
        ("session_start", None),
        ("sighting", None),
        ("session_end", "failed"),
    ]
    archive.seal()
    verdict = verify_store(home)
    assert verdict.exit_code == 0, verdict.defects


def test_what_was_seen_before_the_end_is_told_before_the_end(home: Home, record: SessionRecord) -> None:
    record.add(call("c", "ls", source=Source.HOOK))
    record.add(call("c", "ls"))
    record.add(Step(session="s", type="session_end"))
    assert [step.type for step in steps(home, record)] == ["session_start", "tool_call", "sighting", "session_end"]


# Laws ----------------------------------------------------------------------------------------------------------------

COMMANDS = ("ls", "pwd", "cat a")
Event = tuple[str, str, str]
"""Command, what the hook says came out, what the transcript says."""
EVENTS = st.lists(
    st.tuples(st.sampled_from(COMMANDS), st.sampled_from(["x", "y"]), st.sampled_from(["x", "y"])), max_size=6
)


def by_hook(events: Sequence[Event], k: int) -> list[Step]:
    command, output, _ = events[k]
    asked = hook(call("-", {"command": command}), f"hook/{k}")
    return [asked, hook(result(f"hook/{k}", output), f"hook/{k}/result")]


def by_transcript(events: Sequence[Event], k: int) -> list[Step]:
    command, _, output = events[k]
    return [call(f"c{k}", {"command": command}), result(f"c{k}", output)]


def shuffled(draw: Any, first: list[Step], second: list[Step]) -> list[Step]:
    """Both lists in one, each in its own order."""
    turns = draw(st.permutations([0] * len(first) + [1] * len(second)))
    told = [iter(first), iter(second)]
    return [next(told[turn]) for turn in turns]


@st.composite
def two_accounts(draw: Any) -> tuple[list[Event], list[Step]]:
    events = draw(EVENTS)
    hooks = [step for k in range(len(events)) for step in by_hook(events, k)]
    lines = [step for k in range(len(events)) for step in by_transcript(events, k)]
    return events, shuffled(draw, hooks, lines)


@settings(max_examples=examples(60), deadline=None)
@given(two_accounts(), st.integers(0, 12), st.booleans())
def test_in_any_order_each_event_is_told_once_and_seen_by_both(
    accounts: tuple[list[Event], list[Step]], reopened_at: int, again: bool
) -> None:
    events, told = accounts
    with TemporaryDirectory() as folder:
        home = Home(Path(folder, "store"))
        Archive.make(home)
        archive = Archive(home)
        writer = Writer(archive, UTC)
        record = writer.open(Opening(session="s", agent="demo"))[0]
        for position, step in enumerate(told + (told if again else [])):
            if position == reopened_at:
                writer.release(record.sid)
                record = writer.record_of(record.sid, "demo")
            record.add(step)
        found = steps(home, record)
        archive.seal()
        verdict = verify_store(home)
        writer.close()
        archive.close()
    assert verdict.exit_code == 0
    firsts = [step for step in found if step.type.startswith("tool_") and "corroborates" not in step.meta]
    assert sorted(step.type for step in firsts) == sorted(["tool_call", "tool_result"] * len(events))
    seconds = [step for step in found if "corroborates" in step.meta]
    seen = [item["n"] for step in found if step.type == "sighting" for item in step.meta["steps"]]
    assert len(seen) == len(set(seen))
    assert len(seen) + len(seconds) == 2 * len(events)
    assert {*seen, *(step.meta["corroborates"] for step in seconds)} == {step.n for step in firsts}
    assert all(step.type == "tool_result" for step in seconds)
    assert len(seconds) == sum(mine != yours for _, mine, yours in events)


def test_an_event_that_made_no_entry_has_its_id_all_the_same(record: SessionRecord) -> None:
    record.add(call("c1", {"command": "ls"}))
    first = record.free_id("hook/")
    assert record.add(hook(call("-", {"command": "ls"}), first)) == (Outcome.CORROBORATED, 1)
    assert record.free_id("hook/") != first
    assert record.add(hook(call("-", {"command": "ls"}), record.free_id("hook/"))) == (Outcome.RECORDED, 2)


def ended(source: Source, output: str = "x", **meta: Json) -> Step:
    step = result("c1", output, source=source)
    return msgspec.structs.replace(step, meta={**step.meta, **meta})


@pytest.mark.parametrize("silent", [{}, {"success": True}, {"success": False}])
def test_how_a_transcript_says_a_call_ended_revises_what_a_hook_could_guess(
    home: Home, record: SessionRecord, silent: dict[str, Json]
) -> None:
    record.add(call("c1", "exit 3", source=Source.HOOK))
    record.add(ended(Source.HOOK, **silent))
    assert record.add(ended(Source.TRANSCRIPT, success=False, exit_code=3)) == (Outcome.REVISED, 3)
    told = steps(home, record)[3]
    assert {"revises": 2, "success": False, "exit_code": 3}.items() <= told.meta.items()
    assert told.values["content.output"] == "x"
    assert ("agrees" in told.meta) == (silent == {"success": True})
    assert record.add(ended(Source.TRANSCRIPT, success=False, exit_code=3)) == (Outcome.KNOWN, 3)
    assert record.add(ended(Source.HOOK, **silent)) == (Outcome.KNOWN, 2)


def test_what_a_hook_says_after_a_transcript_never_outranks_it(home: Home, record: SessionRecord) -> None:
    record.add(ended(Source.TRANSCRIPT, success=False, exit_code=3))
    assert record.add(ended(Source.HOOK))[0] is Outcome.CORROBORATED
    assert [step.meta.get("revises") for step in steps(home, record)] == [None, None, None]


def test_one_of_two_who_do_not_outrank_each_other_stands_beside(home: Home, record: SessionRecord) -> None:
    record.add(ended(Source.ACP))
    assert record.add(ended(Source.TRANSCRIPT, success=False)) == (Outcome.CORROBORATED, 1)
