"""Live capture: what an agent waits for its hook, and what the recorder bears.

Latency is of whole processes, taken alternately with their baseline; the load is many connections from one process.
"""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil

import tallystick.hook
from bench.measure import Figure
from tallystick.capture import recorder
from tallystick.capture.loopback import wait_for_loopback
from tallystick.capture.place import Place
from tallystick.hook import VERSION
from tallystick.journal.home import Home

HOOK = Path(tallystick.hook.__file__)
_BARE = "python -I -S -c pass"
_ROUNDS = 200
_SESSIONS = 50
_EVENTS_A_SECOND = 2000
_LOAD_SECONDS = 10


def figures(folder: Path) -> Iterator[Figure]:
    """Hook latency, the start on demand, the port, the slow way, and the load of 50 sessions with and without transcripts."""
    home = Home(folder / "store")
    yield from _start(home)
    recorder.start(home.folder)
    try:
        yield from _latency(home)
        yield from _http(home)
        yield from _load(home, None)
        transcripts = folder / "transcripts"
        transcripts.mkdir()
        yield from _load(home, transcripts)
        yield from _slow(home)
    finally:
        recorder.stop(home.folder)


def event(session: str, number: int) -> list[dict[str, Any]]:
    """The call and the result of one tool call, as Claude Code says them."""
    common = {"session_id": session, "cwd": "/home/dev/project", "prompt_id": "p", "permission_mode": "default"}
    call = {
        "tool_name": "Bash",
        "tool_input": {"command": f"make test-{number}"},
        "tool_use_id": f"toolu_{session}_{number}",
    }
    response = {"stdout": "ok\n" * 40, "stderr": "", "interrupted": False, "isImage": False}
    return [
        {**common, "hook_event_name": "PreToolUse", **call},
        {**common, "hook_event_name": "PostToolUse", **call, "tool_response": response, "duration_ms": 12},
    ]


def _milliseconds(command: list[str], data: bytes, folder: Path) -> float:
    began = time.perf_counter()
    subprocess.run(command, input=data, env={"HOME": str(folder)}, capture_output=True, check=False)
    return (time.perf_counter() - began) * 1000


def _at(values: list[float], share: float) -> float:
    return sorted(values)[min(int(len(values) * share), len(values) - 1)]


def _latency(home: Home) -> Iterator[Figure]:
    python = [sys.executable, "-I", "-S"]
    hook = [*python, str(HOOK), "--home", str(home.folder), "claude-code"]
    bare, shell, ours = [], [], []
    for number in range(_ROUNDS):
        data = json.dumps(event("latency", number)[number % 2]).encode()
        bare.append(_milliseconds([*python, "-c", "pass"], b"", home.folder))
        shell.append(_milliseconds(["/bin/sh", "-c", "cat >/dev/null"], data, home.folder))
        ours.append(_milliseconds(hook, data, home.folder))
    for name, share, most in (("p50", 0.5, 4.0), ("p99", 0.99, 25.0)):
        more = _at(ours, share) - _at(bare, share)
        target = f"<= +{most:.0f} ms"
        ratio = _at(ours, share) / _at(bare, share)
        yield Figure(f"hook, a whole process, {name} over {_BARE}", more, "ms", _BARE, ratio, target, more <= most)
    yield Figure(
        "hook, a whole process, p50", _at(ours, 0.5), "ms", "an empty shell hook", _at(ours, 0.5) / _at(shell, 0.5)
    )


def _start(home: Home) -> Iterator[Figure]:
    took = []
    for number in range(5):
        recorder.stop(home.folder)
        data = json.dumps(event("start", number)[0]).encode()
        hook = [sys.executable, "-I", "-S", str(HOOK), "--home", str(home.folder), "claude-code"]
        took.append(_milliseconds(hook, data, home.folder))
    value = _at(took, 0.5)
    yield Figure("hook that starts the recorder and is answered", value, "ms", target="< 400", met=value < 400)


