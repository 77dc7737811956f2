"""Stories of why something is there."""

from __future__ import annotations

from pathlib import Path

import pytest

from tallystick.ask.story import OnDisk, Story, writers_among
from tallystick.ask.why import why
from tallystick.journal.home import Home
from tallystick.recording.recorder import Recorder
from tallystick.workspace.indexing import open_index
from tests.support.asking import call
from tests.support.shop import PAGE, Shop, shop


@pytest.fixture
def told(tmp_path: Path) -> Shop:
    return shop(tmp_path / "store", tmp_path)


def story(folder: Path, text: str) -> Story:
    home = Home(folder / "store")
    with open_index(home) as index:
        return why(home, index, text, folder=str(folder)).story


def test_the_last_rewrite_hides_no_one_who_wrote_before(told: Shop) -> None:
    found = story(told.folder, "page.md")
    assert found.act is not None
    assert (found.act.step, found.act.operation) == (f"{told.rewriter}:{told.rewrite}", "write")
    assert found.prompt.text == "Write the page in Spanish."
    assert [(writer.session, writer.agent, writer.is_last) for writer in found.writers] == [
        (told.rewriter, "claude-code", True),
        (told.writer, "codex", False),
    ]
    assert (found.changes, found.later) == (2, ())


def test_a_line_leads_to_the_one_who_wrote_it_and_says_who_changed_the_file_since(told: Shop) -> None:
    (told.folder / "page.md").write_text(PAGE, "utf-8")
    found = story(told.folder, "page.md:3")
    assert found.act is not None
    assert found.act.step == f"{told.writer}:{told.write}"
    assert found.prompt.agreed_to is not None
    assert [writer.session for writer in found.later] == [told.rewriter]
    assert found.on_disk is OnDisk.DIFFERS


def test_a_file_that_is_gone_shows_who_removed_it(told: Shop) -> None:
    found = story(told.folder, "note.txt")
    assert found.is_deleted
    assert found.act is not None
    assert (found.act.step, found.act.operation) == (f"{told.child}:{told.delete}", "delete")
    assert found.prompt.text == "Tidy up the notes."
    assert found.limit == "read from the words of a command; the file was not watched"


def test_a_file_whose_maker_is_not_on_record_shows_its_last_known_change(told: Shop) -> None:
    """It was removed, and is read again: someone made it who is not known."""
    with Recorder(told.folder / "store") as recorder:
        session = recorder.session("demo", "later", cwd=str(told.folder))
        call(session, "Read", {"file_path": f"{told.folder}/note.txt"}, output="new\n")
    found = story(told.folder, "note.txt")
    assert found.act is not None
    assert found.act.step == f"{told.child}:{told.delete}"
    assert not found.is_deleted
    assert found.limit == "it changed again, and no call on record did that"


def test_a_file_that_no_one_wrote_shows_who_used_it_last(told: Shop) -> None:
    found = story(told.folder, "prices.txt")
    assert found.act is not None
    assert (found.act.step, found.act.operation) == (f"{told.writer}:{told.read}", "read")
    assert found.limit == "no call that made or changed it is on record"
    assert found.version == 0


def test_an_edit_before_the_first_prompt_has_an_unknown_prompt(told: Shop) -> None:
    found = story(told.folder, "early.md")
    assert (found.prompt.step, found.prompt.text) == (None, None)
    assert found.prompt.why_not == "no prompt is recorded before it"


def test_a_step_says_how_it_ended_and_who_changed_what_it_wrote_since(told: Shop) -> None:
    found = story(told.folder, f"{told.writer}:{told.write}")
    assert found.act is not None
    assert (found.act.tool, found.act.outcome) == ("Write", "done")
    assert [thing.uri for thing in found.made] == [f"file://{told.folder}/page.md"]
    assert [writer.session for writer in found.later] == [told.rewriter]
    assert [source.how for source in found.sources.known] == ["lines"]


def test_a_result_tells_of_its_call(told: Shop) -> None:
    found = story(told.folder, f"{told.writer}:{told.write + 1}")
    assert found.name == f"{told.writer}:{told.write}"


def test_a_prompt_and_a_session_name_what_was_changed_for_them(told: Shop) -> None:
    page, note = (f"file://{told.folder}/{name}" for name in ("page.md", "note.txt"))
    asked = story(told.folder, f"{told.writer}:{told.yes}")
    assert (asked.kind, [thing.uri for thing in asked.made]) == ("prompt", [page])
    assert story(told.folder, f"{told.writer}:1").made == ()
    whole = story(told.folder, told.writer)
    assert (whole.kind, [thing.uri for thing in whole.made], whole.is_open) == ("root session", [page], False)
    child = story(told.folder, told.child)
    assert (child.kind, [thing.uri for thing in child.made]) == ("child session", [note])
    assert child.prompt.text == "Tidy up the notes."


def test_a_file_on_disk_is_compared_with_what_was_written(tmp_path: Path) -> None:
    with Recorder(tmp_path / "store") as recorder:
        session = recorder.session("demo", "one", cwd=str(tmp_path))
        session.prompt("a")
        for name in ("same", "other", "gone"):
            call(session, "Write", {"file_path": f"{tmp_path}/{name}", "content": "a\n"})
        call(session, "Write", {"file_path": "/no-such-folder/here/a", "content": "a\n"})
        call(session, "Bash", {"command": "date > listed"})
    (tmp_path / "same").write_text("a\n", "utf-8")
    (tmp_path / "other").write_text("b\n", "utf-8")
    (tmp_path / "listed").write_text("b\n", "utf-8")
    names = {
        "same": OnDisk.SAME,
        "other": OnDisk.DIFFERS,
        "gone": OnDisk.GONE,
        "/no-such-folder/here/a": OnDisk.ELSEWHERE,
    }
    assert {name: story(tmp_path, name).on_disk for name in names} == names
    assert story(tmp_path, "same").limit is None
    assert story(tmp_path, "listed").on_disk is OnDisk.NOT_COMPARED


def test_no_changes_have_no_writers() -> None:
    assert writers_among([]) == ()
