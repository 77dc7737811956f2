"""All the newest sessions, compared with their transcripts."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from tallystick.ask.coverage import coverage_of
from tallystick.model.step import Source, Step
from tallystick.recording.session_writer import SessionWriter
from tallystick.setup.check import State
from tallystick.setup.shadows import examine_shadows
from tests.support.families import Replay, journals


def test_each_tree_of_sessions_is_a_check(tmp_path: Path) -> None:
    replay = Replay("codex", tmp_path)
    home = replay.run()
    [check] = examine_shadows(home)
    assert (check.state, check.found) == (State.OK, "codex: the record is what 2 files say")
    root = next(sid for sid, steps in journals(home).items() if steps[0].member("kind") == "root")
    session = str(journals(home)[root][0].member("source_session"))
    with closing(SessionWriter(home)) as session_writer:
        call = Step(session=session, type="tool_call", source=Source.HOOK, source_id="x", meta={"tool": "Bash"})
        session_writer.add("codex", call)
        usage = Step(
            session=session, type="model_call", source=Source.HOOK, source_id="y", meta={"tokens": {"input": 1}}
        )
        session_writer.add("codex", usage)
        session_writer.add("codex", Step(session=session, type="session_end", source=Source.HOOK))
    [check] = examine_shadows(home)
    assert (check.state, check.mend) == (State.WARN, f"tally coverage {root[:8]}")
    assert check.found == "codex: 2 differences from 2 files"
    assert len(coverage_of(home, root).differences) == 2
    for file in replay.user.rglob("*.jsonl"):
        file.unlink()
    [check] = examine_shadows(home)
    assert (check.state, check.found.partition(":")[0]) == (State.NOTE, "2 files cannot be compared")
