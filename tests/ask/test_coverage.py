from __future__ import annotations

from pathlib import Path

import pytest

from tallystick.ask.coverage import Coverage, State, coverage_of
from tallystick.errors import JournalError
from tallystick.journal.home import Home
from tallystick.model.step import Json, Opening, Ref, SessionKind, Source, Step
from tallystick.recording.record import SessionRecord
from tallystick.recording.writer import Writer
from tests.support.fixtures import ImportPaths

RECORDINGS = Path(__file__).parents[1] / "recordings"


class Account:
    """A session that a test lets several sources tell of."""

    def __init__(self, home: Home, writer: Writer, agent: str = "claude-code") -> None:
        self.home = home
        self.record: SessionRecord = writer.open(Opening(session="s", agent=agent))[0]

    def tell(self, kind: str, source_id: str, source: Source, **more: Json) -> None:
        members = {key: value for key, value in more.items() if not key.startswith("content_")}
        values = {f"content.{key.removeprefix('content_')}": value for key, value in more.items() if key not in members}
        self.record.add(Step(session="s", type=kind, source=source, source_id=source_id, meta=members, values=values))

    def tell_at(self, when: str, kind: str, source_id: str, source: Source, **more: Json) -> None:
        values = {"content.output": more.pop("content_output")} if "content_output" in more else {}
        step = Step(session="s", type=kind, source=source, source_id=source_id, ts=when, meta=more, values=values)
        self.record.add(step)

    def call(self, name: str, *sources: Source, tool: str = "Bash") -> None:
        for source in sources:
            self.tell("tool_call", name, source, tool=tool, corr=name, content_args={"command": name})

    def result(self, name: str, *sources: Source, **more: Json) -> None:
        for source in sources:
            self.tell("tool_result", f"{name}/result", source, corr=name, **{"content_output": "x", **more})

    def report(self) -> Coverage:
        self.record.flush_sightings()
        return coverage_of(self.home, self.record.sid)


BOTH = (Source.HOOK, Source.TRANSCRIPT)


@pytest.fixture
def account(home: Home, writer: Writer) -> Account:
    return Account(home, writer)


def test_what_two_sources_tell_alike_is_complete(account: Account) -> None:
    account.call("c1", *BOTH)
    account.result("c1", *BOTH)
    found = account.report()
    assert (found.state, found.reasons, found.is_corroborated) == (State.COMPLETE, (), True)
    assert (found.calls, found.results, found.sources) == (1, 1, {"hook": 2, "transcript": 2})
    assert (found.agent, found.source_session, found.is_open) == ("claude-code", "s", True)
    assert found.only == {}


def test_what_one_source_tells_is_complete_and_not_corroborated(account: Account) -> None:
    account.call("c1", Source.TRANSCRIPT)
    account.result("c1", Source.TRANSCRIPT)
    found = account.report()
    assert (found.state, found.reasons, found.is_corroborated) == (State.COMPLETE, (), False)
    assert found.remarks == ("only one source reported it: transcript",)
    assert found.answer == "nothing is missing so far"
    assert found.alone == ()
    assert found.only == {"transcript": {"tool_call": 1, "tool_result": 1}}


def test_a_step_that_another_source_should_have_told_is_named_with_what_may_explain_it(account: Account) -> None:
    account.call("c1", *BOTH)
    account.result("c1", Source.TRANSCRIPT)
    account.tell("model_call", "m", Source.TRANSCRIPT, model="x")
    account.tell("user", "u", Source.TRANSCRIPT, content_text="<summary>", origin="summary")
    found = account.report()
    (alone,) = found.alone
    assert (alone.step.type, alone.told_by, alone.missing) == ("tool_result", ("transcript",), "hook")
    assert "a call that the user rejected or interrupted has no hook after it" in alone.because
    assert set(alone.because) == set(found.blind_spots)
    assert found.state is State.PARTIAL
    assert found.only["transcript"] == {"model_call": 1, "tool_result": 1, "user": 1}


def test_calls_and_results_without_the_other_are_listed(account: Account) -> None:
    account.tell("user", "u", Source.TRANSCRIPT, content_text="go")
    account.call("c1", Source.TRANSCRIPT)
    account.result("c2", Source.TRANSCRIPT)
    account.tell("user", "u2", Source.TRANSCRIPT, content_text="go on")
    found = account.report()
    assert [name.n for name in found.without_result] == [2]
    assert [name.n for name in found.without_call] == [3]
    assert found.reasons == ("1 call without a result: 2 Bash", "1 result without a call: 3 tool_result")
    assert found.answer == "; ".join(found.reasons)


