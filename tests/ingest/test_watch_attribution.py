from __future__ import annotations

from tallystick.capture.watch_tree import Root
from tallystick.ingest.watch_attribution import Whose, Working, only_one
from tallystick.ingest.watch_steps import AGENT
from tallystick.journal.home import Home
from tallystick.model.step import Opening, Source, Step
from tallystick.recording.session_writer import SessionWriter

ROOTS = [Root("/w"), Root("/home/dev/.ssh", True)]


def test_the_one_live_session_below_the_folders_is_it() -> None:
    one = Working("claude-code", "s", "/w/sub")
    assert only_one([one, Working("codex", "t", "/elsewhere"), Working("codex", "u", "/www")], ROOTS) == one
    assert only_one([one, Working("codex", "t", "/w")], ROOTS) is None
    assert only_one([], ROOTS) is None
    assert only_one([Working("codex", "t", "/home/dev/.ssh")], ROOTS) is None


def test_a_sub_agent_is_no_second_session() -> None:
    one = Working("claude-code", "s", "/w")
    assert only_one([one, Working("claude-code", "s/agent-1", "/w")], ROOTS) == one
    assert only_one([one, Working("codex", "s/agent-1", "/w")], ROOTS) is None


def test_effects_are_recorded_with_the_agent_as_long_as_its_session_lasts(home: Home) -> None:
    now = 0.0
    live = [Working("codex", "s", "/w")]
    with SessionWriter(home) as session_writer:
        own = session_writer.open(Opening(session="o", agent=AGENT, source=Source.WATCH))
        theirs = session_writer.open(Opening(session="s", agent="codex"))
        whose = Whose(session_writer, own, lambda: only_one(live, ROOTS), clock=lambda: now)
        assert whose().sid == theirs.sid
        session_writer.add_to(theirs, Step(session="s", type="session_end"))
        assert whose().sid == own.sid
        live.clear()
        now = 0.5
        assert whose().sid == own.sid


def test_a_live_session_that_is_not_recorded_is_not_made_up(home: Home) -> None:
    with SessionWriter(home) as session_writer:
        own = session_writer.open(Opening(session="o", agent=AGENT, source=Source.WATCH))
        assert Whose(session_writer, own, lambda: Working("codex", "s", "/w"))().sid == own.sid
    assert len(list(home.sessions())) == 1


def test_who_is_live_is_asked_once_a_second(home: Home) -> None:
    times = [0.0]
    asked = []

    def ask() -> None:
        asked.append(times[-1])

    with SessionWriter(home) as session_writer:
        own = session_writer.open(Opening(session="o", agent=AGENT, source=Source.WATCH))
        whose = Whose(session_writer, own, ask, clock=lambda: times[-1])
        for at in (0.0, 0.5, 0.9, 1.0, 1.5, 2.1):
            times.append(at)
            whose()
    assert asked == [0.0, 1.0, 2.1]
