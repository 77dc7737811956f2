"""`tally ingest`: what a script pipes in."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Tally, TallyJson


def lines(*members: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(each).encode() + b"\n" for each in members)


CALL = {"type": "tool_call", "session": "s", "call": "c1", "tool": "Bash", "args": {"command": "make"}}
RESULT = {"type": "tool_result", "session": "s", "call": "c1", "output": "done", "success": True}


def test_a_script_s_lines_are_recorded_once(tally: Tally, tally_json: TallyJson) -> None:
    for new in (2, 0):
        result = tally("ingest", "--stdin", "--agent", "builder", "--json", input=lines(CALL, RESULT))
        assert result.exit_code == 0, result.output
        data = json.loads(result.stdout)["data"]
        assert data["steps"].get("recorded", 0) == new
    (session,) = tally_json("session", "list")["sessions"]
    assert session["agent"] == "builder"
    assert tally("verify").exit_code == 0


def test_a_refused_line_is_told_with_its_number_and_fails_the_command(tally: Tally) -> None:
    result = tally("ingest", "--stdin", input=lines(CALL) + b'{"type": "tool_call", "tol": 1}\n' + lines(RESULT))
    assert result.exit_code == 1
    assert "line 2: Object contains unknown field `tol`" in result.stderr
    assert "recorded 2 steps of 1 session" in result.stdout


def test_hostile_text_in_an_error_reaches_no_terminal(tally: Tally) -> None:
    result = tally("ingest", "--stdin", input=b'{"type": "x", "\\u001b[31mred": 1}\n')
    assert result.exit_code == 1
    assert "\x1b" not in result.output


def test_the_session_and_the_run_can_be_given_from_outside(tally: Tally, tally_json: TallyJson) -> None:
    told = tally("ingest", "--stdin", "--session", "nightly", input=lines({"type": "warning", "text": "late"}))
    assert told.exit_code == 0
    run = tally(
        "ingest", "--stdin", "--session", "inner", input=lines({"type": "warning"}), env={"TALLY_SESSION": "r1"}
    )
    assert run.exit_code == 0
    kinds = {row["source_session"]: row["kind"] for row in tally_json("session", "list")["sessions"]}
    assert kinds == {"nightly": "root", "inner": "child"}


def test_the_schema_is_printed(tally: Tally) -> None:
    assert "Line" in json.loads(tally("ingest", "--schema").stdout)["$defs"]


@pytest.mark.parametrize("words", [(), ("--stdin", "--schema")])
def test_it_is_not_guessed_what_to_read(tally: Tally, words: tuple[str, ...]) -> None:
    assert tally("ingest", *words).exit_code == 64


def test_a_line_is_in_the_store_while_the_script_goes_on(user: Path) -> None:
    command = [sys.executable, "-m", "tallystick", "ingest", "--stdin"]
    with subprocess.Popen(command, env={"HOME": str(user)}, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        process.stdin.write(lines(CALL))
        process.stdin.flush()
        until = time.monotonic() + 120
        while not any(b"make" in path.read_bytes() for path in user.glob(".tally/journals/*/*/*.jsonl")):
            assert time.monotonic() < until, "the line never reached the store"
            time.sleep(0.02)
        assert process.poll() is None
        process.communicate(lines(RESULT), timeout=120)
        assert process.returncode == 0
