"""Who is there, and what becomes of a session whose agent is gone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from tallystick.agents.hooks import Payload
from tallystick.capture.agent_process import AgentProcess
from tallystick.live.presence import Attended, Presence, Processes, unfinished
from tallystick.model.step import Step
from tallystick.sessions.states import Status
from tests.live.test_hook_pipeline import Recording, delivery, recording
from tests.support.at_once import take
from tests.support.cases import each

__all__ = ["recording"]


class Machine:
    """A clock, and processes that run until they are ended."""

    def __init__(self) -> None:
        self.now = 100.0
        self.asked = 0
        self.running = {7, 8}
        self.presence = Presence(lambda: self.now, Processes(self.above, lambda one: one.pid in self.running))

    def above(self, pid: int) -> AgentProcess | None:
        self.asked += 1
        return AgentProcess(pid, 1) if pid in self.running else None

    def end(self, pid: int) -> list[Attended]:
        self.running.discard(pid)
        self.now += 2
        return self.presence.gone()


def said(event: str, *kinds: str, session: str = "s", begins: bool = False, ends: bool = False) -> Payload:
    events = tuple(Step(session=session, type=kind) for kind in kinds)
    return Payload(event=event, session=session, events=events, begins=begins, ends=ends)


@each(
    "told, status",
    [
        ([("PreToolUse", "tool_call")], "failed"),
        ([("PreToolUse", "tool_call"), ("Stop", "assistant")], "completed"),
        ([("Stop", "assistant"), ("SessionStart",)], "completed"),
        ([("Stop", "assistant"), ("UserPromptSubmit", "user")], "failed"),
    ],
)
def test_a_session_whose_agent_is_gone_failed_unless_the_agent_had_done_what_it_was_asked(
    told: list[tuple[str, ...]], status: str
) -> None:
    machine = Machine()
    for event, *kinds in told:
        machine.presence.note("claude-code", said(event, *kinds), 7)
    assert machine.presence.gone() == []
    [gone] = machine.end(7)
    assert gone.end == {"status": status, "reason": "agent-gone"}
    assert machine.presence.attended() == []


def test_a_process_is_asked_for_once_and_again_where_a_session_begins() -> None:
    machine = Machine()
    for event, begins in (("SessionStart", True), ("PreToolUse", False), ("PreToolUse", False)):
        machine.presence.note("claude-code", said(event, begins=begins), 7)
    assert machine.asked == 1
    assert machine.presence.note("claude-code", said("SessionStart", begins=True), 8)
    assert machine.end(7) == []
    assert [one.process.pid for one in machine.end(8)] == [8]


def test_it_is_not_looked_all_the_time() -> None:
    machine = Machine()
    machine.presence.note("claude-code", said("PreToolUse", "tool_call"), 7)
    assert machine.presence.gone() == []
    machine.running.clear()
    machine.now += 1
    assert machine.presence.gone() == []
    machine.now += 1
    assert len(machine.presence.gone()) == 1


@each("peer", [None, 99])
def test_where_no_process_is_known_nothing_is_said(peer: int | None) -> None:
    machine = Machine()
    assert not machine.presence.note("claude-code", said("PreToolUse", "tool_call"), peer)
    machine.running.clear()
    assert machine.end(7) == []


def test_what_is_resumed_by_another_process_is_that_ones_without_a_word_of_it() -> None:
    machine = Machine()
    machine.presence.note("opencode", said("chat.message", "user"), 7)
    assert len(machine.end(7)) == 1
    assert not machine.presence.note("opencode", said("chat.message", "user"), 8)
    assert machine.presence.note("opencode", said("session.idle", "assistant"), 8)
    [gone] = machine.end(8)
    assert gone.end == {"status": "completed", "reason": "agent-gone"}


def test_what_goes_on_although_its_process_is_gone_has_another_one_and_is_left_alone() -> None:
    machine = Machine()
    machine.presence.note("claude-code", said("PreToolUse", "tool_call"), 7)
    assert len(machine.end(7)) == 1
    assert not machine.presence.note("claude-code", said("PreToolUse", "tool_call"), 8)
    assert machine.end(8) == []
    machine.running.add(8)
    assert machine.presence.note("claude-code", said("SessionStart", begins=True), 8)
    assert len(machine.end(8)) == 1


def test_of_very_many_processes_some_are_looked_for_at_a_time() -> None:
    machine = Machine()
    machine.running = set(range(1, 41))
    for pid in machine.running:
        machine.presence.note("claude-code", said("PreToolUse", "tool_call", session=f"s{pid}"), pid)
    assert [len(machine.end(pid)) for pid in (40, 1, 2)] == [0, 1, 2]


def test_who_looks_for_the_last_time_looks_at_once_and_at_all_of_them() -> None:
    machine = Machine()
    machine.running = set(range(1, 41))
    for pid in machine.running:
        machine.presence.note("claude-code", said("PreToolUse", "tool_call", session=f"s{pid}"), pid)
    assert machine.presence.gone() == []
    machine.running = {1}
    assert len(machine.presence.gone(for_the_last_time=True)) == 39
    assert [one.session for one in machine.presence.attended()] == ["s1"]


def test_what_has_ended_is_not_looked_after() -> None:
    machine = Machine()
    machine.presence.note("claude-code", said("PreToolUse", "tool_call"), 7)
    assert machine.presence.note("claude-code", said("SessionEnd", ends=True), 7)
    assert machine.end(7) == []


def test_the_next_recorder_goes_on() -> None:
    one = Attended("claude-code", "s/a", AgentProcess(7, 1), rests=True)
    told = unfinished(("claude-code", "s/a"), "/t.jsonl", one, is_ending=False)
    assert (told.pid, told.began_ms, told.rests, told.transcript, told.ending) == (7, 1, True, "/t.jsonl", False)
    assert unfinished(("claude-code", "s"), "", None, is_ending=True).pid == 0
    machine = Machine()
    machine.presence.resume((one,))
    assert list(machine.presence.below("claude-code", "s")) == [one]
    assert list(machine.presence.below("claude-code", "s/a")) == []
    assert [each.end["status"] for each in machine.end(7)] == ["completed"]


def test_no_more_than_some_thousands_are_known() -> None:
    machine = Machine()
    for number in range(4100):
        machine.presence.note("claude-code", said("PreToolUse", session=f"s{number}"), 7)
    assert len(machine.presence.attended()) == 4096


class Agents:
    """Agents' processes: those that run are as the test says."""

    def __init__(self) -> None:
        self.running = {7}

    def above(self, pid: int) -> AgentProcess | None:
        return AgentProcess(pid, 1)

    def is_running(self, process: AgentProcess) -> bool:
        return process.pid in self.running


