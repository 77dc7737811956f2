"""Sessions as a replay takes them."""

from __future__ import annotations

from pathlib import Path

from tallystick.graph.replay_tracks import tracks_below, tracks_of
from tallystick.journal.home import Home
from tallystick.journal.read import read_session
from tallystick.model.step import Ref, SessionKind
from tallystick.recording.recorder import Recorder
from tallystick.trust.verify_named import find_session
from tallystick.workspace.indexing import open_index


def test_a_session_and_what_hangs_on_it_with_the_steps_they_hang_on(samples: Home) -> None:
    top = find_session(samples, "a42b3437")
    with open_index(samples) as index:
        track = tracks_of(index.graph, [top])[top]
        below = tracks_below(index.graph, [top])
    (child,) = below[top]
    assert (track.agent, track.kind, track.parent, track.hangs_on) == ("claude-code", "root", None, None)
    assert track.counts is not None
    assert (track.counts.steps, track.counts.tool_calls, track.counts.failures) == (61, 12, 2)
    assert (child.kind, child.parent, child.is_claimed) == ("child", top, False)
    assert child.hangs_on == next(step.hash for step in read_session(samples, top) if step.meta.get("tool") == "Agent")
    assert set(below) == {top}


def test_a_session_that_nothing_hangs_on_has_no_children(samples: Home) -> None:
    with open_index(samples) as index:
        assert tracks_below(index.graph, [find_session(samples, "receipts-currency")]) == {}
        assert tracks_of(index.graph, ["0" * 32]) == {}


def test_a_step_that_is_only_claimed_is_found_by_the_agents_own_id(tmp_path: Path) -> None:
    home = Home(tmp_path)
    with Recorder(tmp_path) as recorder:
        child = recorder.session("demo", "child", kind=SessionKind.CHILD, parent=Ref("call", session="root"))
        lost = recorder.session("demo", "lost", kind=SessionKind.CHILD, parent=Ref("nothing", session="root"))
        root = recorder.session("demo", "root")
        call = root.step("tool_call", source_id="call")
    with open_index(home) as index:
        below = tracks_below(index.graph, [root.id])[root.id]
    assert {track.session: track.hangs_on for track in below} == {child.id: call.hash, lost.id: None}
    assert all(track.is_claimed for track in below)