def _http(home: Home) -> Iterator[Figure]:
    found = wait_for_loopback(Place(home.folder))
    if found is None:
        return
    kept = http.client.HTTPConnection("127.0.0.1", found.port)
    for name, connection in (("kept open", kept), ("opened for each", None)):
        took = []
        for number in range(_ROUNDS):
            data = json.dumps(event(f"http-{name[0]}", number // 2)[number % 2]).encode()
            began = time.perf_counter()
            current = connection or http.client.HTTPConnection("127.0.0.1", found.port)
            current.request("POST", "/hook/claude-code", data, {"authorization": f"Bearer {found.token}"})
            current.getresponse().read()
            took.append((time.perf_counter() - began) * 1000)
            if connection is None:
                current.close()
        value = _at(took, 0.5)
        yield Figure(f"HTTP hook, a connection {name}, p50", value, "ms", target="< 3", met=value < 3)
    kept.close()


def _slow(home: Home) -> Iterator[Figure]:
    """A recorder that hangs: the hook waits for it, keeps the delivery, and decides alone."""
    running = recorder.start(home.folder)
    hook = [sys.executable, "-I", "-S", str(HOOK), "--home", str(home.folder), "claude-code"]
    took: list[list[float]] = [[], []]
    os.kill(running, signal.SIGSTOP)
    try:
        for number in range(5):
            for kind, said in enumerate(event("slow", number)):
                took[kind].append(_milliseconds(hook, json.dumps(said).encode(), home.folder))
    finally:
        os.kill(running, signal.SIGCONT)
    for name, values in zip(("a call with effects", "any other event"), took, strict=True):
        value = max(values)
        yield Figure(f"hook, {name}, where the recorder hangs, max", value, "ms", target="< 2,000", met=value < 2000)


# Load ----------------------------------------------------------------------------------------------------------------


def _load(home: Home, transcripts: Path | None) -> Iterator[Figure]:
    os.chdir(home.folder / "run")
    process = psutil.Process(recorder.start(home.folder))
    before = process.cpu_times()
    took, seconds = asyncio.run(_sessions(transcripts))
    after = process.cpu_times()
    rate = len(took) / seconds
    kind = "" if transcripts is None else ", transcripts followed"
    yield Figure(
        f"deliveries a second, 50 sessions{kind}",
        rate,
        "events",
        target=">= 2,000",
        met=rate >= _EVENTS_A_SECOND * 0.98,
    )
    p99 = _at(took, 0.99)
    yield Figure(f"answer under that load{kind}, p50", _at(took, 0.5), "ms")
    yield Figure(f"answer under that load{kind}, p99", p99, "ms", target="< 50", met=p99 < 50)
    used = after.user + after.system - before.user - before.system
    yield Figure(f"CPU of the recorder for 1,000 deliveries{kind}", used / len(took) * 1000, "s")
    memory = _peak_megabytes(process.pid)
    if memory is not None:
        yield Figure(f"peak memory of the recorder after it{kind}", memory, "MB", target="< 250", met=memory < 250)


async def _sessions(transcripts: Path | None) -> tuple[list[float], float]:
    """Every session sends at a steady pace; the milliseconds of each answer, and the seconds it took in all."""
    took: list[float] = []
    began = time.perf_counter()
    await asyncio.gather(*(_one_session(number, began, took, transcripts) for number in range(_SESSIONS)))
    return took, time.perf_counter() - began


async def _one_session(session: int, began: float, took: list[float], transcripts: Path | None) -> None:
    pace = _SESSIONS / _EVENTS_A_SECOND
    total = _EVENTS_A_SECOND * _LOAD_SECONDS // _SESSIONS
    name = f"load-{session}" if transcripts is None else f"told-{session}"
    for number in range(total):
        due = began + number * pace + session * pace / _SESSIONS
        await asyncio.sleep(max(due - time.perf_counter(), 0))
        said = event(name, number // 2)[number % 2]
        if transcripts is not None:
            said["transcript_path"] = str(transcripts / f"{name}.jsonl")
            _write(Path(said["transcript_path"]), said, number)
        # From when it was due: what waits in the client because the recorder is behind counts.
        await _deliver(json.dumps(said).encode(), f"{name}.{number}")
        took.append((time.perf_counter() - max(due, began)) * 1000)


def _write(path: Path, said: dict[str, Any], number: int) -> None:
    """The line that Claude Code writes beside the event."""
    use = {"type": "tool_use", "id": said["tool_use_id"], "name": "Bash", "input": said["tool_input"]}
    result = {"type": "tool_result", "tool_use_id": said["tool_use_id"], "content": "ok\n" * 40}
    is_call = number % 2 == 0
    line = {
        "type": "assistant" if is_call else "user",
        "uuid": str(uuid.uuid5(uuid.NAMESPACE_URL, f"{path.name} {number}")),
        "sessionId": said["session_id"],
        "timestamp": f"2026-11-22T01:{number // 60 % 60:02}:{number % 60:02}.000Z",
        "cwd": said["cwd"],
        "version": "2.1.330",
        "message": {
            "id": f"m{number}",
            "role": "assistant" if is_call else "user",
            "content": [use if is_call else result],
        },
    }
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")


async def _deliver(data: bytes, delivery: str) -> None:
    reader, writer = await asyncio.open_unix_connection("recorder.sock")
    header = f"TALLY1 {len(data)} claude-code - {VERSION} {time.time_ns()} {delivery} -\n"
    writer.write(header.encode() + data)
    answer = await reader.read()
    writer.close()
    if not answer.startswith(b"0 0 0"):
        raise RuntimeError(f"the recorder answered {answer[:100]!r}")


def _peak_megabytes(pid: int) -> float | None:
    """Linux says the largest resident set of a process; elsewhere the figure is left out."""
    try:
        status = Path(f"/proc/{pid}/status").read_text("ascii")
    except OSError:
        return None
    return next((int(line.split()[1]) / 1000 for line in status.splitlines() if line.startswith("VmHWM")), None)
