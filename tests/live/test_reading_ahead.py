"""A session with a long journal is read beside the deliveries; only its own wait for that."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tallystick.ingest.adapters import adapters
from tallystick.ingest.transcript_follower import TranscriptFollower
from tallystick.journal.home import Home
from tallystick.journal.read import read_session
from tallystick.live.delivery import Delivery, Unfinished
from tallystick.live.helpers import Helpers
from tallystick.live.hook_pipeline import Done, HookPipeline
from tallystick.model.decision import NO_OPINION
from tallystick.model.step import Source, Step
from tallystick.recording.session_writer import SessionWriter
from tests.support.at_once import at_once

LONG = 300
"""Steps, which take more than a megabyte."""


class Later:
    """Work that is done when the test says so."""

    def __init__(self) -> None:
        self.waiting: list[tuple[Callable[[], None], Callable[[], None]]] = []

    def __call__(self, work: Callable[[], None], then: Callable[[], None]) -> None:
        self.waiting.append((work, then))

    def do(self) -> None:
        for work, then in self.waiting:
            work()
            then()
        self.waiting.clear()


class Recording:
    def __init__(self, folder: Path) -> None:
        self.home, self.later = Home(folder), Later()
        with SessionWriter(self.home) as session_writer:
            for number in range(LONG):
                values = {"content.text": f"{number} " * 1_000}
                step = Step(session="long", type="prompt", source=Source.HOOK, source_id=f"p{number}", values=values)
                session_writer.add("claude-code", step)
        self.session_writer = SessionWriter(self.home)
        follower = TranscriptFollower(self.session_writer, adapters())
        helpers = Helpers(at_once(lambda _: NO_OPINION), follower, aside=self.later)
        self.live = HookPipeline(self.session_writer, helpers, monotonic=lambda: 0.0)
        self.ended: list[str] = []

    def tell(self, session: str, call: str) -> None:
        said = {
            "session_id": session, "hook_event_name": "PreToolUse", "cwd": "/w", "permission_mode": "default",
            "tool_name": "Bash", "tool_input": {"command": f"echo {call}"}, "tool_use_id": call,
        }  # fmt: skip
        delivery = Delivery(
            agent="claude-code", data=json.dumps(said).encode(), id="-", received="2026-11-22T02:00:00Z"
        )

        def ended(done: Done | Exception) -> None:
            assert isinstance(done, Done)
            self.ended.append(call)

        self.live.begin(delivery, ended)

    def calls(self, session: str) -> list[Any]:
        sid = self.session_writer.archive.find("claude-code", session)
        assert sid is not None
        return [step.member("source_id") for step in read_session(self.home, sid) if step.type == "tool_call"]


@pytest.fixture
def recording(tmp_path: Path) -> Iterator[Recording]:
    made = Recording(tmp_path / "store")
    yield made
    made.session_writer.close()


def test_only_its_own_deliveries_wait_and_they_keep_their_order(recording: Recording) -> None:
    recording.tell("long", "a")
    recording.tell("long", "b")
    recording.tell("another", "c")
    assert recording.ended == ["c"]
    assert recording.live.is_busy
    recording.later.do()
    assert recording.ended == ["c", "a", "b"]
    assert recording.calls("long") == ["a", "b"]
    recording.tell("long", "d")
    assert recording.ended[-1] == "d"
    assert not recording.later.waiting


def test_what_was_opened_meanwhile_stays_what_is_added_to(recording: Recording) -> None:
    recording.tell("long", "a")
    step = Step(session="long", type="prompt", source=Source.HOOK, source_id="p", values={"content.text": "x"})
    assert recording.session_writer.add("claude-code", step).n == LONG + 1
    recording.later.do()
    assert recording.calls("long") == ["a"]


def test_a_journal_that_cannot_be_read_keeps_no_one_waiting(recording: Recording) -> None:
    sid = recording.session_writer.archive.find("claude-code", "long")
    assert sid is not None
    path = recording.home.journal(sid)
    assert path is not None
    first, _, *rest = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join((first, *rest)))
    recording.tell("long", "a")
    recording.later.do()
    assert recording.ended == ["a"]
    assert recording.live.unrecorded == 1


def test_sessions_that_another_recorder_left_are_read_before_their_transcripts_are(recording: Recording) -> None:
    recording.live.resume([Unfinished(agent="claude-code", session="long", transcript="/t.jsonl")])
    assert recording.live.tick()
    recording.later.do()
    assert not recording.live.tick()


def test_what_other_sessions_found_is_known_in_one_that_was_read_ahead(recording: Recording) -> None:
    told = {"other": "DB_PASSWORD=Qw7xk2mPz9vT", "long": "why does Qw7xk2mPz9vT not work?"}
    recording.tell("long", "a")
    recording.later.do()
    for session, text in told.items():
        step = Step(session=session, type="user", source=Source.HOOK, source_id="new", values={"content.text": text})
        recording.session_writer.add("claude-code", step)
    sid = recording.session_writer.archive.find("claude-code", "long")
    assert sid is not None
    *_, last = read_session(recording.home, sid)
    assert last.text("content.text") == "why does ‹secret:password› not work?"