def test_a_call_at_the_end_of_what_was_read_is_still_running(account: Account) -> None:
    account.tell("model_call", "m", Source.TRANSCRIPT, model="x")
    account.call("c1", Source.TRANSCRIPT)
    account.call("c2", Source.TRANSCRIPT)
    account.result("c2", Source.TRANSCRIPT)
    found = account.report()
    assert (found.state, [name.n for name in found.running], found.without_result) == (State.COMPLETE, [2], ())
    assert "1 call had no result yet when it was read last: 2 Bash" in found.remarks
    account.tell("session_end", "end", Source.TRANSCRIPT, reason="exit")
    found = account.report()
    assert (found.state, found.reasons) == (State.PARTIAL, ("1 call without a result: 2 Bash",))


def test_a_call_that_a_compaction_cut_off_is_said_to_be_so(account: Account) -> None:
    account.call("c1", Source.TRANSCRIPT)
    account.tell("session_end", "end", Source.TRANSCRIPT, reason="compaction")
    assert account.report().reasons == ("1 call without a result, cut off by a compaction: 1 Bash",)


def test_an_interrupt_is_no_refusal_and_needs_no_result(account: Account) -> None:
    account.call("c1", Source.TRANSCRIPT)
    account.call("c2", Source.TRANSCRIPT)
    account.result("c2", Source.TRANSCRIPT, decision="deny", decided_by="user", success=False)
    account.tell(
        "user", "i", Source.TRANSCRIPT, content_text="[Request interrupted]", interrupted=True, origin="injected"
    )
    account.call("c3", Source.TRANSCRIPT)
    account.result("c3", Source.TRANSCRIPT, decision="deny", decided_by="user", success=False)
    account.tell("user", "u", Source.TRANSCRIPT, content_text="rather not")
    found = account.report()
    assert (found.state, found.interrupted, found.refused) == (State.COMPLETE, 2, 1)
    assert "2 calls that the user interrupted: 1 Bash, 2 Bash" in found.remarks


def test_a_call_of_which_the_agent_keeps_no_result_lacks_none(home: Home, writer: Writer) -> None:
    codex = Account(home, writer, "codex")
    codex.call("s1", Source.TRANSCRIPT, tool="web_search")
    codex.tell("user", "u", Source.TRANSCRIPT, content_text="go on")
    found = codex.report()
    assert (found.state, found.without_result) == (State.COMPLETE, ())
    assert "1 call of which the agent keeps no result: web_search" in found.remarks


def test_what_was_before_a_source_was_connected_is_not_missing_from_it(account: Account) -> None:
    for at, (name, sources) in enumerate((("c1", BOTH[1:]), ("c2", BOTH[1:]), ("c3", BOTH), ("c4", BOTH[1:]))):
        when = f"2026-11-21T10:0{at}:00.000000Z"
        for source in sources:
            account.tell_at(when, "tool_call", name, source, tool="Bash", corr=name)
            account.tell_at(when, "tool_result", f"{name}/result", source, corr=name, content_output="x")
    found = account.report()
    assert [item.step.n for item in found.alone] == [7, 8]
    assert "hook reported it from 2026-11-21 10:02 on, when it was connected" in found.remarks


def test_an_output_in_a_file_of_the_agent_is_missing_unless_it_was_read(account: Account) -> None:
    account.call("c1", Source.TRANSCRIPT)
    account.result("c1", Source.TRANSCRIPT, output_bytes=9, content_output_file="/h/a.txt", content_output_whole="x")
    assert (account.report().state, account.report().outputs[0].is_read) == (State.COMPLETE, True)
    account.call("c2", Source.TRANSCRIPT)
    account.result("c2", Source.TRANSCRIPT, output_bytes=9, content_output_file="/h/b.txt")
    found = account.report()
    said = "1 output of which only the beginning is in the record, the rest in /h/b.txt"
    assert (found.state, found.reasons) == (State.PARTIAL, (said,))
    assert [(output.path, output.size_bytes) for output in found.outputs] == [("/h/a.txt", 9), ("/h/b.txt", 9)]
    account.call("c3", Source.TRANSCRIPT)
    account.result("c3", Source.TRANSCRIPT, content_output_file="/h/b.txt")
    assert len(account.report().outputs) == 3  # a redacted path may be that of many


