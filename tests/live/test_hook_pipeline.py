"""What one delivery after another becomes: recorded once, joined, decided, answered."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from tallystick.agents.hooks import SILENT, HookAdapter, HookCommand, Payload, Reply, SettingsFile
from tallystick.agents.hooks.payload import payload_of
from tallystick.errors import JournalError
from tallystick.guard.policy_change import Change
from tallystick.journal.home import Home
from tallystick.journal.read import read_session
from tallystick.journal.signing import signer_place
from tallystick.live.delivery import Delivery, Unfinished
from tallystick.live.helpers import Helpers
from tallystick.live.hook_pipeline import Done, HookPipeline
from tallystick.live.presence import Processes
from tallystick.model.decision import NO_OPINION, Call, Decision, Effect, Evidence
from tallystick.model.recorded import Recorded
from tallystick.model.step import Opening, Source, Step
from tallystick.policy.settings import Profile
from tallystick.recording.session_writer import SessionWriter
from tests.support.at_once import at_once, take


class Nothing:
    """No transcripts: what is asked of them is noted."""

    def __init__(self) -> None:
        self.watched: list[tuple[str, str, str]] = []
        self.finished: list[tuple[str, str]] = []

    def watch(self, agent: str, session: str, path: str) -> None:
        self.watched.append((agent, session, path))

    def poll(self, agent: str | None = None, session: str | None = None) -> bool:
        return False

    def finish(self, agent: str, session: str) -> None:
        self.finished.append((agent, session))

    def close(self) -> None:
        pass


class Nameless:
    """An agent whose hooks have no ids: `{"session", "event", "tool", "args", "output"}`."""

    NAME = "nameless"
    EVENTS: tuple[str, ...] = ("before", "after", "end")

    def settings(self, *, project: bool) -> tuple[SettingsFile, ...]:
        return ()

    def configure(self, file: SettingsFile, content: bytes, hook: HookCommand) -> bytes:
        return content

    def remove(self, file: SettingsFile, content: bytes) -> bytes:
        return content

    def hooked(self, file: SettingsFile, content: bytes) -> tuple[str, ...]:
        return ()

    def parse(self, data: bytes, event: str | None) -> Payload:
        said = payload_of(data)
        session, name = said.need("session"), said.need("event")
        values = {"content.args": said.json.get("args")}
        kind = {"before": "tool_call", "after": "tool_result"}.get(name)
        steps: list[Any] = [Opening(session=session, agent=self.NAME, source=Source.HOOK)]
        if kind is not None:
            meta = said.members(("tool", "tool"))
            if name == "after":
                values["content.output"] = said.json.get("output")
            steps.append(Step(session=session, type=kind, source=Source.HOOK, meta=meta, values=values))
        asks = None
        if name == "before":
            asks = Call(agent=self.NAME, session=session, tool=said.text("tool") or "?", args=said.json.get("args"))
        return Payload(
            event=name,
            session=session,
            events=tuple(steps),
            asks=asks,
            transcript=said.text("file"),
            begins=name == "begin",
            ends=name == "end",
            timed="at" in said.json,
        )

    def reply(self, payload: Payload, decision: Decision) -> Reply:
        return Reply(stdout=decision.effect.value.encode())


def adapter(agent: str) -> HookAdapter | None:
    return Nameless() if agent == "nameless" else None


def delivery(event: str, *, id: str = "-", spooled: bool = False, **said: Any) -> Delivery:
    data = json.dumps({"session": "s", "event": event, **said}).encode()
    return Delivery(agent="nameless", data=data, id=id, received="2026-11-22T02:00:00Z", spooled=spooled)


class Recording:
    """A Live over a store of its own, with a clock that stands still until it is moved."""

    def __init__(self, folder: Path, processes: Processes | None = None) -> None:
        self.home = Home(folder)
        self.processes = processes
        self.transcripts = Nothing()
        self.now = 0.0
        self.decision = NO_OPINION
        self.open()

    def open(self) -> None:
        self.session_writer = SessionWriter(self.home)
        self.live = HookPipeline(
            self.session_writer,
            Helpers(at_once(lambda _: self.decision), self.transcripts, adapter=adapter, processes=self.processes),
            monotonic=lambda: self.now,
        )

    def restart(self) -> None:
        self.session_writer.close()
        self.open()

    def tell(self, event: str, *, id: str = "-", spooled: bool = False, **said: Any) -> Reply:
        return take(self.live, delivery(event, id=id, spooled=spooled, **said))

    def begin(self, event: str, **said: Any) -> Done:
        """As `tell`, but the disk is not waited for."""
        found: list[Done | Exception] = []
        self.live.begin(delivery(event, **said), found.append)
        assert isinstance(found[0], Done)
        return found[0]

    def steps(self, agent: str = "nameless") -> list[Recorded]:
        sid = self.session_writer.archive.find(agent, "s" if agent == "nameless" else "recorder")
        return [] if sid is None else list(read_session(self.home, sid))


@pytest.fixture
def recording(tmp_path: Path) -> Iterator[Recording]:
    made = Recording(tmp_path / "store")
    yield made
    made.session_writer.close()


def corr(steps: list[Recorded], kind: str) -> list[object]:
    return [step.member("corr") for step in steps if step.type == kind]


def test_a_result_without_an_id_belongs_to_the_oldest_open_call_of_the_same_tool_and_arguments(
    recording: Recording,
) -> None:
    recording.tell("before", tool="sh", args={"c": 1})
    recording.tell("before", tool="sh", args={"c": 2})
    recording.tell("before", tool="sh", args={"c": 1})
    recording.tell("after", tool="sh", args={"c": 2}, output="two")
    recording.tell("after", tool="sh", args={"c": 1}, output="one")
    first, second, third = corr(recording.steps(), "tool_call")
    assert corr(recording.steps(), "tool_result") == [second, first]
    recording.tell("after", tool="sh", args={"c": 1}, output="one again")
    assert corr(recording.steps(), "tool_result") == [second, first, third]


def test_open_calls_are_known_again_after_a_restart(recording: Recording) -> None:
    recording.tell("before", tool="sh", args={"c": 1})
    recording.restart()
    recording.tell("after", tool="sh", args={"c": 1}, output="one")
    assert corr(recording.steps(), "tool_result") == corr(recording.steps(), "tool_call")


@pytest.mark.parametrize("again", [True, False])
def test_a_call_that_was_cut_off_gets_no_result_of_the_session_that_is_resumed(
    recording: Recording, again: bool
) -> None:
    recording.tell("before", tool="sh", args={"c": 1})
    recording.tell("end")
    recording.now += 10
    recording.live.tick()
    if again:
        recording.restart()
    recording.tell("begin")
    recording.tell("before", tool="sh", args={"c": 1})
    recording.tell("after", tool="sh", args={"c": 1}, output="one")
    _, resumed = corr(recording.steps(), "tool_call")
    assert corr(recording.steps(), "tool_result") == [resumed]


@given(st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 2)), max_size=12), st.randoms())
def test_every_result_finds_a_call_of_its_own(
    tmp_path_factory: pytest.TempPathFactory, calls: list[tuple[str, int]], random: Any
) -> None:
    recording = Recording(tmp_path_factory.mktemp("law") / "store")
    for tool, number in calls:
        recording.tell("before", tool=tool, args=number)
    ended = list(calls)
    random.shuffle(ended)
    for tool, number in ended:
        recording.tell("after", tool=tool, args=number)
    steps = recording.steps()
    asked = {
        step.member("corr"): (step.meta["tool"], step.values["content.args"])
        for step in steps
        if step.type == "tool_call"
    }
    answered = [step.member("corr") for step in steps if step.type == "tool_result"]
    assert len(set(answered)) == len(calls)
    assert [asked[call] for call in answered] == ended
    recording.session_writer.close()


def test_one_process_that_delivers_twice_is_recorded_once_even_by_two_recorders(recording: Recording) -> None:
    recording.tell("before", id="7.1", tool="sh", args=1)
    recording.tell("before", id="7.1", tool="sh", args=1)
    recording.restart()
    recording.tell("before", id="7.1", tool="sh", args=1, spooled=False)
    recording.tell("before", id="8.1", tool="sh", args=1)
    assert len(corr(recording.steps(), "tool_call")) == 2


def test_the_same_event_told_by_two_handlers_is_recorded_once_and_answered_twice(recording: Recording) -> None:
    recording.decision = Decision(effect=Effect.DENY, reason="no")
    replies = [recording.tell("before", id=id, tool="sh", args=1, at=5) for id in ("7.1", "8.1")]
    assert replies == [Reply(stdout=b"deny")] * 2
    assert len(corr(recording.steps(), "tool_call")) == 1
    recording.now = 60.0
    recording.tell("before", id="9.1", tool="sh", args=1, at=5)
    assert len(corr(recording.steps(), "tool_call")) == 2


@pytest.mark.parametrize("effect", [Effect.WARN, Effect.ASK, Effect.DENY])
def test_a_decision_is_a_step_within_its_call(recording: Recording, effect: Effect) -> None:
    recording.decision = Decision(effect=effect, rules=("r1",), reason="because", policy="ab" * 32)
    reply = recording.tell("before", tool="sh", args=1)
    call, decided, alert = recording.steps()[-3:]
    assert (alert.type, alert.meta["effect"], alert.meta["parent"]) == ("alert", effect.value, call.n)
    assert (decided.type, decided.meta["effect"], decided.meta["parent"]) == ("decision", effect.value, call.n)
    assert decided.member("rules") == ["r1"]
    assert decided.text("content.text") == "because"
    assert reply == (SILENT if effect is Effect.WARN else Reply(stdout=effect.value.encode()))


def test_a_decision_and_its_alert_have_the_severity_and_the_evidence_of_the_rule(recording: Recording) -> None:
    found = Evidence(rule="r1", action="delete", target="/x", because=("rm", "/x"))
    recording.decision = Decision(
        effect=Effect.DENY, rules=("r1",), severity="critical", evidence=(found,), remedy="Ask the user."
    )
    recording.tell("before", tool="sh", args=1)
    decided, alert = recording.steps()[-2:]
    assert (decided.meta["severity"], alert.meta["severity"]) == ("critical", "critical")
    said = [{"rule": "r1", "action": "delete", "target": "/x", "because": ["rm", "/x"]}]
    assert decided.values["content.evidence"] == said
    assert decided.text("content.remedy") == "Ask the user."
    assert json.loads(alert.text("content.evidence") or "")["found"] == said


def test_policies_that_cannot_be_used_give_an_alert(recording: Recording) -> None:
    change = Change(digest="ab" * 32, before=None, profile=Profile.STANDARD, rules=1, files=(), error="a.cedar:3: no")
    recording.live.note_policies(change)
    told, alert = recording.steps("tallystick")[-2:]
    assert (told.type, told.member("reason")) == ("policy_change", "broken")
    assert (alert.type, alert.meta["rule"], alert.meta["severity"]) == ("alert", "tally.broken-policy", "high")
    assert alert.text("content.text") == "a.cedar:3: no"
    recording.live.note_policies(replace(change, error=None))
    assert recording.steps("tallystick")[-1].type == "policy_change"


@pytest.mark.parametrize("effect", [Effect.ASK, Effect.DENY])
def test_a_call_that_was_refused_is_marked_on_the_next_tick(recording: Recording, effect: Effect) -> None:
    recording.decision = Decision(effect=effect, reason="no")
    recording.tell("before", tool="sh", args=1)
    recording.live.checkpoints.settle()
    decided, mark = (step for step in recording.steps() if step.type in ("decision", "checkpoint"))
    assert (mark.meta["trigger"], mark.meta["position"]) == ("policy_applied", decided.n)
    assert mark.meta["position_hash"] == decided.hash
    assert mark.values["content.label"] == f"{effect.value} sh: no"
    assert recording.live.checkpoints.counts.made == 1


def test_a_call_that_was_let_go_is_not_marked(recording: Recording) -> None:
    recording.decision = Decision(effect=Effect.ALLOW, reason="fine", would=Effect.DENY)
    recording.tell("before", tool="sh", args=1)
    recording.live.close()
    assert [step.type for step in recording.steps()] == ["session_start", "tool_call", "decision"]


def test_what_waits_to_be_marked_is_marked_before_the_session_ends(recording: Recording) -> None:
    recording.decision = Decision(effect=Effect.DENY, reason="no")
    recording.tell("before", tool="sh", args=1)
    recording.tell("end")
    recording.live.close()
    assert [step.type for step in recording.steps()][-2:] == ["checkpoint", "session_end"]


def test_settings_that_were_changed_by_hand_are_recorded(recording: Recording) -> None:
    recording.home.config.write_text("[checkpoints]\nenabled = 'off'\n")
    recording.live.tick()
    recording.live.tick()
    changes = [step for step in recording.steps("tallystick") if step.type == "config_change"]
    assert [(step.meta["key"], step.values["content.after"]) for step in changes] == [("checkpoints.enabled", "off")]


class Disk:
    """How much of each file would survive a loss of power, as far as this process asked for it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._sizes: dict[int, int] = {}
        self._sync, self._sync_folder = os.fdatasync, os.fsync
        monkeypatch.setattr(os, "fdatasync", self._data_synced)
        monkeypatch.setattr(os, "fsync", self._synced)

    def _data_synced(self, descriptor: int) -> None:
        self._sync(descriptor)
        self._note(descriptor)

    def _synced(self, descriptor: int) -> None:
        self._sync_folder(descriptor)
        self._note(descriptor)

    def _note(self, descriptor: int) -> None:
        status = os.fstat(descriptor)
        self._sizes[status.st_ino] = status.st_size

    def kept(self, path: Path) -> bytes:
        """The bytes of a file that are safe, none if its name is not."""
        if path.parent.stat().st_ino not in self._sizes:
            return b""
        return path.read_bytes()[: self._sizes.get(path.stat().st_ino, 0)]


