"""`tally mcp` between a real MCP client and a real MCP server, both of the protocol's own package."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Tally, TallyJson

HERE = Path(__file__).parent
SERVER = [sys.executable, str(HERE / "mcp_notes.py")]
PROXY = [sys.executable, "-m", "tallystick", "mcp"]


def talk(user: Path, mode: str, command: list[str]) -> list[list[str]]:
    """What the client is told through a command and without it. It gives servers no environment but HOME and PATH."""
    client = [sys.executable, "-m", "tests.cli.record.mcp_client", mode, *command]
    done = subprocess.run(
        client,
        cwd=HERE.parents[2],
        env={"HOME": str(user), "PATH": ""},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: list[list[str]] = json.loads(done.stdout)
    return found


def steps_of(tally: Tally) -> list[dict[str, Any]]:
    exported = tally("log", "--limit", "100", "--json")
    rows: list[dict[str, Any]] = json.loads(exported.stdout)["data"]["steps"]
    return sorted(rows, key=lambda row: int(row["n"]))


@pytest.mark.parametrize("mode", ["legacy", pytest.param("auto", marks=pytest.mark.soak)])
def test_a_client_is_told_the_same_and_all_of_it_is_recorded(
    user: Path, tally: Tally, tally_json: TallyJson, mode: str
) -> None:
    through_ours, told = talk(user, mode, [*PROXY, "--", *SERVER])
    assert through_ours == told
    (session,) = tally_json("session", "list")["sessions"]
    assert session["agent"] == "mcp"
    rows = steps_of(tally)
    tools = [row["tool"] for row in rows if row["type"] == "tool_call"]
    named = [f"mcp__notes_server__{name}" for name in ("add", "fail", "picture", "forget", "think")]
    assert tools == [*named, "resources/read", "resources/read", "prompts/get"]
    success = [row["success"] for row in rows if row["type"] == "tool_result"]
    works = mode == "legacy"  # without initialize a server cannot ask its client anything by itself
    assert success == [True, False, True, works, works, True, False, True]
    kinds = [row["type"] for row in rows]
    assert kinds.count("permission") == (2 if works else 0)
    assert kinds.count("model_call") == (1 if works else 0)
    assert (kinds[0], kinds[-1]) == ("session_start", "session_end")
    assert tally("verify").exit_code == 0


def test_the_name_that_the_agent_uses_goes_before_the_server_s_own(user: Path, tally: Tally) -> None:
    said = b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "search"}}\n'
    command = [*PROXY, "--name", "github", "--", sys.executable, "-c", "input()"]
    subprocess.run(command, input=said, env={"HOME": str(user)}, timeout=120, check=True)
    assert "mcp__github__search" in {row["tool"] for row in steps_of(tally)}


def test_bytes_pass_as_they_are_and_the_exit_code_is_the_server_s(user: Path) -> None:
    said = b'{"jsonrpc": "2.0",  "id": 1, "method": "ping"}\r\n\xff\xfe junk\n\n{"id":7}'
    script = "import sys; sys.stdout.buffer.write(sys.stdin.buffer.read()); sys.exit(3)"
    done = subprocess.run(
        [*PROXY, "--", sys.executable, "-c", script],
        input=said,
        env={"HOME": str(user)},
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert (done.stdout, done.returncode) == (said, 3)


def test_a_store_that_cannot_be_opened_takes_no_tools_away(user: Path) -> None:
    (user / ".tally").write_text("not a folder", "utf-8")
    done = subprocess.run(
        [*PROXY, "--", sys.executable, "-c", "print(input())"],
        input=b"hello\n",
        env={"HOME": str(user)},
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert (done.stdout, done.returncode) == (b"hello\n", 0)
    assert b"nothing was recorded" in done.stderr


def test_a_server_that_is_not_there_is_an_error(tally: Tally) -> None:
    result = tally("mcp", "--", "/nonexistent/server")
    assert result.exit_code == 1
    assert "/nonexistent/server" in result.output
    assert tally("mcp").exit_code == 64
