"""The agent's process, found from a hook that it started."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
from msgspec.structs import replace

from tallystick.capture.agent_process import AgentProcess, agent_above, is_running

WAITING = "import sys; print('here', flush=True); sys.stdin.read()"


@pytest.mark.parametrize("shells", [(), ("/bin/sh", "-c", '"$0" "$@"; true'), ("/usr/bin/env",)])
def test_the_agent_is_above_its_hook_and_the_shell_that_started_it(tmp_path: Path, shells: tuple[str, ...]) -> None:
    hook = tmp_path / "hook.py"
    hook.write_text(f"import os; print(os.getpid(), flush=True); {WAITING}")
    words = [*shells, sys.executable, "-I", "-S", str(hook), "claude-code"]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        pid = int(process.stdout.readline())
        found = agent_above(pid)
        process.communicate()
    assert found is not None
    assert found.pid == os.getpid()
    assert is_running(found)


def test_a_plugin_is_in_the_agent_itself() -> None:
    found = agent_above(os.getpid())
    assert found == AgentProcess(os.getpid(), round(psutil.Process().create_time() * 1000))


def test_a_process_that_is_gone_waits_to_be_reaped_or_is_another_by_now_does_not_run() -> None:
    process = subprocess.Popen([sys.executable, "-c", WAITING], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.readline()
    found = agent_above(process.pid)
    assert found is not None
    assert is_running(found)
    assert not is_running(replace(found, began_ms=found.began_ms - 60_000))
    process.kill()
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    assert not is_running(found)
    process.communicate()
    assert not is_running(found)
    assert agent_above(process.pid) is None
