"""`tally acp` as an editor starts it."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

AGENT = Path(__file__).parents[2] / "support" / "acp_agent.py"


def start(home: Path, *words: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "tallystick", "--home", str(home), "acp", *words]
    return subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={"HOME": str(home.parent), "PATH": "/usr/bin:/bin"},
    )


def test_it_stands_between_an_editor_and_an_agent_and_records(tmp_path: Path) -> None:
    requests = [
        {"id": 1, "method": "initialize", "params": {}},
        {"id": 2, "method": "session/new", "params": {"cwd": "/", "mcpServers": []}},
        {
            "id": 3,
            "method": "session/prompt",
            "params": {"sessionId": "s-1", "prompt": [{"type": "text", "text": "hey"}]},
        },
    ]
    with start(tmp_path / "store", "--", sys.executable, str(AGENT)) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        said = []
        for request in requests:
            process.stdin.write(json.dumps(request).encode() + b"\n")
            process.stdin.flush()
            said.append(json.loads(process.stdout.readline()))
        last = process.stdout.readline()  # `communicate` would not see what was read ahead
        rest, error = process.communicate(timeout=120)
    assert process.returncode == 0
    assert (rest, error) == (b"", b"")
    (_, new, chunk), end = said, json.loads(last)
    assert "tallystick.dev/provenance" in new["result"]["_meta"]
    assert chunk["params"]["update"]["content"]["text"] == "hey"
    assert end["result"] == {"stopReason": "end_turn"}
    (journal,) = (tmp_path / "store" / "journals").rglob("*.jsonl")
    assert '"hey"' in journal.read_text("utf-8")


def test_untouched_adds_nothing(tmp_path: Path) -> None:
    with start(tmp_path / "store", "--untouched", "--", sys.executable, str(AGENT)) as process:
        said, _ = process.communicate(b'{"id":1,"method":"session/new","params":{}}\n', 30)
    assert json.loads(said)["result"] == {"sessionId": "s-1"}


@pytest.mark.parametrize("code", [0, 1, 3, 64])
def test_the_exit_code_is_the_agents(tmp_path: Path, code: int) -> None:
    with start(tmp_path / "store", "--", "sh", "-c", f"exit {code}") as process:
        assert process.communicate(timeout=120) == (b"", b"")
    assert process.returncode == code


def test_the_agents_options_are_the_agents(tmp_path: Path) -> None:
    with start(tmp_path / "store", "--", "printf", "%s,", "--json", "--home", "x", "-q") as process:
        assert process.communicate(timeout=120)[0] == b"--json,--home,x,-q,"


def test_a_signal_reaches_the_agent_and_its_end_is_ours(tmp_path: Path) -> None:
    with start(tmp_path / "store", "--", "sh", "-c", "echo up; exec sleep 30") as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"up\n"
        process.send_signal(signal.SIGTERM)
        assert process.wait(120) == -signal.SIGTERM


def test_an_agent_that_cannot_be_started_is_said_on_stderr_alone(tmp_path: Path) -> None:
    with start(tmp_path / "store", "--", "no-such-agent") as process:
        said, error = process.communicate(timeout=120)
    assert (process.returncode, said) == (1, b"")
    assert error == b"tally: no-such-agent: cannot be started: No such file or directory\n"


def test_no_agent_is_a_usage_error(tmp_path: Path) -> None:
    with start(tmp_path / "store") as process:
        process.communicate(timeout=120)
    assert process.returncode == 64


def test_a_store_that_cannot_be_written_is_said_and_the_agent_works(tmp_path: Path) -> None:
    (tmp_path / "store").write_text("no folder")
    command = [sys.executable, "-m", "tallystick", "acp", "--", "cat"]
    environment = {"HOME": str(tmp_path), "TALLY_HOME": str(tmp_path / "store"), "PATH": "/usr/bin:/bin"}
    done = subprocess.run(command, input=b"{}\n", capture_output=True, timeout=120, check=False, env=environment)
    assert (done.returncode, done.stdout) == (0, b"{}\n")
    assert done.stderr.startswith(b"tally: acp: nothing is recorded: ")
