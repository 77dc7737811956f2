"""What stands in docs/commands/service.md: commands that start the recorder and talk to it, really run.

Owns the order, that the recorder ends whatever happens, and which figures differ from run to run: those are replaced.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import time

from generate import anew, home, run, say

from tallystick.capture import recorder

_MADE_UP = (
    (r"\bpid( is)?( +)\d+", r"pid\1\g<2>4711"),
    (r"\d+\.\d GB free", "41.2 GB free"),
    (r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d[.\d]*(Z|\+00:00)", r"2026-11-22T09:00:00\1"),
    (r"in \d+ ms", "in 14 ms"),
    (r"follows the record.*", "follows the record; process 4712 writes it"),
    (r"(indexer +).*", r"\1pid 4712, state idle, waiting 0, failures 0"),
    (r"(agreement +)same \d", r"\1same 1"),
    (r"(port +)\d+", r"\g<1>40123"),
    (r"(checkpoints +)made \d", r"\1made 1"),
    (r"(answer ms +).*", r"\1p50 0.4, p99 1.1, max 1.1"),
)
_DELETING = {
    "hook_event_name": "PreToolUse",
    "session_id": "5c1d",
    "cwd": "/home/dev/project",
    "tool_name": "Bash",
    "tool_use_id": "toolu_1",
    "tool_input": {"command": "rm -rf ~/.tally/journals"},
}


def at_work() -> None:
    """Connect the agents of the samples, try the hooks, have a call refused, and end the recorder."""
    anew()
    before, os.environ["PATH"] = os.environ["PATH"], ""  # the agents of this machine are not asked
    say("```")
    try:
        for command in ("up", "doctor", "hook claude-code"):
            _show(command)
        _wait_for_the_port()
        _show("service status")
    finally:
        _show("service stop")
        os.environ["PATH"] = before
    say("```")


def _wait_for_the_port() -> None:
    """It opens once policies are loaded: what is shown is a recorder that has been there for a moment."""
    until = time.monotonic() + 30
    while (recorder.status(home() / ".tally") or {}).get("port") is None and time.monotonic() < until:
        time.sleep(0.05)


def _show(command: str) -> None:
    said = _delivered(command) if command.startswith("hook ") else run(command)
    for pattern, instead in _MADE_UP:
        said = re.sub(pattern, instead, said)
    say(f"$ tally {command}{' < delete.json' if command.startswith('hook ') else ''}")
    say("\n".join(line.rstrip() for line in said.rstrip("\n").split("\n")))


def _delivered(command: str) -> str:
    """A hook's answer. It reads and writes descriptors, as a process of its own."""
    words = [sys.executable, "-m", "tallystick", *shlex.split(command)]
    payload = json.dumps(_DELETING).encode()
    done = subprocess.run(words, input=payload, env={"HOME": str(home())}, capture_output=True, check=True)
    return (done.stdout + done.stderr).decode().replace(str(home()), "/home/dev")