@pytest.mark.parametrize("effect", [Effect.ALLOW, Effect.WARN, Effect.ASK, Effect.DENY])
def test_the_intent_of_a_call_is_on_disk_before_its_answer_is_given(
    recording: Recording, monkeypatch: pytest.MonkeyPatch, effect: Effect
) -> None:
    """Without a signer, too: what a call was about to do is known though the machine loses power while it runs."""
    assert signer_place(recording.home) is None
    disk = Disk(monkeypatch)
    recording.decision = Decision(effect=effect, rules=("r1",), reason="because")
    for number in range(3):
        settle = recording.begin("before", tool="sh", args={"marked": f"call-{number}"}).settle
        if settle is not None:  # else what syncs now and then was quicker
            recording.live.settled(settle)
        journal = recording.home.journal(recording.steps()[0].session)
        assert journal is not None
        assert f"call-{number}".encode() in disk.kept(journal)
        assert disk.kept(journal).endswith(b"\n")
        assert (b'"decision"' in disk.kept(journal)) == (effect is not Effect.ALLOW)
        recording.tell("before", tool="sh", args={"marked": f"whole-{number}"})
        assert f"whole-{number}".encode() in disk.kept(journal)


def test_what_is_told_of_a_call_that_ran_is_not_waited_for(recording: Recording) -> None:
    recording.tell("before", tool="sh", args=1)
    settle = recording.begin("after", tool="sh", args=1, output="done").settle
    assert settle is None


