"""The watcher: how fast, how late, how much of the processor, and for which share of writes it names the process.

The watch runs in a process of its own, with its store, and records; what changes files is another process. Times are between
a change and the moment when its step is recorded.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil

from bench.measure import Figure

_SINGLE = 200
_SUSTAINED_S = 10
_FOLDERS = 50
_PER_S = (500, 1000, 2000)

# Writes files at a pace, into folders that are there.
_PACE = """
import sys, time
folder, seconds, per_s, folders = sys.argv[1], *map(int, sys.argv[2:])
began, number = time.perf_counter(), 0
while time.perf_counter() - began < seconds:
    due = int((time.perf_counter() - began) * per_s)
    while number < due:
        open(f"{folder}/{number % folders}/f{number}", "w").write("some text\\n")
        number += 1
    time.sleep(0.002)
print(number)
"""
_LOG = """
import sys, time
with open("build.log", "w", buffering=1) as log:
    for number in range(60):
        print("line", number, file=log)
        time.sleep(0.05)
"""
_WORKLOADS = {
    "a shell script of 200 short writes": "for i in $(seq 200); do echo $i > f$i; sleep 0.01; done",
    "tar, 2,000 files": "tar xf ../many.tar",
    "a program that keeps a log open for 3 s": f"{sys.executable} log.py",
    "git clone of 300 files": "git clone -q ../repository cloned",
    "cp of 20 files of 20 MB": "mkdir big; for i in $(seq 20); do cp ../large big/$i; done",
}


def figures(folder: Path) -> Iterator[Figure]:
    """All of it. `folder` is made."""
    folder.mkdir(parents=True, exist_ok=True)
    yield from _latency(folder / "latency")
    for per_s in _PER_S:
        yield from _sustained(folder / f"sustained-{per_s}", per_s)
    yield from _quiet(folder / "quiet")
    yield from _named(folder / "named")


def _latency(folder: Path) -> Iterator[Figure]:
    work = _made(folder / "work")
    times = []
    with _watching(folder, work) as process:
        for number in range(_SINGLE):
            began = time.perf_counter()
            (work / f"f{number}").write_text("x")
            assert process.stdout is not None
            process.stdout.readline()
            times.append((time.perf_counter() - began) * 1000)
            time.sleep(0.03)
    times.sort()
    yield Figure("watch: from a write to its recorded step, median", times[len(times) // 2], "ms")
    yield Figure("watch: the same, 99th percentile", times[int(len(times) * 0.99)], "ms")


def _sustained(folder: Path, per_s: int) -> Iterator[Figure]:
    work = _made(folder / "work")
    for number in range(_FOLDERS):
        (work / str(number)).mkdir()
    with _watching(folder, work, out=folder / "out") as process:
        cpu = psutil.Process(process.pid)
        before = sum(cpu.cpu_times()[:2])
        command = [sys.executable, "-c", _PACE, str(work), str(_SUSTAINED_S), str(per_s), str(_FOLDERS)]
        wrote = int(subprocess.run(command, capture_output=True, check=True, text=True).stdout)
        began = time.perf_counter()
        counted, at = 0, began
        while time.perf_counter() - at < 2:
            found = (folder / "out").read_bytes().count(b'"effect": "create"')
            if found != counted:
                counted, at = found, time.perf_counter()
            time.sleep(0.1)
        used = sum(cpu.cpu_times()[:2]) - before
    told = f"{wrote:,} files written"
    name = f"watch: {per_s:,} new files a second for {_SUSTAINED_S} s"
    yield Figure(f"{name}, told one by one", counted / wrote * 100, "%", told)
    yield Figure(f"{name}, behind at the end", max(0.0, at - began), "s")
    yield Figure(f"{name}, processor", used / _SUSTAINED_S * 100, "%")


def _quiet(folder: Path) -> Iterator[Figure]:
    work = _made(folder / "work")
    for number in range(1000):
        (work / str(number)).mkdir()
        for file in range(10):
            (work / str(number) / str(file)).touch()
    began = time.perf_counter()
    with _watching(folder, work) as process:
        yield Figure("watch: start on 10,000 files in 1,000 folders", time.perf_counter() - began, "s")
        cpu = psutil.Process(process.pid)
        time.sleep(1)
        before = sum(cpu.cpu_times()[:2])
        time.sleep(10)
        yield Figure("watch: processor while nothing happens", (sum(cpu.cpu_times()[:2]) - before) * 10, "%")
        yield Figure("watch: memory with 10,000 files known", cpu.memory_info().rss / 1e6, "MB")


def _named(folder: Path) -> Iterator[Figure]:
    folder.mkdir(parents=True)
    _prepare(folder)
    for number, (name, script) in enumerate(_WORKLOADS.items()):
        work = _made(folder / f"work{number}")
        (work / "log.py").write_text(_LOG)
        environment = _environment(folder)
        command = [
            sys.executable,
            "-m",
            "tallystick",
            "run",
            "--json",
            "--no-sensitive-roots",
            "--",
            "sh",
            "-c",
            script,
        ]
        said = subprocess.run(command, cwd=work, env=environment, capture_output=True, check=True, text=True).stdout
        session = json.loads(said[said.index("{") :])["data"]["session"]
        writes = _writes(folder, session)
        named = sum(meta["process"] != "unknown" for meta in writes)
        yield Figure(
            f"watch: process named, {name}", named / max(len(writes), 1) * 100, "%", f"{named} of {len(writes)}"
        )


def _writes(folder: Path, session: str) -> list[dict[str, Any]]:
    """The `meta` of each step of a session that says that bytes were written."""
    from tallystick.journal.home import Home
    from tallystick.journal.read import read_session
    from tallystick.model.ids import SessionId

    steps = read_session(Home(folder / "store"), SessionId(session))
    effects = [step.meta for step in steps if step.type == "file_effect"]
    return [dict(meta) for meta in effects if meta["effect"] in ("create", "modify") and "bytes" in meta]


def _prepare(folder: Path) -> None:
    many = _made(folder / "many")
    for number in range(2000):
        (many / f"f{number}").write_text(f"file {number}\n")
    script = """
        tar cf many.tar many
        head -c 20000000 /dev/urandom > large
        git init -q repository
        for i in $(seq 300); do echo $i > repository/f$i; done
        cd repository && git add . && git -c user.name=dev -c user.email=dev@example.com commit -qm files
    """
    subprocess.run(["sh", "-ec", script], cwd=folder, check=True, env=_environment(folder))


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True)
    return folder


def _environment(folder: Path) -> dict[str, str]:
    return {"HOME": str(folder), "PATH": os.environ.get("PATH", ""), "TALLY_HOME": str(folder / "store")}


@contextmanager
def _watching(folder: Path, work: Path, *, out: Path | None = None) -> Iterator[subprocess.Popen[str]]:
    """A watch with --json that has begun; its output goes to `out`, else into a pipe."""
    command = [sys.executable, "-m", "tallystick", "watch", str(work), "--json", "--no-sensitive-roots"]
    target = out.open("w") if out is not None else subprocess.PIPE
    with subprocess.Popen(command, env=_environment(folder), stdout=target, text=True) as process:
        if out is None:
            assert process.stdout is not None
            process.stdout.readline()
        else:
            while not out.read_bytes():
                time.sleep(0.01)
        yield process
        process.send_signal(signal.SIGINT)
        if process.stdout is not None:
            process.stdout.read()
