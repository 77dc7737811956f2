"""`tally session diff`."""

from pathlib import Path

import pytest

from tallystick.recording.recorder import Recorder
from tests.cli.conftest import DISCOUNT, Tally, TallyJson


@pytest.fixture
def pair(user: Path) -> Path:
    """Two sessions that begin alike and part at the second call."""
    with Recorder(user / ".tally") as recorder:
        for name, content in (("left", "one"), ("right", "two")):
            session = recorder.session("demo", f"session-{name}", cwd=f"/w/{name}")
            session.prompt("write it down")
            with session.tool_call("Read", {"file_path": f"/w/{name}/notes"}) as call:
                call.output = "nothing"
            with session.tool_call("Write", {"file_path": f"/w/{name}/notes", "content": content}) as call:
                call.output = "ok"
            if name == "right":
                with session.tool_call("Bash", {"command": "pytest \x1b[2J"}) as call:
                    call.output, call.success = "", False
            session.close("failed" if name == "right" else "completed")
    return user


def test_it_says_where_they_part_and_what_is_different(tally: Tally, pair: Path) -> None:
    lines = tally("session", "diff", "session-left", "session-right").stdout.splitlines()
    assert any(line.split() == ["status", "completed", "failed"] for line in lines)
    assert any(line.split() == ["calls", "2", "3"] for line in lines)
    assert any(line.split() == ["folder", "/w/left", "→", "/w/right"] for line in lines)
    assert "first difference after 2 equal actions: argument content, content of notes" in lines
    assert "prompts and calls: 2 the same, 1 changed, 0 only A, 1 only B" in lines
    assert "    … 2 the same" in lines
    (only,) = (line for line in lines if "Bash" in line)
    assert only.startswith("  B ")
    assert only.endswith("[failed]")
    assert "\x1b" not in only
    assert any(line.startswith("  differ  notes  ") for line in lines)


def test_wide_terminals_show_both_beside_each_other_and_narrow_ones_below(tally: Tally, pair: Path) -> None:
    words = ("session", "diff", "session-left", "session-right")
    assert sum(line.count("Write") == 2 for line in tally(*words, env={"COLUMNS": "140"}).stdout.splitlines()) == 1
    narrow = tally(*words, env={"COLUMNS": "80"}).stdout.splitlines()
    assert sum(line.count("Write") == 2 for line in narrow) == 0
    assert all(len(line) <= 80 for line in narrow)


def test_only_so_many_differences_are_shown(tally: Tally, pair: Path) -> None:
    shown = tally("session", "diff", "session-left", "session-right", "--limit", "1").stdout
    assert "  … 1 more; --limit N shows N, --json all" in shown.splitlines()
    assert "Bash" not in shown


def test_a_session_is_the_same_as_itself(tally: Tally, tally_json: TallyJson, full: Path) -> None:
    assert tally("session", "diff", DISCOUNT, DISCOUNT).stdout.splitlines()[-1] == "they did the same"
    found = tally_json("session", "diff", DISCOUNT, DISCOUNT)
    assert (found["divergence"], found["files"], found["settings"]) == (None, [], [])
    assert len(found["moves"]) == 14
    assert all(pair["differs"] == [] for pair in found["moves"])


def test_as_json_every_move_is_there(tally_json: TallyJson, pair: Path) -> None:
    found = tally_json("session", "diff", "session-left", "session-right")
    assert found["divergence"]["after"] == 2
    assert [pair["differs"] for pair in found["moves"]] == [
        [],
        [],
        ["argument content", "content of notes"],
        ["only there"],
    ]
    assert found["moves"][3]["left"] is None
    assert found["moves"][3]["right"]["success"] is False
    assert found["left"]["session"]["status"] == "completed"
    assert [file["path"] for file in found["files"]] == ["notes"]


def test_a_name_that_means_nothing_is_an_error(tally: Tally, pair: Path) -> None:
    result = tally("session", "diff", "session-left", "nobody")
    assert result.exit_code == 1
    assert "no session 'nobody'" in result.stderr
