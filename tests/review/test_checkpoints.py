"""Making a checkpoint, looking at one, comparing two."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from tallystick import Recorder
from tallystick.errors import CheckpointError, NotFoundError, UsageError
from tallystick.journal.home import Home
from tallystick.model.step import Json, Opening, Source
from tallystick.recording.checkpoints.write import Mark, mark
from tallystick.recording.session_writer import SessionWriter
from tallystick.review.checkpoints import Wanted, create_checkpoint, diff_checkpoints, show_checkpoint
from tallystick.sessions.checkpoints import Trigger
from tallystick.trust.verify import verify_store
from tallystick.workspace.indexing import open_index
from tallystick.workspace.settings import set_setting

GIT: Mapping[str, Json] = {"head": "12" * 20, "ref": "refs/heads/main"}


def no_git(_: str) -> None:
    return None


@pytest.fixture
def live(home: Home, tmp_path: Path) -> str:
    """An active session that works in `tmp_path`, and an older one; the id of the first."""
    with Recorder(home.folder) as recorder:
        sessions = [recorder.session("demo", name, cwd=str(tmp_path)) for name in ("old", "new")]
        for session in sessions:
            session.prompt("do it", run=f"run-{session.source_session}")
            session.model_call("m1", tokens={"input": 10, "output": 1})
    return sessions[1].id


def wanted(tmp_path: Path, label: str = "here", **rest: object) -> Wanted:
    return Wanted(**{"label": label, "folder": str(tmp_path), **rest})  # type: ignore[arg-type]


def test_the_newest_active_session_of_the_folder_is_marked(home: Home, live: str, tmp_path: Path) -> None:
    asked: list[str] = []

    def git(folder: str) -> Mapping[str, Json]:
        asked.append(folder)
        return GIT

    made = create_checkpoint(home, wanted(tmp_path / "below"), git=git)
    assert (made.session, made.position, made.label) == (live, 2, "here")
    assert (made.git, asked) == (GIT, [str(tmp_path)])
    assert made.tokens["input"] == 10
    verdict = verify_store(home)
    assert (verdict.exit_code, verdict.unsealed) == (0, 0)


def test_a_session_a_run_and_a_step_can_be_named(home: Home, live: str, tmp_path: Path) -> None:
    nowhere = Path("/no/such")
    by_session = create_checkpoint(home, wanted(nowhere, session="old", run="r7"), git=no_git)
    assert by_session.session != live
    by_run = create_checkpoint(home, wanted(nowhere, run="run-new"), git=no_git)
    assert (by_run.session, by_run.position) == (live, 2)
    by_step = create_checkpoint(home, wanted(nowhere, at=f"{live[:8]}:1", keep=True), git=no_git)
    assert (by_step.session, by_step.position) == (live, 1)
    within = create_checkpoint(home, wanted(nowhere, session="new", at="1"), git=no_git)
    assert (within.session, within.position) == (live, 1)
    of_folder = create_checkpoint(home, wanted(tmp_path, at="1"), git=no_git)
    assert (of_folder.session, of_folder.position) == (live, 1)
    with pytest.raises(UsageError, match="does not belong to session"):
        create_checkpoint(home, wanted(nowhere, session="old", at=f"{live}:1"), git=no_git)
    with pytest.raises(NotFoundError, match="no session of run"):
        create_checkpoint(home, wanted(nowhere, run="no-such-run"), git=no_git)
    with pytest.raises(NotFoundError, match="no active session works in"):
        create_checkpoint(home, wanted(nowhere), git=no_git)
    with pytest.raises(NotFoundError, match="there is no"):
        create_checkpoint(home, wanted(nowhere, session="old", at="old:99"), git=no_git)


def test_nothing_is_made_without_a_label_or_where_they_are_off(home: Home, live: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="label"):
        create_checkpoint(home, wanted(tmp_path, " "), git=no_git)
    set_setting(home, "checkpoints.enabled", "off")
    with pytest.raises(CheckpointError):
        create_checkpoint(home, wanted(tmp_path), git=no_git)


def test_everything_that_one_says_is_shown(home: Home, live: str, tmp_path: Path) -> None:
    sections = {"hooks": "ab" * 32, "settings": "cd" * 32}
    with SessionWriter(home) as session_writer:
        record = session_writer.open(Opening(session="new", agent="demo", source=Source.SDK))
        start = Mark(
            trigger=Trigger.SESSION_START,
            label="start",
            position=0,
            meta={"config_fingerprint": "ef" * 32, "config_sections": sections, "profile": "ours"},
            values={"content.hook_registry": [{"name": "guard", "priority": 10}]},
        )
        mark(session_writer, record, start)
    made = create_checkpoint(home, wanted(tmp_path, metadata={"k": "v"}, keep=True), git=lambda _: GIT)
    with open_index(home) as index:
        by_hand = show_checkpoint(home, index, made.id[:10])
        (digest,) = index.graph.rows("SELECT hash FROM checkpoints WHERE trigger = 'session_start'")
        started = show_checkpoint(home, index, digest[0])
    assert (by_hand.entry.metadata, by_hand.is_kept, by_hand.config_sections) == ({"k": "v"}, True, {})
    assert by_hand.marked is not None
    assert by_hand.marked.type == "checkpoint"
    assert (started.entry.config_fingerprint, started.config_sections) == ("ef" * 32, sections)
    assert started.hook_registry == [{"name": "guard", "priority": 10}]
    assert started.more == {"profile": "ours"}


def test_two_are_compared_the_earlier_first(home: Home, tmp_path: Path) -> None:
    file = tmp_path / "made.txt"
    with Recorder(home.folder) as recorder:
        session = recorder.session("demo", "one", cwd=str(tmp_path))
        session.model_call("m1", tokens={"input": 10, "output": 1})
        first = session.checkpoint("first")
        with session.tool_call("Write", {"file_path": str(file), "content": "x"}) as call:
            call.output = "ok"
        session.model_call("m1", tokens={"input": 5, "output": 2})
        second = session.checkpoint("second")
        other = recorder.session("demo", "other").checkpoint("elsewhere")
    with open_index(home) as index:
        found = diff_checkpoints(home, index, second.hash, first.hash)
        across = diff_checkpoints(home, index, first.hash, other.hash)
    assert (found.before.label, found.after.label) == ("first", "second")
    assert found.steps == {"checkpoint": 1, "model_call": 1, "tool_call": 1, "tool_result": 1}
    assert found.files is not None
    assert [(each.uri, each.operations) for each in found.files] == [(f"file://{file}", ("write",))]
    assert found.tokens is not None
    assert (found.tokens["input"], found.tokens["output"]) == (5, 2)
    assert (found.git, found.config) == ((), ())
    assert (across.steps, across.files, across.tokens) == (None, None, None)


def test_what_git_and_the_configuration_say_differently_is_named(home: Home) -> None:
    with SessionWriter(home) as session_writer:
        record = session_writer.open(Opening(session="one", agent="demo", source=Source.SDK))
        for n, (git, hooks) in enumerate(((GIT, "ab" * 32), ({**GIT, "dirty": "cd" * 32}, "ef" * 32))):
            meta = {"config_sections": {"hooks": hooks, "settings": "11" * 32}}
            mark(session_writer, record, Mark(trigger=Trigger.MANUAL, label=str(n), git=git, meta=meta))
    with open_index(home) as index:
        first, second = (row[0] for row in index.graph.rows("SELECT hash FROM checkpoints ORDER BY n"))
        found = diff_checkpoints(home, index, first, second)
    assert [(each.name, each.before, each.after) for each in found.git] == [("dirty", None, "cd" * 32)]
    assert [(each.name, each.before, each.after) for each in found.config] == [("hooks", "ab" * 32, "ef" * 32)]
