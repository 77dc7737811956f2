"""The full screen: how long until the first rows are seen, and how long a page takes, whatever there is to show.

The first figure is the wall time of the whole program on a terminal of 80 columns and 24 lines, from its start to the first
step that is drawn. The index is there already: what making it costs, `project` measures.
Its baseline is a process that imports Textual and does nothing else.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
import pty
import select
import statistics
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from bench.measure import Figure, best_seconds, process_seconds
from tallystick.journal.home import Home
from tallystick.model.step import Json, Step
from tallystick.recording.recorder import Recorder
from tallystick.review.browse import Reader, window
from tallystick.workspace.indexing import open_index

_STEPS, _FEW_STEPS = 100_000, 10_000
_SESSIONS = 2_000
_PAGES = 200
_RUNS = 5
_FIRST_S, _PAGE_S = 1.5, 0.05


def figures(folder: Path, *, full: bool) -> Iterator[Figure]:
    steps = _STEPS if full else _FEW_STEPS
    long, many = Home(folder / "long"), Home(folder / "many")
    _record(long, steps=steps, sessions=1)
    _record(many, steps=2, sessions=_SESSIONS)
    importing = process_seconds([sys.executable, "-c", "import textual.app, textual.scroll_view"])
    for home, name in ((long, f"{steps:,} steps in one session"), (many, f"{_SESSIONS:,} sessions")):
        first = statistics.median(_first_rows(home) for _ in range(_RUNS))
        ratio = first / importing
        yield Figure(
            f"tui: first rows of {name}", first, "s", "importing Textual", ratio, f"< {_FIRST_S}", first < _FIRST_S
        )
    yield from _paging(long, steps)


def _record(home: Home, *, steps: int, sessions: int) -> None:
    with Recorder(home.folder) as recorder:
        for number in range(sessions):
            session = recorder.session("bench", f"s{number}")
            for n in range(steps // 2):
                call = {"tool": "Bash", "corr": f"c{n}"}
                session.put(_step(session.source_session, "tool_call", call, "args", {"command": f"make step-{n}"}))
                answer = {**call, "success": n % 50 != 0}
                session.put(_step(session.source_session, "tool_result", answer, "output", f"line {n}\n" * 20))
    with open_index(home):
        pass


def _step(session: str, type: str, meta: Mapping[str, Json], name: str, value: Json) -> Step:
    return Step(session=session, type=type, meta=meta, values={f"content.{name}": value})


def _first_rows(home: Home) -> float:
    """Seconds from the start of the program until a step is drawn."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    began = time.perf_counter()
    command = [sys.executable, "-m", "tallystick", "--home", str(home.folder), "tui"]
    environment = {**os.environ, "TERM": "xterm-256color"}
    process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment)
    drawn = b""
    while b"session_start" not in drawn and process.poll() is None:
        drawn += os.read(ours, 1 << 16)
    seconds = time.perf_counter() - began
    os.write(ours, b"q")
    while process.poll() is None:  # it waits for its last words to be read
        if select.select([ours], [], [], 0.01)[0]:
            os.read(ours, 1 << 16)
    os.close(ours)
    os.close(theirs)
    return seconds


def _paging(home: Home, steps: int) -> Iterator[Figure]:
    """From a key to a page whose every row is there."""
    times = asyncio.run(_pages(home))
    session = next(sid for sid, _ in home.sessions())
    reader = Reader(home)
    reading = best_seconds(lambda: window(reader, session, steps // 2, 64))
    reader.close()
    typical, worst = statistics.median(times), sorted(times)[len(times) * 99 // 100]
    baseline = "reading 64 steps"
    yield Figure("tui: a page further, all of its rows there", typical * 1e3, "ms", baseline, typical / reading)
    yield Figure(
        "  the slowest of a hundred",
        worst * 1e3,
        "ms",
        baseline,
        worst / reading,
        f"< {_PAGE_S * 1e3:.0f}",
        worst < _PAGE_S,
    )


async def _pages(home: Home) -> list[float]:
    from tallystick.tui.app import Browser

    app = Browser(home)
    times: list[float] = []
    async with app.run_test(size=(120, 40)) as pilot:
        while not app.is_settled():
            await asyncio.sleep(0.01)
        timeline = app.timeline
        for page in range(_PAGES):
            if page % 50 == 49:  # somewhere else, where nothing was read ahead
                timeline.go((page * 7919) % timeline.count)
                await pilot.pause(0.2)
            began = time.perf_counter()
            timeline.action_page(1)
            while any(timeline.get(row) is None for row in _seen(timeline)):
                await asyncio.sleep(0.001)
            await asyncio.sleep(0)
            times.append(time.perf_counter() - began)
            await asyncio.sleep(0.02)
    return times


def _seen(timeline: object) -> range:
    from tallystick.tui.timeline import Timeline

    assert isinstance(timeline, Timeline)
    top = timeline.scroll_offset.y
    return range(top, min(top + timeline.lines, timeline.count))
