"""Two sessions compared."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from tallystick.errors import NotFoundError
from tallystick.journal.home import Home
from tallystick.model.step import Json
from tallystick.recording.recorder import Recorder
from tallystick.recording.session import Session
from tallystick.review.session_diff import SessionDiff, session_diff
from tallystick.workspace.index import Index
from tallystick.workspace.indexing import open_index
from tests.support.fixtures import RECORDINGS, ImportPaths


def diff(home: Home, left: str, right: str) -> SessionDiff:
    with open_index(home) as index:
        return session_diff(home, index, left, right)


def worked(recorder: Recorder, name: str, folder: str, *calls: tuple[str, Json, bool]) -> Session:
    """A session in a folder of its own that was asked for the same and made these calls."""
    session = recorder.session("demo", name, cwd=folder)
    session.prompt("fix it")
    for tool, args, success in calls:
        with session.tool_call(tool, args) as call:
            call.output, call.success = "", success
    session.close()
    return session


def test_the_same_work_in_another_folder_is_the_same(home: Home) -> None:
    with Recorder(home.folder) as recorder:
        for name in ("one", "other"):
            calls = (
                ("Read", {"file_path": f"/w/{name}/a.py"}, True),
                ("Write", {"file_path": f"/w/{name}/a.py", "content": "x"}, True),
                ("Bash", {"command": f"cd /w/{name} && pytest", "description": name}, False),
            )
            worked(recorder, f"session-{name}", f"/w/{name}", *calls)
    found = diff(home, "session-one", "session-other")
    assert (found.divergence, found.files) == (None, ())
    assert [pair.differs for pair in found.moves] == [()] * 4
    assert [(setting.name, setting.left, setting.right) for setting in found.settings] == [
        ("folder", "/w/one", "/w/other")
    ]
    assert found.sections is None
    assert not found.is_empty


def test_where_they_part_and_what_they_left_behind_is_told(home: Home) -> None:
    read = ("Read", {"file_path": "/w/a.py"}, True)
    with Recorder(home.folder) as recorder:
        left = worked(
            recorder,
            "session-left",
            "/w",
            read,
            ("Write", {"file_path": "/w/a.py", "content": "one"}, True),
            ("Bash", {"command": "rm b.py"}, True),
        )
        right = worked(
            recorder,
            "session-right",
            "/w",
            read,
            ("Write", {"file_path": "/w/a.py", "content": "two"}, True),
            ("Bash", {"command": "pytest"}, False),
            ("Write", {"file_path": "/w/c.py", "content": "c"}, True),
        )
    found = diff(home, left.id, right.id)
    first = found.divergence
    assert first is not None
    assert first.left is not None
    assert (first.after, first.left.n, first.differs) == (2, 4, ("argument content", "content of a.py"))
    assert [(file.path, file.left is None, file.right is None) for file in found.files] == [
        ("a.py", False, False),
        ("b.py", False, True),
        ("c.py", True, False),
    ]
    assert found.files[1].left == "gone"
    assert [pair.differs for pair in found.moves] == [
        (),
        (),
        ("argument content", "content of a.py"),
        ("argument command", "outcome", "content of b.py"),
        ("only there",),
    ]
    assert (found.left.prompts, found.left.changed_files, found.right.changed_files) == (1, 2, 2)


def test_what_they_ran_under_is_told_section_by_section(home: Home) -> None:
    with Recorder(home.folder) as recorder:
        for name, mcp in (("session-one", "a"), ("session-other", "b")):
            session = recorder.session("demo", name, agent_version=f"1.{mcp}", model=f"model-{mcp}")
            sections: dict[str, Json] = {"hooks": "0" * 64, "mcp": mcp * 64}
            session.step(
                "checkpoint",
                content={"label": "start"},
                trigger="session_start",
                position=0,
                position_hash="0" * 64,
                config_fingerprint=mcp * 64,
                config_sections=sections,
            )
            session.step("model_call", model=f"model-{mcp}", tokens={"input": 1, "output": 1})
    found = diff(home, "session-one", "session-other")
    assert found.sections is not None
    assert [section.section for section in found.sections] == ["mcp"]
    assert [setting.name for setting in found.settings] == ["agent version", "models"]
    assert found.divergence is None


def test_what_is_not_there_cannot_be_compared(samples: Home) -> None:
    with pytest.raises(NotFoundError):
        diff(samples, "ffffffff", "ffffffff")


def mirrored(found: SessionDiff) -> SessionDiff:
    """The same difference from the other side, as far as it is told in pairs."""
    return msgspec.structs.replace(found, left=found.right, right=found.left)


def check_pairs(home: Home, index: Index, names: list[str]) -> None:
    """Of all pairs: each is the same as itself, and what one says of the other holds the other way round."""
    for left in names:
        assert session_diff(home, index, left, left).is_empty
        for right in names[: names.index(left)]:
            there = session_diff(home, index, left, right)
            back = mirrored(session_diff(home, index, right, left))
            assert (there.left, there.right) == (back.left, back.right)
            assert (there.divergence is None) == (back.divergence is None)
            assert [file.path for file in there.files] == [file.path for file in back.files]
            assert len(there.moves) == len(back.moves)
            assert sum(not pair.differs for pair in there.moves) == sum(not pair.differs for pair in back.moves)


def test_recorded_sessions_of_all_agents_are_the_same_as_themselves_from_either_side(
    home: Home, import_paths: ImportPaths
) -> None:
    import_paths(RECORDINGS)
    with open_index(home) as index:
        names = [row[0] for row in index.graph.rows("SELECT session_id FROM sessions ORDER BY session_id")]
        assert len(names) > 20
        check_pairs(home, index, names[::6])
        assert [name for name in names if not session_diff(home, index, name, name).is_empty] == []


PUBLIC = Path(__file__).parents[3] / "shared" / "data" / "public" / "small"


@pytest.mark.soak
@pytest.mark.skipif(not PUBLIC.is_dir(), reason="the published histories are not here")
def test_published_histories_are_the_same_as_themselves_from_either_side(home: Home, import_paths: ImportPaths) -> None:
    import_paths(PUBLIC)
    with open_index(home) as index:
        names = [row[0] for row in index.graph.rows("SELECT session_id FROM sessions ORDER BY session_id")]
        check_pairs(home, index, names[:8])
