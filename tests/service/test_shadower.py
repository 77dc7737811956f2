"""Sessions that have ended, compared with their transcripts by a process of its own, as a recorder starts it."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import msgspec

from tallystick.ask.coverage import coverage_of
from tallystick.journal.home import Home
from tallystick.model.step import Source, Step
from tallystick.recording.session_writer import SessionWriter
from tallystick.service.shadowing import start_shadower
from tallystick.workspace.indexing import open_index
from tests.support.families import Replay, journals


def compare(home: Home, *told: tuple[str, str]) -> int:
    process = start_shadower(home)
    process.communicate(msgspec.json.encode(told))
    return process.returncode


def test_what_a_session_has_and_its_file_has_not_is_recorded_once(tmp_path: Path) -> None:
    home = Replay("codex", tmp_path).run()
    root = next(sid for sid, steps in journals(home).items() if steps[0].member("kind") == "root")
    session = str(journals(home)[root][0].member("source_session"))
    with closing(SessionWriter(home)) as session_writer:
        call = Step(session=session, type="tool_call", source=Source.HOOK, source_id="x", meta={"tool": "Bash"})
        session_writer.add("codex", call)
        session_writer.add("codex", Step(session=session, type="session_end", source=Source.HOOK))
    (home.folder / "run").mkdir(exist_ok=True)
    assert compare(home, ("codex", session)) == 0  # there is no index yet
    with open_index(home):
        pass
    assert coverage_of(home, root).differences == ()
    assert compare(home, ("codex", "unknown"), ("codex", session)) == 0
    assert [row.difference.step for row in coverage_of(home, root).differences] == ["x"]
    count = len(journals(home)[root])
    assert compare(home, ("codex", session)) == 0
    assert len(journals(home)[root]) == count
    assert journals(home)[root][-1].type == "session_end"
    (line, *_) = (home.folder / "run" / "shadower.log").read_text().splitlines()
    assert f"codex {root[:8]} has ended: " in line
    assert " calls, " in line


def test_a_session_that_cannot_be_compared_keeps_no_other_from_it(tmp_path: Path) -> None:
    home = Replay("codex", tmp_path).run()
    names = {str(steps[0].member("source_session")) for steps in journals(home).values()}
    (home.folder / "run").mkdir(exist_ok=True)
    home.graph.write_bytes(b"no database")
    assert compare(home, *(("codex", name) for name in sorted(names))) == 0
    assert (home.folder / "run" / "shadower.log").read_text().count("could not be compared") == len(names)
