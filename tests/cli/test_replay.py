"""A replay on the command line."""

import json
import subprocess
import sys
from pathlib import Path

from tallystick.operations.recorder import Recorder
from tests.cli.conftest import Tally, TallyJson
from tests.cli.test_frame import environment


def test_one_line_a_step(tally: Tally, full: Path) -> None:
    lines = tally("replay", "a42b3437").stdout.splitlines()
    assert len(lines) == 61
    assert lines[46].split()[:6] == ["2026-11-21", "22:30:23", "46", "tool_call", "Bash", "git"]
    assert lines[25].split()[4:7] == ["Agent", "1.2", "s"]
    assert "4 in, 131 out, 14,210 to cache" in lines[11]


def test_verbose_adds_what_was_said(tally: Tally, full: Path) -> None:
    short = tally("replay", "a42b3437", "--from", "46", "--limit", "2").stdout
    long = tally("replay", "a42b3437", "--from", "46", "--limit", "2", "-v").stdout
    assert len(short.splitlines()) == 2
    assert '"command": "git push --force origin main"' in long
    assert "Open a pull request." in long
    assert "Open a pull request." not in short


def test_from_a_step_on(tally: Tally, tally_json: TallyJson, full: Path) -> None:
    steps = tally_json("replay", "a42b3437", "--from", "a42b3437:51")
    assert [step["n"] for step in steps] == list(range(51, 61))
    assert tally("replay", "a42b3437", "--from", "receipts-currency:3").exit_code == 64
    assert tally("replay", "a42b3437", "--from", "999").exit_code in (1, 64)


def test_filters_choose(tally: Tally, full: Path) -> None:
    assert len(tally("replay", "a42b3437", "--type", "user").stdout.splitlines()) == 2
    assert len(tally("replay", "a42b3437", "--failed").stdout.splitlines()) == 2
    assert len(tally("replay", "a42b3437", "--request", "51", "--type", "tool_call").stdout.splitlines()) == 2


def test_following_prints_steps_as_they_come_and_ends_with_the_session(user: Path) -> None:
    with Recorder(user / ".tally") as recorder:
        session = recorder.session("demo", "live-session")
        process = subprocess.Popen(
            [sys.executable, "-m", "tallystick", "replay", "live-session", "--follow", "--json"],
            env=environment(user),
            stdout=subprocess.PIPE,
            text=True,
        )
        assert process.stdout is not None
        kinds = [json.loads(process.stdout.readline())["data"]["meta"]["type"]]
        session.prompt("hello")
        kinds.append(json.loads(process.stdout.readline())["data"]["meta"]["type"])
        session.close()
        rest, _ = process.communicate(timeout=10)
        kinds += [json.loads(line)["data"]["meta"]["type"] for line in rest.splitlines()]
    assert kinds == ["session_start", "user", "session_end"]
    assert process.returncode == 0