def test_no_opinion_is_no_step_and_no_word(recording: Recording) -> None:
    assert recording.tell("before", tool="sh", args=1) == SILENT
    assert [step.type for step in recording.steps()] == ["session_start", "tool_call"]


def test_an_ended_session_is_closed_when_its_transcript_is_quiet(recording: Recording) -> None:
    recording.tell("before", tool="sh", args=1, file="/t.jsonl")
    recording.tell("end")
    recording.live.tick()
    assert recording.steps()[-1].type != "session_end"
    assert recording.live.unfinished == [Unfinished(agent="nameless", session="s", transcript="/t.jsonl", ending=True)]
    recording.now = 3.0
    recording.live.tick()
    assert recording.steps()[-1].type == "session_end"
    assert recording.transcripts.finished == [("nameless", "s")]
    assert recording.live.unfinished == []


def test_the_next_recorder_follows_and_closes_what_the_last_one_left(recording: Recording) -> None:
    recording.tell("before", tool="sh", args=1, file="/t.jsonl")
    recording.tell("end")
    left = recording.live.unfinished
    recording.restart()
    recording.live.resume(left)
    assert recording.transcripts.watched[-1] == ("nameless", "s", "/t.jsonl")
    recording.now = 3.0
    recording.live.tick()
    assert recording.steps()[-1].type == "session_end"


