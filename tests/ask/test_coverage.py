from __future__ import annotations

from pathlib import Path

import pytest

from tallystick.ask.coverage import Coverage, State, coverage_of
from tallystick.errors import JournalError
from tallystick.journal.home import Home
from tallystick.model.step import Json, Opening, Ref, Source, Step
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
    assert (found.state, found.reasons) == (State.COMPLETE, ())
    assert (found.calls, found.results, found.sources) == (1, 1, {"hook": 2, "transcript": 2})
    assert (found.agent, found.source_session, found.is_open) == ("claude-code", "s", True)
    assert found.only == {}


def test_what_one_source_tells_is_partial(account: Account) -> None:
    account.call("c1", Source.TRANSCRIPT)
    account.result("c1", Source.TRANSCRIPT)
    found = account.report()
    assert (found.state, found.reasons) == (State.PARTIAL, ("only one source reported it: transcript",))
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
    account.call("c1", *BOTH)
    account.result("c2", *BOTH)
    found = account.report()
    assert [name.n for name in found.without_result] == [1]
    assert [name.n for name in found.without_call] == [2]
    assert found.reasons == ("1 call without a result", "1 result without a call")


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
    assert found.reasons == ("2 steps that two sources report differently",)


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
    assert before.state is State.PARTIAL
    path.write_bytes(recording.read_bytes() + b"{broken\n")
    import_paths(path)
    found = coverage_of(home, sid)
    assert found.state is State.DEGRADED
    assert found.skipped["bad_line"] == 1
    assert "1 line of its files could not be read" in found.reasons


def test_of_a_session_that_is_not_there_nothing_can_be_told(home: Home) -> None:
    with pytest.raises(JournalError, match="no journal"):
        coverage_of(home, "0" * 32)


def test_a_session_of_the_recorder_itself_tells_of_gaps(home: Home, writer: Writer) -> None:
    own = Account(home, writer, "tallystick")
    own.record.add(Step(session="s", type="gap", source=Source.WATCH, after=(Ref(),)))
    found = own.report()
    assert (found.state, found.reasons[-1]) == (State.DEGRADED, "no source reported it directly")
