"""Which write a line comes from. The walk itself is tested where it is made, and with the commands."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.ask.why import is_as_recorded, match_of, read_line_of, why
from tallystick.graph.resources import Named
from tallystick.journal.home import Home
from tallystick.lineage.quoting import written_texts
from tallystick.model.recorded import Recorded
from tallystick.model.step import Json
from tallystick.recording.recorder import Recorder
from tallystick.workspace.indexing import open_index
from tests.support.asking import call

LINES = st.text(st.characters(exclude_characters="\n\r"), max_size=40)


def step(args: Json) -> Recorded:
    return Recorded(session="s", n=1, hash="h", prev="", parents=(), meta={}, values={"content.args": args})


@given(st.lists(LINES, max_size=5), st.lists(LINES, max_size=5), LINES.filter(lambda line: bool(line.strip())))
def test_a_text_that_has_the_line_is_found_and_no_other(before: list[str], after: list[str], line: str) -> None:
    assert match_of(line, iter(["\n".join([*before, line, *after])])) > 0
    others = [other for other in (*before, *after) if line.strip() not in other]
    assert match_of(line, iter(["\n".join(others)])) == 0


def test_the_same_line_is_surer_than_one_with_other_space_and_a_word_than_a_brace() -> None:
    assert match_of("    return 1", iter(["    return 1"])) == 0.9
    assert match_of("    return 1", iter(["+    return 1"])) == 0.9
    assert match_of("    return 1", iter(["return 1"])) == 0.75
    assert match_of("}", iter(["}"])) == 0.4
    assert match_of("return 1", iter(["x = return 1"])) == 0


def test_what_was_there_before_is_not_what_a_call_wrote() -> None:
    args = {"file_path": "/w/a", "edits": [{"old_string": "gone", "new_string": "come"}], "oldText": "gone"}
    assert sorted(written_texts(step(args))) == ["/w/a", "come"]
    assert list(written_texts(step("a patch"))) == ["a patch"]
    assert list(written_texts(step(None))) == []


def test_arguments_of_any_depth_are_looked_through() -> None:
    deep: Json = "at the bottom"
    for _ in range(5_000):
        deep = [deep]
    assert list(written_texts(step(deep))) == ["at the bottom"]


def test_a_line_is_read_from_the_file_as_it_is_now(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"one\r\ntwo\n\xff\xfe\n" + b"x" * 50_000 + b"\nend")
    assert read_line_of(str(path), 1) == ("one", None)
    assert read_line_of(str(path), 3) == ("\ufffd\ufffd", None)
    assert len(read_line_of(str(path), 4)[0] or "") == 20_000
    assert read_line_of(str(path), 5) == ("end", None)
    assert read_line_of(str(path), 6) == (None, "the file now has fewer than 6 lines")
    assert read_line_of(str(tmp_path), 1) == (None, "the file no longer exists")
    assert read_line_of("a", 1) == (None, "the folder that the path is relative to is unknown")
    assert read_line_of("/" + "x" * 5_000, 1)[0] is None
    assert read_line_of("/\ud800", 1)[0] is None


def test_a_file_is_held_against_the_digest_of_its_newest_version(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"abc")
    digest = "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    here = Named("file", f"file://{tmp_path}/a")
    assert is_as_recorded(here, digest) is True
    assert is_as_recorded(here, "sha256:00") is False
    assert is_as_recorded(here, "") is None
    assert is_as_recorded(Named("file", f"file://{tmp_path}/none"), digest) is None
    assert is_as_recorded(Named("file", f"file://{tmp_path}"), digest) is None
    assert is_as_recorded(Named("file", "file:a"), digest) is None
    assert is_as_recorded(Named("url", "https://example.org"), digest) is None


@pytest.fixture
def recorded(tmp_path: Path) -> Home:
    """A file that is written, changed by a command, and written over."""
    path = tmp_path / "notes.txt"
    path.write_text("first\nsecond line\nthird line\n", "utf-8")
    with Recorder(tmp_path / "store") as recorder:
        session = recorder.session("demo", "one", cwd=str(tmp_path))
        session.prompt("Take notes.")
        call(session, "Write", {"file_path": str(path), "content": "first\nthird line\n"})
        call(session, "Bash", {"command": f"cat >> {path} <<'END'\nsecond line\nEND\n"})
        return Home(tmp_path / "store")


def test_the_last_write_that_holds_a_line_is_its_origin_whatever_the_tool(recorded: Home, tmp_path: Path) -> None:
    with open_index(recorded) as index:
        found = {number: why(recorded, index, f"notes.txt:{number}", folder=str(tmp_path)).line for number in (1, 2, 3)}
    origins = {number: line.step.rpartition(":")[2] for number, line in found.items() if line and line.step}
    assert origins == {1: "2", 2: "4", 3: "2"}
    assert [line.writes_since for line in found.values() if line] == [1, 0, 1]


def test_the_causes_of_a_line_are_those_of_the_version_that_brought_it(recorded: Home, tmp_path: Path) -> None:
    with open_index(recorded) as index:
        found = why(recorded, index, "notes.txt:1", folder=str(tmp_path))
    (start,) = found.answer.start.nodes
    about = found.answer.known()[start].about
    assert about is not None
    assert getattr(about, "version", None) == 1