def test_what_cannot_be_written_is_answered_anyway_and_told_as_a_gap_later(
    recording: Recording, monkeypatch: pytest.MonkeyPatch
) -> None:
    recording.decision = Decision(effect=Effect.DENY, reason="no")
    with monkeypatch.context() as failing:
        failing.setattr(recording.session_writer, "add_to", _full)
        assert recording.tell("before", tool="sh", args=1) == Reply(stdout=b"deny")
    assert recording.live.unrecorded == 1
    recording.tell("before", tool="sh", args=2)
    gap = recording.steps("tallystick")[-1]
    assert (gap.type, gap.meta["reason"], gap.meta["events"]) == ("gap", "not-writable", 1)
    assert recording.live.unrecorded == 0


def test_however_many_deliveries_are_missed_the_gap_counts_all_of_them(
    recording: Recording, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as failing:
        failing.setattr(recording.session_writer, "add_to", _full)
        for number in range(1100):
            recording.tell("before", tool="sh", args=number)
    assert recording.live.unrecorded == 1100
    recording.tell("before", tool="sh", args=-1)
    assert recording.steps("tallystick")[-1].meta["events"] == 1100


def test_a_spooled_delivery_that_the_disk_refused_is_recorded_when_it_is_taken_again(
    recording: Recording, monkeypatch: pytest.MonkeyPatch
) -> None:
    recording.tell("before", id="6.1", tool="sh", args=0)
    with monkeypatch.context() as failing:
        failing.setattr(recording.session_writer, "add_to", _full)
        with pytest.raises(JournalError):
            recording.tell("before", id="7.1", spooled=True, tool="sh", args=1)
    for _ in range(2):
        recording.tell("before", id="7.1", spooled=True, tool="sh", args=1)
    calls = [step.values["content.args"] for step in recording.steps() if step.type == "tool_call"]
    assert calls == [0, 1]


@pytest.mark.parametrize("error", [JournalError("the index is locked"), RuntimeError("a fault of ours")])
def test_a_fault_of_the_second_witness_does_not_take_what_the_hook_told(
    recording: Recording, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def fail(*_: object) -> bool:
        raise error

    monkeypatch.setattr(recording.transcripts, "poll", fail)
    recording.tell("before", tool="sh", args=1, file="/t.jsonl")
    assert [step.type for step in recording.steps()] == ["session_start", "tool_call"]
    assert recording.live.counts.lost == 0
    assert str(error) in (recording.live.counts.last_error or "")


def test_one_event_that_cannot_be_sealed_does_not_take_the_others_of_its_delivery(
    recording: Recording, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad = Step(session="s", type="no type at all", source=Source.HOOK, source_id="x")
    parse = Nameless.parse

    def with_a_bad_one(self: Nameless, data: bytes, event: str | None) -> Payload:
        payload = parse(self, data, event)
        return replace(payload, events=(bad, *payload.events))

    monkeypatch.setattr(Nameless, "parse", with_a_bad_one)
    recording.tell("before", tool="sh", args=1)
    assert [step.type for step in recording.steps()] == ["session_start", "tool_call"]
    assert [step.meta["reason"] for step in recording.steps("tallystick") if step.type == "gap"] == ["unrecordable"]


def test_a_session_that_could_not_be_closed_on_a_full_disk_is_closed_later(
    recording: Recording, monkeypatch: pytest.MonkeyPatch
) -> None:
    recording.tell("before", tool="sh", args=1)
    recording.tell("end")
    recording.now = 3.0
    with monkeypatch.context() as failing:
        failing.setattr(recording.session_writer, "add_to", _full)
        recording.live.tick()
    recording.live.tick()
    assert recording.steps()[-1].type == "session_end"
    assert not recording.live.is_busy


def _full(*_: object, **__: object) -> None:
    raise JournalError("no space left on device", hint="make room")


def test_a_payload_that_cannot_be_understood_is_a_gap(recording: Recording) -> None:
    bad = Delivery(agent="nameless", data=b"{", received="2026-11-22T02:00:00Z")
    unknown = Delivery(agent="nobody", data=b"{}", received="2026-11-22T02:00:00Z")
    assert [take(recording.live, bad), take(recording.live, unknown)] == [SILENT, SILENT]
    assert [step.meta["reason"] for step in recording.steps("tallystick") if step.type == "gap"] == ["bad-payload"] * 2
    assert recording.live.counts.refused == 2
