"""What can go wrong around a recorder, made for real: small disks, silent connections, other users; and what agents send."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import tallystick.hook
from tallystick.capture.place import Place
from tallystick.hook import VERSION
from tallystick.journal.home import Home
from tallystick.journal.read import read_session
from tallystick.model.recorded import Recorded
from tallystick.trust.verify import verify_store
from tests.support import hooks

HOOK = Path(tallystick.hook.__file__)
AGENTS = ("claude-code", "codex", "gemini", "qwen", "copilot")
_PATIENCE_SECONDS = 120.0
SESSION = "61cacf39-0bfe-4715-9688-4dec476ed256"


# What agents send ----------------------------------------------------------------------------------------------------

_SHELL = {"claude-code": "Bash", "codex": "Bash", "gemini": "run_shell_command", "qwen": "run_shell_command"}
_READ = {"claude-code": "Read", "codex": "Read", "gemini": "read_file", "qwen": "read_file"}


def before(agent: str, number: int, *, reads: bool = False, command: str = "echo hi") -> dict[str, Any]:
    """What an agent says before a call, as recorded from it; Copilot's name of the event stands on its command line."""
    args = {"file_path": "/home/dev/project/a.txt"} if reads else {"command": command}
    if agent == "copilot":
        tool = "view" if reads else "bash"
        return {
            "sessionId": SESSION,
            "timestamp": 1795293860746 + number,
            "cwd": "/",
            "toolName": tool,
            "toolArgs": args,
        }
    said: dict[str, Any] = {"session_id": SESSION, "cwd": "/home/dev/project"}
    said["hook_event_name"] = "BeforeTool" if agent == "gemini" else "PreToolUse"
    said["tool_name"] = (_READ if reads else _SHELL)[agent]
    said["tool_input"] = args
    if agent in ("gemini", "qwen"):
        said["timestamp"] = f"2026-11-21T20:39:{number % 60:02}.{number // 60:03}Z"
    if agent != "gemini":
        said["tool_use_id"] = f"call_{number:05}"
    if agent == "qwen":
        said["tool_call_id"] = f"call_{number:05}"
    return said


def prompt(agent: str, number: int) -> dict[str, Any]:
    """An event that is no call: a user's prompt."""
    if agent == "copilot":
        return {"sessionId": SESSION, "timestamp": 1795293860746 + number, "cwd": "/", "prompt": f"do {number}"}
    name = "BeforeAgent" if agent == "gemini" else "UserPromptSubmit"
    at = f"2026-11-21T20:40:{number % 60:02}.{number // 60:03}Z"
    return {
        "session_id": SESSION,
        "cwd": "/home/dev/project",
        "hook_event_name": name,
        "prompt": f"do {number}",
        "timestamp": at,
    }


def event_word(agent: str, said: dict[str, Any]) -> list[str]:
    """What stands on the command line beside the agent's name."""
    if agent != "copilot":
        return []
    return ["preToolUse"] if "toolName" in said else ["userPromptSubmitted"]


# Delivering ----------------------------------------------------------------------------------------------------------


def run_hook(
    home: Path | str,
    said: dict[str, Any] | bytes,
    agent: str = "claude-code",
    *words: str,
    python: str = sys.executable,
    environment: dict[str, str] | None = None,
    hook: Path | None = None,
    **options: Any,
) -> subprocess.CompletedProcess[bytes]:
    """Run the hook as an agent does, by default with limits that a busy machine does not reach."""
    data = said if isinstance(said, bytes) else json.dumps(said).encode()
    if isinstance(said, dict) and not words:
        words = tuple(event_word(agent, said))
    variables = {"PATH": os.defpath, "HOME": str(Path(home).parent)} if environment is None else environment
    return subprocess.run(
        [python, "-I", "-S", str(hook or hooks.hook()), "--home", str(home), agent, *words],
        input=data,
        capture_output=True,
        env=variables,
        timeout=_PATIENCE_SECONDS,
        check=False,
        **options,
    )


def connect(home: Home, timeout: float = _PATIENCE_SECONDS) -> socket.socket:
    """A connection to the recorder's socket, however long its path is."""
    folder = os.open(Place(home.folder).run, os.O_RDONLY)
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.settimeout(timeout)
        while True:
            try:
                connection.connect(f"/proc/self/fd/{folder}/recorder.sock")
                break
            except BlockingIOError:  # as many wait as may
                time.sleep(0.005)
    except BaseException:
        connection.close()
        raise
    finally:
        os.close(folder)
    return connection


