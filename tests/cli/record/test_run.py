"""`tally run`, as people use it: with a terminal, in a pipe, with the words of another command behind it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Tally, TallyJson
from tests.cli.test_command import environment

TALLY = [sys.executable, "-m", "tallystick"]


@pytest.fixture
def work(tmp_path: Path) -> Path:
    work = tmp_path / "work"
    work.mkdir()
    return work


def run(user: Path, work: Path, *words: str, **more: object) -> subprocess.CompletedProcess[str]:
    options: dict[str, object] = {"capture_output": True, "text": True, "timeout": 60, "check": False, **more}
    return subprocess.run([*TALLY, "run", *words], cwd=work, env=environment(user), **options)  # type: ignore[call-overload,no-any-return]


def test_input_output_and_exit_code_are_the_commands(user: Path, work: Path) -> None:
    done = run(user, work, "--", "sh", "-c", "cat; echo oops >&2; exit 9", input="typed")
    assert (done.stdout, done.returncode) == ("typed", 9)
    assert done.stderr.startswith("oops\ntally: recorded as session ")


def test_words_after_the_command_are_the_commands(user: Path, work: Path, tally_json: TallyJson) -> None:
    done = run(user, work, "sh", "-c", 'echo "$@"', "-", "--json", "--help", "-q")
    assert done.stdout == "--json --help -q\n"
    (session,) = tally_json("session", "list")["sessions"]
    assert (session["agent"], session["status"], session["cwd"]) == ("run", "completed", str(work))


def test_a_report_in_json_follows_the_output(user: Path, work: Path) -> None:
    done = run(user, work, "--json", "--", "touch", "made")
    report = json.loads(done.stdout)
    assert report["schema"] == "tally.run"
    assert (report["data"]["exit_code"], report["data"]["effects"]) == (0, {"created": 1})
    assert done.stderr == ""


def test_files_need_not_be_looked_at(user: Path, work: Path) -> None:
    report = json.loads(run(user, work, "--json", "--no-files", "--", "touch", "made").stdout)
    assert report["data"]["effects"] == {}


def test_quiet_says_nothing(user: Path, work: Path) -> None:
    done = run(user, work, "-q", "--", "echo", "hi")
    assert (done.stdout, done.stderr) == ("hi\n", "")


def test_a_command_that_is_not_there_is_told(user: Path, work: Path) -> None:
    done = run(user, work, "--", "no-such-command")
    assert done.returncode == 127
    assert "no-such-command: No such file or directory" in done.stderr


def test_without_a_command_it_is_a_mistake(tally: Tally) -> None:
    assert tally("run").exit_code == 64


TERMINAL = "import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))"


def test_the_command_has_the_terminal_and_ctrl_c_is_its_own(user: Path, work: Path) -> None:
    script = "trap 'echo caught; exit 4' INT; test -t 0 && test -t 1 && echo ready; while :; do sleep 0.05; done"
    words = [sys.executable, "-c", TERMINAL, *TALLY, "run", "--", "sh", "-c", script]
    pipe = subprocess.PIPE
    with subprocess.Popen(words, cwd=work, env=environment(user), stdin=pipe, stdout=pipe, stderr=pipe) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        said = b""
        while b"ready" not in said:
            said += process.stdout.readline() or pytest.fail(f"ended: {said!r}")
        process.stdin.write(b"\x03")
        process.stdin.flush()
        said += process.stdout.read()
        assert process.wait(timeout=120) == 4, said
    assert said.count(b"caught") == 1
    assert b"recorded as session" in said
