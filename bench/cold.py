"""A cold recorder on a busy machine: calls that only look must never become a question.

Each figure is of whole hook processes, beside four processes that do nothing but compute. The recorder is ended before every
tenth call, so that most calls meet one that is not there, or is loading.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import tallystick.hook
from bench.measure import Figure
from tallystick.capture import recorder
from tallystick.hook_looks import LIST
from tallystick.journal.home import Home

HOOK = Path(tallystick.hook.__file__)
LOOKS = ("git status", "ls", "pwd", "cat main.py", "git diff --stat", "ls -la", "git log --oneline -5", "wc -l main.py")
CALLS = 200
_BUSY = 4
_COLD_EVERY = 10
_SECONDS = 60.0


class _Told(NamedTuple):
    took_ms: float
    is_silent: bool


def figures(folder: Path) -> Iterator[Figure]:
    """Of 200 harmless calls: how many are asked about or refused, and how long they take; then without the list."""
    home, project = Home(folder / "store"), folder / "project"
    project.mkdir(parents=True)
    (project / "main.py").write_text("x = 1\n")
    recorder.start(home.folder)
    _wait_for(home.folder / LIST)
    try:
        with _busy():
            told = [_call(home, project, number) for number in range(CALLS)]
            yield from _of("on the list", told)
        with _busy():
            told = [_call(home, project, number, is_listed=False) for number in range(CALLS // 10)]
            yield from _of("without the list", told, aim=None)
    finally:
        recorder.stop(home.folder)


def _of(name: str, told: Sequence[_Told], aim: int | None = 0) -> Iterator[Figure]:
    questioned = sum(not one.is_silent for one in told)
    name = f"{len(told)} harmless calls, cold recorder, four busy processes, {name}"
    target = "" if aim is None else f"{aim}"
    yield Figure(f"{name}: questioned", questioned, "calls", target=target, met=aim is None or questioned <= aim)
    late = sorted(one.took_ms for one in told)[int(len(told) * 0.95)]
    yield Figure(f"{name}: p95", late, "ms", target="< 900" if aim is not None else "", met=aim is None or late < 900)


def _call(home: Home, project: Path, number: int, *, is_listed: bool = True) -> _Told:
    if number % _COLD_EVERY == 0:
        recorder.stop(home.folder)
    if not is_listed:
        (home.folder / LIST).unlink(missing_ok=True)
    said = {
        "session_id": "cold", "cwd": str(project), "hook_event_name": "PreToolUse", "permission_mode": "default",
        "tool_name": "Bash",
        "tool_input": {"command": LOOKS[number % len(LOOKS)]}, "tool_use_id": f"call-{number}",
    }  # fmt: skip
    began = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(HOOK), "--home", str(home.folder), "claude-code"],
        input=json.dumps(said).encode(),
        capture_output=True,
        env={"HOME": str(home.folder.parent), "PATH": os.environ.get("PATH", "")},
        check=False,
    )
    return _Told((time.perf_counter() - began) * 1000, (done.returncode, done.stdout, done.stderr) == (0, b"", b""))


@contextmanager
def _busy() -> Iterator[None]:
    loops = [subprocess.Popen([sys.executable, "-I", "-S", "-c", "while True: pass"]) for _ in range(_BUSY)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def _wait_for(path: Path) -> None:
    until = time.monotonic() + _SECONDS
    while not path.exists() and time.monotonic() < until:
        time.sleep(0.05)
