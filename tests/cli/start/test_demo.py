"""The demonstration: everything it shows is what the commands do."""

import os
from pathlib import Path

from tests.cli.conftest import Tally, TallyJson


def test_the_demo_runs_through_and_says_what_comes_next(tally: Tally, user: Path) -> None:
    result = tally("demo")
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert len(lines) < 85
    assert [line for line in lines if line.startswith("$ ")] == [
        "$ tally import",
        "$ tally session list",
        "$ tally replay a42b3437 --tool Agent --tool Bash",
        "$ tally show a42b3437:47",
        "$ tally why /home/dev/project/tests/fixtures/ticket-118.txt",
        "$ tally verify",
        "$ tally verify --home ~/copy",
    ]
    assert "DENIED by hook" in result.stdout
    assert "tally import  " in result.stdout
    assert result.stderr == ""


def test_tampering_is_found_where_it_was_done(tally_json: TallyJson) -> None:
    scenes = tally_json("demo")
    assert [scene["exit_code"] for scene in scenes] == [0, 0, 0, 0, 0, 0, 2]
    found = "\n".join(scenes[-1]["output"])
    assert "entry 46: rule fields" in found


def test_it_leaves_nothing_behind(tally: Tally, user: Path, tmp_path: Path) -> None:
    before = dict(os.environ)
    (tmp_path / "temporary").mkdir()
    tally("demo", env={"TMPDIR": str(tmp_path / "temporary")})
    assert list(user.iterdir()) == []
    assert list((tmp_path / "temporary").iterdir()) == []
    assert dict(os.environ) == before
