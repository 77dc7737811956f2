"""Calls of which no two are alike, of fifty sessions side by side, and what is loaded before the first of all is judged.

Owns both figures, in processor time of each process: how fast answers come depends on who else uses the machine. The
baseline is a bare interpreter's start, measured just before.
"""

from __future__ import annotations

import json
import os
import resource
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil

from bench.measure import Figure
from tallystick.capture import recorder
from tallystick.hook import VERSION
from tallystick.journal.archive import Archive
from tallystick.journal.home import Home

_SESSIONS = 50
_SENDERS = 16
_CALLS = 2000
_ROUNDS = 5
_FORMS = (
    "python3 tools/run{n}.py --in data/{n}.csv --out build/{n}.json",
    "git diff HEAD~{some} -- src/mod{n}.py | head -{n}",
    'grep -rn "def f{n}" src/ tests/ && sed -n {some},{n}p src/mod{n}.py',
)
_BARE = "a bare interpreter's start"
_LOADED = """
import sys
from pathlib import Path
from tallystick.guard import decide
from tallystick.journal.home import Home
from tallystick.service import decider, deciding
deciding.Deciding(Home(Path(sys.argv[1]))).load()
"""


def figures(folder: Path) -> Iterator[Figure]:
    """Processor time for a call in each process, how many are answered a second, and processor time before the first."""
    folder.mkdir(parents=True)
    home, work = Home(folder / "store"), folder / "work"
    work.mkdir()
    Archive.make(home)
    command = [sys.executable, "-I", "-c", _LOADED, str(home.folder)]
    _cpu(command)
    bare, loaded = (
        min(_cpu(one) for _ in range(_ROUNDS)) for one in ([sys.executable, "-I", "-S", "-c", "pass"], command)
    )
    yield Figure("CPU to load all that judges calls", loaded, "ms", _BARE, loaded / bare)
    yield from _load(home, work, bare)


def _load(home: Home, work: Path, bare: float) -> Iterator[Figure]:
    front = psutil.Process(recorder.start(home.folder))
    try:
        for number in range(_SESSIONS):
            _ask(home, work, number)
        said = recorder.status(home.folder)
        assert said is not None
        processes = {"front": front, "decider": psutil.Process(int(said["decider"]["pid"]))}
        before = {name: _used(process) for name, process in processes.items()}
        began = time.perf_counter()
        with ThreadPoolExecutor(_SENDERS) as senders:
            took = sorted(senders.map(lambda n: _ask(home, work, n), range(_SESSIONS, _SESSIONS + _CALLS)))
        rate = _CALLS / (time.perf_counter() - began)
        for name, process in processes.items():
            used = (_used(process) - before[name]) / _CALLS
            yield Figure(f"CPU for a call unlike all others, {name}", used, "ms", _BARE, used / bare)
    finally:
        recorder.stop(home.folder)
    p99 = took[int(_CALLS * 0.99)]
    yield Figure("distinct calls a second, 50 sessions, 16 at once", rate, "calls", target=">= 1,000", met=rate >= 1000)
    yield Figure("answer under that load, p99", p99, "ms", target="<= 50", met=p99 <= 50)


def _ask(home: Home, work: Path, number: int) -> float:
    """The milliseconds until a call is answered."""
    command = _FORMS[number % len(_FORMS)].format(n=number, some=number % 70 + 1)
    data = json.dumps(
        {
            "session_id": f"s{number % _SESSIONS}",
            "cwd": str(work),
            "hook_event_name": "PreToolUse",
            "tool_name": "Bash",
            "tool_input": {"command": command},
            "tool_use_id": f"t{number}",
        }
    ).encode()
    began = time.perf_counter()
    now = time.time_ns()
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(str(home.folder / "run" / "recorder.sock"))
        connection.sendall(f"TALLY1 {len(data)} claude-code - {VERSION} {now} d{os.getpid()}.{now} -\n".encode() + data)
        while connection.recv(65536):
            pass
    return (time.perf_counter() - began) * 1000


def _used(process: psutil.Process) -> float:
    times = process.cpu_times()
    return (times.user + times.system) * 1000


def _cpu(command: list[str]) -> float:
    """The milliseconds of processor time of a whole process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1000
