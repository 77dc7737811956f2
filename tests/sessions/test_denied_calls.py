"""Denied calls are counted as the statistics count them."""

from pathlib import Path

from tallystick.journal.home import Home
from tallystick.journal.read import read_session
from tallystick.recording.recorder import Recorder
from tallystick.sessions.denied_calls import DeniedCalls
from tallystick.sessions.statistics import statistics
from tallystick.sessions.timeline import Adding, Counts


def test_denied_calls_are_counted_the_same_in_replay_and_statistics(tmp_path: Path) -> None:
    with Recorder(tmp_path) as recorder, recorder.session("demo", "s") as session:
        session.step("security_decision", tool="bash", action="deny")
        session.step("tool_result", tool="bash", success=False, decision="deny")
        session.step("tool_call", tool="bash", corr="a")
        session.step("bash_security", tool="bash", corr="a", action="deny")
        session.step("tool_result", tool="bash", corr="a", success=False)
        session.step("tool_call", tool="read", corr="b")
        session.step("tool_result", tool="read", corr="b", success=True)
    steps = list(read_session(Home(tmp_path), session.id))
    counts, adding, denied = Counts(), Adding(), DeniedCalls()
    for step in steps:
        counts = adding.plus(counts, step)
        denied.note(step)
    shown = denied.with_denied(session.id, counts)
    told = statistics(steps)
    assert (shown.tool_calls, shown.refusals, shown.failures) == (3, 2, 2)
    assert (sum(tool.calls for tool in told.tools.values()), told.refused) == (shown.tool_calls, shown.refusals)
    assert denied.with_denied("another", Counts(steps=1)) == Counts(steps=1)