def test_a_sub_agent_without_a_session_is_named(account: Account, writer: Writer) -> None:
    for name in ("c1", "c2", "c3"):
        account.call(name, Source.TRANSCRIPT, tool="Task")
    account.result("c1", Source.TRANSCRIPT, success=True, agent_tokens=1_200)
    account.result("c2", Source.TRANSCRIPT, success=True)
    account.result("c3", Source.TRANSCRIPT, success=False)
    found = account.report()
    assert [name.n for name in found.unseen_agents] == [1, 2]
    said = "2 sub-agents without a transcript: 1 Task, 2 Task; at least 1,200 tokens of theirs are in no total"
    assert found.reasons == (said,)
    child = Opening(session="s/a", agent="claude-code", kind=SessionKind.CHILD, parent=Ref("c2", "s"))
    writer.open(child)
    assert [name.n for name in account.report().unseen_agents] == [1]


def test_the_sub_agent_of_a_sub_agent_may_be_told_as_the_roots(home: Home, writer: Writer, account: Account) -> None:
    account.call("c1", Source.HOOK, tool="Agent")
    account.tell("subagent_start", "x", Source.HOOK)
    child = writer.open(Opening(session="s/a", agent="claude-code", kind=SessionKind.CHILD, parent=Ref("c1", "s")))[0]
    for kind, name in (("tool_call", "c2"), ("tool_result", "c2/result")):
        child.add(Step(session="s/a", type=kind, source_id=name, meta={"tool": "Agent", "corr": "c2"}))
    child.flush_sightings()
    assert [name.n for name in coverage_of(home, child.sid).unseen_agents] == [1]
    writer.open(Opening(session="s/b", agent="claude-code", kind=SessionKind.CHILD, parent=Ref("x", "s")))
    assert coverage_of(home, child.sid).unseen_agents == ()


def test_a_sub_agent_that_only_its_parent_shows_is_partial(home: Home, writer: Writer) -> None:
    record = writer.open(Opening(session="s/a", agent="claude-code", meta={"partial": True}))[0]
    found = coverage_of(home, record.sid)
    assert found.state is State.PARTIAL
    assert "its own transcript was not read" in found.answer


@pytest.mark.parametrize(
    ("calls", "state", "said"),
    [
        (2, State.COMPLETE, "its parent's transcript shows all of its calls; what it used is at least what is shown"),
        (1, State.PARTIAL, "its own transcript was not read: its parent's shows 1 of its 2 calls"),
    ],
)
def test_whether_a_parent_shows_all_calls_of_a_sub_agent_is_counted(
    account: Account, writer: Writer, calls: int, state: State, said: str
) -> None:
    account.call("c1", Source.TRANSCRIPT, tool="Task")
    account.result("c1", Source.TRANSCRIPT, agent_id="a", agent_calls=2)
    opening = Opening(
        session="s/a", agent="claude-code", kind=SessionKind.CHILD, parent=Ref("c1", "s"), meta={"partial": True}
    )
    child = writer.open(opening)[0]
    for name in ("x", "y")[:calls]:
        for kind, source_id in (("tool_call", name), ("tool_result", f"{name}/result")):
            meta: dict[str, Json] = {"tool": "Bash", "corr": name}
            child.add(Step(session="s/a", type=kind, source=Source.TRANSCRIPT, source_id=source_id, meta=meta))
    child.flush_sightings()
    account.record.flush_sightings()
    found = coverage_of(account.home, child.sid)
    assert found.state is state
    assert said in (*found.reasons, *found.remarks)


def test_a_session_of_nothing_but_its_beginning_says_so(home: Home, writer: Writer) -> None:
    record = writer.open(Opening(session="s", agent="claude-code"))[0]
    found = coverage_of(home, record.sid)
    assert (found.state, found.remarks) == (State.COMPLETE, ("it has no steps of its own but its beginning",))


