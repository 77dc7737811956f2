"""A recorded session and its transcripts, compared once more."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest
from msgspec.structs import replace

from tallystick.agents import adapters
from tallystick.ask.coverage import State, coverage_of
from tallystick.ask.shadow import MOST_BYTES, Shadow, explained, note, rows_in, shadow_of
from tallystick.journal.home import Home
from tallystick.journal.read import read_session
from tallystick.model.ids import SessionId
from tallystick.model.step import Source, Step
from tallystick.recording.session_writer import SessionWriter
from tallystick.sessions.shadow import Aspect, Difference
from tallystick.sessions.states import Status
from tallystick.workspace.indexing import open_index
from tests.support.cases import each
from tests.support.families import Replay, journals


def root_of(home: Home) -> str:
    """The session that began first, and has no parent."""
    found = [sid for sid, steps in journals(home).items() if steps[0].member("kind") == "root"]
    assert len(found) == 1
    return found[0]


def compared(home: Home, sid: str) -> Shadow:
    with open_index(home) as index:
        found = shadow_of(home, index.graph, sid, adapters())
    assert found is not None
    return found


@pytest.fixture
def replay(tmp_path: Path) -> Replay:
    """Codex with a sub-agent, and failed commands, recorded live."""
    found = Replay("codex", tmp_path)
    found.run()
    return found


def add(home: Home, sid: str, step: Step) -> None:
    with closing(SessionWriter(home)) as session_writer:
        record = session_writer.writer.record_of(SessionId(sid), "codex")
        session_writer.add_to(record, step)
        session_writer.add_to(record, Step(session=step.session, type="session_end", source=Source.HOOK))


def test_a_record_that_is_what_its_files_say_has_no_differences(replay: Replay) -> None:
    shadow = compared(replay.home, root_of(replay.home))
    assert (shadow.agent, shadow.rows, shadow.unread, len(shadow.files)) == ("codex", (), (), 2)
    assert shadow.unexplained == ()


def test_a_difference_is_kept_and_is_a_row_of_coverage_until_it_is_gone(replay: Replay) -> None:
    home, sid = replay.home, root_of(replay.home)
    before = coverage_of(home, sid)
    session = str(next(iter(read_session(home, sid))).member("source_session"))
    stray = Step(session=session, type="tool_call", source=Source.HOOK, source_id="stray", meta={"tool": "Bash"})
    add(home, sid, stray)
    shadow = compared(home, sid)
    assert [(row.difference.aspect, row.difference.step) for row in shadow.rows] == [(Aspect.CALL, "stray")]
    assert shadow.rows[0].because  # a code mode sees calls that the transcript has not
    assert shadow.unexplained == ()
    with closing(SessionWriter(home)) as session_writer:
        note(session_writer, shadow)
    assert shadow.is_news
    assert not compared(home, sid).is_news
    found = coverage_of(home, sid)
    assert found.differences == shadow.rows
    assert "1 difference from what its files say" in found.reasons
    assert len([step for step in read_session(home, sid) if step.meta.get("about") == "shadow"]) == 1
    with closing(SessionWriter(home)) as session_writer:
        note(session_writer, replace(compared(home, sid), rows=()))
    assert coverage_of(home, sid).differences == before.differences == ()
    assert coverage_of(home, sid).state in State


def test_an_order_that_the_spool_explains_is_explained(replay: Replay) -> None:
    home, sid = replay.home, root_of(replay.home)
    session = str(next(iter(read_session(home, sid))).member("source_session"))
    add(
        home,
        sid,
        Step(session=session, type="model_call", source_id="more", meta={"tokens": {"input": 1}, "spooled": True}),
    )
    [row] = compared(home, sid).rows
    assert (row.difference.aspect, row.because) == (Aspect.TOKENS, ())


@each(
    "recorded, reasons",
    [
        (
            Status.FAILED,
            ["that the agent was stopped in the middle: imported, its sessions are completed"],
        ),
        (Status.ACTIVE, []),
        (Status.DISCARDED, []),
    ],
)
def test_of_an_end_a_file_is_silent_only_where_the_agent_was_stopped(recorded: Status, reasons: list[str]) -> None:
    found = Difference(session="s", aspect=Aspect.STATUS, recorded=recorded, transcript=Status.COMPLETED)
    assert list(explained("claude-code", found)) == reasons


@each("agent, count", [("gptme", 1), ("claude-code", 0)])
def test_an_order_is_explained_where_an_agents_hooks_do_not_report_prompts(agent: str, count: int) -> None:
    found = Difference(session="s", aspect=Aspect.ORDER, recorded="c", transcript="p")
    assert len(explained(agent, found)) == count


def test_files_that_are_gone_are_said_and_nothing_is_compared(replay: Replay) -> None:
    sid = root_of(replay.home)
    files = compared(replay.home, sid).files
    Path(files[0]).unlink()
    shadow = compared(replay.home, sid)
    assert shadow.unread == (files[0],)
    assert shadow.rows == ()


def test_more_than_some_megabytes_are_not_read(replay: Replay) -> None:
    sid = root_of(replay.home)
    file = Path(compared(replay.home, sid).files[0])
    with file.open("ab") as grown:
        grown.truncate(file.stat().st_size + MOST_BYTES)
    assert compared(replay.home, sid).unread == (str(file),)


def test_a_session_of_which_no_file_was_read_has_no_shadow(tmp_path: Path) -> None:
    home = Home(tmp_path / "store")
    with closing(SessionWriter(home)) as session_writer:
        taken = session_writer.add("codex", Step(session="s", type="user", source=Source.HOOK, source_id="u"))
    with open_index(home) as index:
        assert shadow_of(home, index.graph, taken.session, adapters()) is None


def test_what_is_no_list_of_differences_is_none(replay: Replay) -> None:
    home, sid = replay.home, root_of(replay.home)
    step = next(iter(read_session(home, sid)))
    assert rows_in(replace(step, values={"content.differences": [{"difference": 1}]})) == ()
    assert rows_in(step) == ()
