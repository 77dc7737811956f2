"""Answers while something large happens beside them: the load is paced, and a late answer counts from when its call was due.

Owns what happens beside the load: a long session is indexed, another one is resumed, a large output arrives, the index is
rebuilt. The store holds both sessions from the start.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from datetime import UTC
from pathlib import Path
from typing import Any, NamedTuple

from bench.corpus import lengthened_sample, write_claude
from bench.measure import Figure
from tallystick.agents.claude_code import transcript as claude_code
from tallystick.capture import recorder
from tallystick.capture.discover import recognise
from tallystick.hook import VERSION
from tallystick.ingest.import_ import Importer
from tallystick.journal.archive import Archive
from tallystick.journal.home import Home

RATE = 200.0
SECONDS = 20.0
STEPS_MEGABYTES = 460
"""Of a transcript with 200,000 steps."""
RESUMED_CALLS = 50_000
OUTPUT_BYTES = 50_000_000
_SESSIONS = 50
_WARM = 100
_RESUMED = "5e550000-0000-4000-8000-000000000001"
HARMLESS = ("git status", "ls", "git diff --stat", "pwd", "ls -la src")


class Answered(NamedTuple):
    """One delivery: when it was answered, counted from when it was due, and whether the agent was held up."""

    ms: float
    is_harmless: bool
    is_questioned: bool


def figures(
    folder: Path, *, megabytes: int = STEPS_MEGABYTES, calls: int = RESUMED_CALLS, rate: float = RATE, seconds: float = SECONDS
) -> Iterator[Figure]:
    """Latency of answers at a steady rate, alone and beside each of four large pieces of work."""
    folder.mkdir(parents=True)
    home, work = Home(folder / "store"), folder / "work"
    work.mkdir()
    Archive.make(home)
    _import(home, _resumed(folder / "resumed", calls))
    recorder.start(home.folder)
    try:
        _warm_up(home, work)
        yield from _of("nothing else", _loaded(home, work, rate, seconds, lambda: None))
        yield from _of(f"a session of {calls:,} calls is resumed", _loaded(home, work, rate, seconds, lambda: _resume(home, work)))
        yield from _of("an output of 50 MB arrives", _loaded(home, work, rate, seconds, lambda: _output(home, work)))
        recorder.stop(home.folder)
        _import(home, write_claude(folder / "long", lengthened_sample(), total_bytes=megabytes * 1_000_000, one_file=True)[0])
        recorder.start(home.folder)
        _warm_up(home, work)
        name = f"a session of {megabytes:,} MB is indexed"
        yield from _of(name, _loaded(home, work, rate, seconds, lambda: None))
        yield from _of("`tally rebuild` runs", _loaded(home, work, rate, seconds, lambda: _rebuild(home)))
    finally:
        recorder.stop(home.folder)


def _of(beside: str, found: list[Answered]) -> Iterator[Figure]:
    took = sorted(one.ms for one in found)
    name = f"{len(took)} answers at a steady rate while {beside}"
    for share, what, most in ((0.5, "p50", None), (0.99, "p99", 50.0), (1.0, "longest", 2000.0)):
        value = took[min(int(len(took) * share), len(took) - 1)]
        yield Figure(f"{name}, {what}", value, "ms", target="" if most is None else f"< {most:,.0f}", met=most and value < most)
    questioned = sum(one.is_questioned for one in found if one.is_harmless)
    yield Figure(f"{name}, harmless ones questioned", questioned, "calls", target="0", met=not questioned)


# What happens beside it -----------------------------------------------------------------------------------------------


def _import(home: Home, path: Path) -> None:
    """Record a transcript, and leave the index behind."""
    known = {claude_code.NAME: claude_code}
    archive = Archive(home)
    report = Importer(archive, known, UTC).run(recognise([path], known))
    archive.close()
    if report.has_errors:
        sys.exit(f"the import failed: {report.refused} {[file.error for file in report.files]}")


def _resumed(folder: Path, calls: int) -> Path:
    """The transcript of a session with many calls, no two alike."""
    folder.mkdir()
    path = folder / f"{_RESUMED}.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for number in range(calls):
            for line in _lines(number):
                file.write(json.dumps(line) + "\n")
    return path


def _lines(number: int) -> Iterator[dict[str, Any]]:
    call = {"type": "tool_use", "id": f"toolu_{number:08}", "name": "Bash", "input": {"command": _command(number)}}
    result = {"type": "tool_result", "tool_use_id": f"toolu_{number:08}", "content": f"line {number}\n" * 20}
    for half, (kind, content) in enumerate((("assistant", call), ("user", result))):
        yield {
            "type": kind,
            "uuid": f"{number:08x}-0000-4000-8000-{half:012}",
            "sessionId": _RESUMED,
            "timestamp": f"2026-01-{1 + number // 3600 // 24:02}T{number // 3600 % 24:02}:{number // 60 % 60:02}:{number % 60:02}.000Z",
            "cwd": "/home/dev/project",
            "version": "2.1.330",
            "message": {"id": f"msg_{number:08}", "role": kind, "model": "m", "content": [content]},
        }


def _resume(home: Home, work: Path) -> None:
    _ask(home, _before(_RESUMED, work, "resumed", "sh build/run.sh"))


def _output(home: Home, work: Path) -> None:
    output = "".join(f"cookie: {number:x} some words of an output\n" for number in range(OUTPUT_BYTES // 36))
    said = _before("output", work, "output", "cat log")
    response = {"stdout": output, "stderr": "", "interrupted": False, "isImage": False}
    _ask(home, {**said, "hook_event_name": "PostToolUse", "tool_response": response})


def _rebuild(home: Home) -> None:
    words = [sys.executable, "-I", "-m", "tallystick", "--home", str(home.folder), "rebuild"]
    subprocess.run(words, capture_output=True, check=True)


# The load -------------------------------------------------------------------------------------------------------------


def _command(number: int) -> str:
    kinds = (
        f"python3 tools/run{number}.py --in data/{number}.csv --out build/{number}.json",
        f"git diff HEAD~{number % 9} -- src/mod{number}.py | head -{number % 40 + 3}",
        f'grep -rn "def f{number}" src/ tests/ && sed -n {number % 70},{number % 70 + 20}p src/mod{number}.py',
    )
    return kinds[number % 3]


def _before(session: str, work: Path, call: str, command: str) -> dict[str, Any]:
    return {
        "session_id": session, "cwd": str(work), "hook_event_name": "PreToolUse", "permission_mode": "default",
        "tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": call,
    }  # fmt: skip


def _ask(home: Home, said: dict[str, Any]) -> None:
    asyncio.run(_deliver(home, said))


def _warm_up(home: Home, work: Path) -> None:
    for number in range(_WARM):
        _ask(home, _before(f"load-{number % _SESSIONS}", work, f"warm-{number}-{time.time_ns()}", _command(number)))


def _loaded(home: Home, work: Path, rate: float, seconds: float, beside: Callable[[], None]) -> list[Answered]:
    """What became of each delivery of some seconds, or until the work beside it is done."""
    return asyncio.run(_paced(home, work, rate, seconds, beside))


async def _paced(home: Home, work: Path, rate: float, seconds: float, beside: Callable[[], None]) -> list[Answered]:
    began = time.perf_counter()
    at_work = asyncio.create_task(asyncio.to_thread(beside))
    sent: list[asyncio.Task[Answered]] = []
    first = time.time_ns()
    while time.perf_counter() - began < seconds or not at_work.done():
        number = len(sent)
        due = began + number / rate
        await asyncio.sleep(max(due - time.perf_counter(), 0))
        is_harmless = number % 5 == 0
        command = HARMLESS[number // 5 % len(HARMLESS)] if is_harmless else _command(first // 1_000_000 % 1_000_000 + number)
        said = _before(f"load-{number % _SESSIONS}", work, f"load-{first}-{number}", command)
        sent.append(asyncio.create_task(_timed(home, said, due, is_harmless=is_harmless)))
    await at_work
    return list(await asyncio.gather(*sent))


async def _timed(home: Home, said: dict[str, Any], due: float, *, is_harmless: bool) -> Answered:
    answer = await _deliver(home, said)
    return Answered((time.perf_counter() - due) * 1000, is_harmless, not answer.startswith(b"0 0 0"))


async def _deliver(home: Home, said: dict[str, Any]) -> bytes:
    data, now = json.dumps(said).encode(), time.time_ns()
    reader, writer = await asyncio.open_unix_connection(os.path.relpath(home.folder / "run" / "recorder.sock"))
    writer.write(f"TALLY1 {len(data)} claude-code - {VERSION} {now} t{os.getpid()}.{now} -\n".encode() + data)
    answer = await reader.read()
    writer.close()
    return answer
