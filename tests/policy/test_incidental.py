"""Files that are taken along by a pattern that matches everything."""

from pathlib import Path

import pytest

from tallystick.guard.live_world import LiveWorld
from tallystick.model.decision import Call
from tallystick.policy.incidental import Incidental
from tallystick.policy.reading import read_call


@pytest.mark.parametrize(
    ("command", "program", "wanted"),
    [
        ("wc -l *", "wc", True),
        ("cat *", "cat", False),
        ("wc -l *.key", "wc", False),
        ("wc -l server.key *", "wc", False),
        ("wc -l sub/*", "wc", False),
    ],
)
def test_a_file_that_nobody_named_is_incidental(tmp_path: Path, command: str, program: str, wanted: bool) -> None:
    (tmp_path / "server.key").write_text("x")
    call = Call(agent="claude-code", session="s", tool="Bash", args={"command": command}, cwd=str(tmp_path))
    read = read_call(call, LiveWorld(), home=str(tmp_path.parent), workspace=str(tmp_path))
    assert Incidental(read).has(f"{tmp_path}/server.key", program) is wanted