def send(home: Home, said: dict[str, Any] | bytes, agent: str = "claude-code", *, version: str = VERSION) -> bytes:
    """Deliver over the socket, as hook.py does; the whole answer, empty if there is none. Raises OSError."""
    data = said if isinstance(said, bytes) else json.dumps(said).encode()
    now = time.time_ns()
    head = f"TALLY1 {len(data)} {agent} - {version} {now} t{os.getpid()}.{now} -\n"
    with connect(home) as connection:
        connection.sendall(head.encode() + data)
        answer = b""
        while part := connection.recv(1 << 16):
            answer += part
    return answer


# What stands on disk -------------------------------------------------------------------------------------------------


def steps(home: Home, agent: str = "claude-code") -> list[Recorded]:
    """All steps of the sessions of an agent, as they stand on disk."""
    found = []
    for sid, _ in home.sessions():
        session = list(read_session(home, sid))
        if session and session[0].meta.get("agent") == agent:
            found += session
    return found


def call_ids(home: Home, agent: str = "claude-code") -> list[str]:
    return [str(step.meta.get("corr")) for step in steps(home, agent) if step.type == "tool_call"]


def gaps(home: Home) -> list[str]:
    """The reasons of the gaps that the recorder told of."""
    return [str(step.meta["reason"]) for step in steps(home, "tallystick") if step.type == "gap"]


def wait_for(true: Callable[[], object], seconds: float = _PATIENCE_SECONDS) -> None:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if true():
            return
        time.sleep(0.02)
    raise AssertionError("it did not become true in time")


def wait_for_calls(home: Home, *numbers: int, seconds: float = _PATIENCE_SECONDS) -> None:
    """Wait until exactly these calls of Claude Code are recorded, each once."""
    wanted, until = [f"call_{number:05}" for number in numbers], time.monotonic() + seconds
    while sorted(call_ids(home)) != wanted and time.monotonic() < until:
        time.sleep(0.02)
    if sorted(call_ids(home)) != wanted:
        log = Place(home.folder).log
        said = log.read_text("utf-8") if log.exists() else ""
        files = sorted(path.name for path in home.folder.rglob("*") if path.suffix in (".spool", ".part"))
        raise AssertionError(f"{wanted} are recorded as {call_ids(home)}; gaps {gaps(home)}; {files}; {said}")


def is_sound(home: Home) -> bool:
    return verify_store(home).exit_code in (0, 3)


def answers(home: Home, number: int) -> bool:
    """Whether the recorder takes a call, says nothing against it, and has it on disk."""
    return send(home, before("claude-code", number)) == b"0 0 0\n" and f"call_{number:05}" in call_ids(home)


# Disks ---------------------------------------------------------------------------------------------------------------


class SmallDisk:
    """A file system in memory, in a mount namespace of its own; seen from here below /proc/PID/root."""

    def __init__(self, megabytes: int) -> None:
        self._folder = tempfile.mkdtemp(prefix="tally-disk-")
        self._shell = subprocess.Popen(
            ["unshare", "--mount", "sh"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        try:
            self._say(f"mount -t tmpfs -o size={megabytes}m,mode=0700 none {self._folder}")
        except OSError:
            self.close()
            raise
        self.path = Path(f"/proc/{self._shell.pid}/root{self._folder}")

    def _say(self, command: str) -> None:
        assert self._shell.stdin is not None
        assert self._shell.stdout is not None
        self._shell.stdin.write(f"{command} >/dev/null 2>&1; echo $?\n")
        self._shell.stdin.flush()  # a broken pipe is an OSError, too
        if self._shell.stdout.readline().strip() != "0":
            raise OSError(command)

    def fill(self) -> None:
        """Leave no byte."""
        with (self.path / "ballast").open("wb", buffering=0) as file:
            for size in (1 << 16, 1 << 10, 1):
                try:
                    while True:
                        file.write(b"\0" * size)
                except OSError:
                    continue

    def free(self) -> None:
        (self.path / "ballast").unlink()

    def mount(self, option: str) -> None:
        """Mount it again, `ro` or `rw`."""
        self._say(f"mount -o remount,{option} {self._folder}")

    def close(self) -> None:
        assert self._shell.stdin is not None
        assert self._shell.stdout is not None
        with contextlib.suppress(OSError):
            self._shell.stdin.close()
        self._shell.stdout.close()
        self._shell.wait()
        shutil.rmtree(self._folder, ignore_errors=True)


def can_mount() -> bool:
    """Whether this machine lets us mount, which takes root or a kernel that gives everyone namespaces."""
    if shutil.which("unshare") is None:
        return False
    try:
        SmallDisk(1).close()
    except OSError:
        return False
    return True


needs_mount = pytest.mark.skipif(not can_mount(), reason="mounting a small disk takes root and `unshare`")


@pytest.fixture
def small_disk() -> Iterator[SmallDisk]:
    disk = SmallDisk(8)
    yield disk
    disk.close()
