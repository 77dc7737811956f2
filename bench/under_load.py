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
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import tallystick.hook
from bench.corpus import lengthened_sample, write_claude
from bench.measure import Figure
from tallystick.agents.claude_code import transcript as claude_code
from tallystick.capture import recorder
from tallystick.capture.discover import recognise
from tallystick.hook import VERSION
from tallystick.ingest.import_ import Importer
from tallystick.journal.archive import Archive
from tallystick.journal.home import Home

HOOK = Path(tallystick.hook.__file__)
OUTPUT_BYTES = 50_000_000
_SESSIONS = 50
_WARM = 100
_EPOCH = datetime(2026, 1, 1, tzinfo=UTC)
_RESUMED = "5e550000-0000-4000-8000-000000000001"
HARMLESS = ("git status", "ls", "git diff --stat", "pwd", "ls -la src")


class Answered(NamedTuple):
    """One delivery: when it was answered, counted from when it was due, and whether the agent was held up."""

    ms: float
    is_harmless: bool
    is_questioned: bool
    is_cut_off: bool
    """The recorder has as many connections as it serves: the hook answers for itself."""


class Size(NamedTuple):
    """How much happens, and how fast calls come."""

    megabytes: int = 460
    """Of a transcript with 200,000 steps."""
    calls: int = 50_000
    """Of the session that is resumed."""
    rate: float = 200.0
    seconds: float = 20.0


AIM = Size()
SHORT = Size(megabytes=40, calls=5_000, seconds=5.0)


def figures(folder: Path, size: Size = AIM) -> Iterator[Figure]:
    """Latency of answers at a steady rate, alone and beside each of four large pieces of work."""
    folder.mkdir(parents=True)
    home, work = Home(folder / "store"), folder / "work"
    (work / "src").mkdir(parents=True)
    Archive.make(home)
    _import(home, _resumed(folder / "resumed", size.calls))
    load = partial(_loaded, home, work, size)
    try:
        _warm_up(home, work)
        yield from _of("nothing else", load(lambda: None))
        yield from _of(f"a session of {size.calls:,} calls is resumed", load(lambda: _resume(home, work)))
        yield from _of("an output of 50 MB arrives", load(lambda: _output(home, work)))
        recorder.stop(home.folder)
        total = size.megabytes * 1_000_000
        _import(home, write_claude(folder / "long", lengthened_sample(), total_bytes=total, one_file=True)[0])
        _warm_up(home, work)
        yield from _of(f"a session of {size.megabytes:,} MB is indexed", load(lambda: None))
        yield from _of("`tally rebuild` runs", load(lambda: _rebuild(home)))
    finally:
        recorder.stop(home.folder)


def _of(beside: str, found: list[Answered]) -> Iterator[Figure]:
    took = sorted(one.ms for one in found)
    name = f"{len(took)} answers at a steady rate while {beside}"
    yield Figure(f"{name}, p50", took[len(took) // 2], "ms")
    for what, value, most in (("p99", took[int(len(took) * 0.99)], 50.0), ("longest", took[-1], 2000.0)):
        yield Figure(f"{name}, {what}", value, "ms", target=f"< {most:,.0f}", met=value < most)
    questioned = sum(one.is_questioned for one in found if one.is_harmless)
    yield Figure(f"{name}, harmless ones questioned", questioned, "calls", target="0", met=not questioned)
    cut_off = sum(one.is_cut_off for one in found)
    yield Figure(f"{name}, left to their hooks", cut_off, "calls", target="0", met=not cut_off)


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
            "timestamp": (_EPOCH + timedelta(seconds=number)).strftime("%Y-%m-%dT%H:%M:%S.000Z"),
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
    payload = json.dumps({**said, "hook_event_name": "PostToolUse", "tool_response": response}).encode()
    hook = [sys.executable, "-I", "-S", str(HOOK), "--home", str(home.folder), "claude-code"]
    subprocess.run(hook, input=payload, capture_output=True, check=True)  # which keeps it where that takes too long


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
    recorder.start(home.folder)
    for number in range(_WARM):
        _ask(home, _before(f"load-{number % _SESSIONS}", work, f"warm-{number}-{time.time_ns()}", _command(number)))


def _loaded(home: Home, work: Path, size: Size, beside: Callable[[], None]) -> list[Answered]:
    """What became of each delivery of some seconds, or until the work beside it is done."""
    return asyncio.run(_paced(home, work, size, beside))


async def _paced(home: Home, work: Path, size: Size, beside: Callable[[], None]) -> list[Answered]:
    began, first = time.perf_counter(), time.time_ns()
    at_work = asyncio.create_task(asyncio.to_thread(beside))
    sent: list[asyncio.Task[Answered]] = []
    while time.perf_counter() - began < size.seconds or not at_work.done():
        number = len(sent)
        due = began + number / size.rate
        await asyncio.sleep(max(due - time.perf_counter(), 0))
        is_harmless = number % 5 == 0
        command = _command(first // 1_000_000 % 1_000_000 + number)
        if is_harmless:
            command = HARMLESS[number // 5 % len(HARMLESS)]
        said = _before(f"load-{number % _SESSIONS}", work, f"load-{first}-{number}", command)
        sent.append(asyncio.create_task(_timed(home, said, due, is_harmless=is_harmless)))
    await at_work
    return list(await asyncio.gather(*sent))


async def _timed(home: Home, said: dict[str, Any], due: float, *, is_harmless: bool) -> Answered:
    try:
        answer = await _deliver(home, said)
    except ConnectionError:
        answer = b""
    is_questioned = answer != b"" and not answer.startswith(b"0 0 0")
    return Answered((time.perf_counter() - due) * 1000, is_harmless, is_questioned, is_cut_off=not answer)


async def _deliver(home: Home, said: dict[str, Any]) -> bytes:
    data, now = json.dumps(said).encode(), time.time_ns()
    reader, writer = await asyncio.open_unix_connection(os.path.relpath(home.folder / "run" / "recorder.sock"))
    writer.write(f"TALLY1 {len(data)} claude-code - {VERSION} {now} t{os.getpid()}.{now} -\n".encode() + data)
    answer = await reader.read()
    writer.close()
    return answer