@pytest.fixture
def attended(tmp_path: Path) -> Iterator[tuple[Recording, Agents]]:
    """A recorder that knows its agents' processes."""
    agents = Agents()
    made = Recording(tmp_path / "store", Processes(agents.above, agents.is_running))
    yield made, agents
    made.session_writer.close()


def test_the_sessions_of_an_agent_that_is_gone_end_as_failed(attended: tuple[Recording, Agents]) -> None:
    recording, agents = attended
    take(recording.live, replace(delivery("before", tool="sh", args=1, file="/t.jsonl"), peer=7))
    assert [one.pid for one in recording.live.unfinished] == [7]
    agents.running.clear()
    recording.now += 10
    recording.live.tick()
    ended = recording.steps()[-1]
    assert (ended.type, ended.meta["status"], ended.meta["reason"]) == ("session_end", "failed", "agent-gone")
    assert recording.transcripts.finished == [("nameless", "s")]
    assert recording.live.unfinished == []
    assert not recording.live.is_busy


def test_a_recorder_that_ends_looks_who_is_gone(attended: tuple[Recording, Agents]) -> None:
    recording, agents = attended
    take(recording.live, replace(delivery("before", tool="sh", args=1), peer=7))
    recording.live.tick()
    agents.running.clear()
    recording.live.tick(closing=True)
    assert [recording.steps()[-1].meta[member] for member in ("status", "reason")] == ["failed", "agent-gone"]


def test_a_recorder_looks_after_what_another_left(attended: tuple[Recording, Agents]) -> None:
    recording, agents = attended
    take(recording.live, replace(delivery("before", tool="sh", args=1), peer=7))
    left = recording.live.unfinished
    recording.restart()
    recording.live.resume(left)
    agents.running.clear()
    recording.now += 10
    recording.live.tick()
    assert recording.steps()[-1].type == "session_end"


def test_a_line_that_is_read_after_its_session_has_ended_does_not_reopen_it(recording: Recording) -> None:
    recording.tell("before", tool="sh", args=1)
    recording.tell("end")
    recording.now += 10
    recording.live.tick()
    record = recording.session_writer.writer.find("nameless", "s")
    assert record is not None
    for name in ("late", "later"):
        late = Step(session="s", type="assistant", source_id=name, values={"content.text": name})
        recording.session_writer.add_to(record, late)
    recording.session_writer.seal()
    assert [step.type for step in recording.steps()][-5:] == [
        *("session_end", "session_start", "assistant", "assistant", "session_end"),
    ]
    statuses = [record.status]
    recording.tell("before", tool="sh", args=2)
    assert [*statuses, record.status] == [Status.COMPLETED, Status.ACTIVE]
    recording.session_writer.seal()
    assert recording.steps()[-1].type == "tool_call"