def test_the_result_of_a_call_that_was_named_twice_is_its_result(account: Account) -> None:
    account.tell("tool_call", "hook/1", Source.HOOK, tool="Bash", corr="hook/1", content_args={"command": "c1"})
    account.tell("tool_result", "hook/1/result", Source.HOOK, corr="hook/1", content_output="x")
    account.call("c1", Source.TRANSCRIPT)
    account.result("c1", Source.TRANSCRIPT)
    assert account.report().state is State.COMPLETE


def test_a_refused_call_needs_no_result(account: Account) -> None:
    account.call("c1", *BOTH)
    account.tell("decision", "c1/decision", Source.HOOK, effect="deny", corr="c1")
    account.result("c1", Source.TRANSCRIPT, decision="deny", success=False)
    account.call("c2", *BOTH)
    account.tell("decision", "c2/decision", Source.HOOK, effect="deny", corr="c2")
    found = account.report()
    assert (found.state, found.refused, found.without_result, found.alone) == (State.COMPLETE, 2, (), ())


def test_a_contradiction_is_told_and_an_addition_is_none(account: Account) -> None:
    account.call("c1", *BOTH)
    account.result("c1", Source.HOOK, success=True)
    account.result("c1", Source.TRANSCRIPT, content_patch="p", success=True)
    assert account.report().contradictions == ()
    account.call("c2", *BOTH)
    account.result("c2", Source.HOOK)
    account.result("c2", Source.TRANSCRIPT, content_output="y")
    account.call("c3", *BOTH)
    account.result("c3", Source.HOOK, success=True)
    account.result("c3", Source.TRANSCRIPT, success=False)
    found = account.report()
    assert len(found.contradictions) == 2
    assert found.reasons == ("2 steps that two sources report differently: 6 tool_result, 9 tool_result",)


@pytest.mark.parametrize(
    ("kind", "members"),
    [("gap", {"reason": "not-writable"}), ("warning", {"about": "transcript", "change": "cut"})],
)
def test_a_gap_degrades(account: Account, kind: str, members: dict[str, Json]) -> None:
    account.call("c1", *BOTH)
    account.result("c1", *BOTH)
    account.record.add(Step(session="s", type="warning", source=Source.HOOK, meta={"event": "turn-failed"}))
    assert account.report().state is State.COMPLETE
    account.record.add(Step(session="s", type=kind, source=Source.WATCH, meta=members))
    found = account.report()
    assert (found.state, [name.type for name in found.gaps]) == (State.DEGRADED, [kind])
    assert found.sources == {"hook": 3, "transcript": 2}


def test_steps_that_came_late_are_counted(account: Account) -> None:
    account.tell("user", "u", Source.HOOK, content_text="hi", spooled=True, authenticated=False)
    assert account.report().late == 1


def test_what_readers_left_out_is_told_and_damage_degrades(
    home: Home, import_paths: ImportPaths, tmp_path: Path
) -> None:
    recording = sorted(RECORDINGS.glob("claude-code/**/*.jsonl"))[0]
    path = tmp_path / recording.name
    path.write_bytes(recording.read_bytes())
    import_paths(path)
    (sid,) = home.session_ids()
    before = coverage_of(home, sid)
    assert before.state is State.COMPLETE
    path.write_bytes(recording.read_bytes() + b"{broken\n")
    import_paths(path)
    found = coverage_of(home, sid)
    assert found.state is State.DEGRADED
    assert found.skipped["bad_line"] == 1
    assert "1 line of its files could not be read" in found.reasons
    with path.open("ab") as file:
        file.write(b'{"type": "summary", "leafUuid": "x", "summary": "more"}\n')
    import_paths(path)
    again = coverage_of(home, sid)
    assert (again.state, again.damaged) == (State.DEGRADED, {"bad_line": 1})


def test_of_a_session_that_is_not_there_nothing_can_be_told(home: Home) -> None:
    with pytest.raises(JournalError, match="no journal"):
        coverage_of(home, "0" * 32)


def test_a_session_of_the_recorder_itself_tells_of_gaps(home: Home, writer: Writer) -> None:
    own = Account(home, writer, "tallystick")
    own.record.add(Step(session="s", type="gap", source=Source.WATCH, after=(Ref(),)))
    found = own.report()
    assert (found.state, found.reasons) == (
        State.DEGRADED,
        ("1 gap in the record, or in what it was made from: 1 gap",),
    )
