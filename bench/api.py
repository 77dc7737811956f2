"""The Python API: what a recorded call costs the program that makes it, against a bare append of the same steps."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from bench.measure import Figure
from tallystick import Recorder, tool_call
from tallystick.model.step import Source, Step
from tallystick.recording.session import Session

CALLS = 2000
_ARGS = {"path": "src/receipts/totals.py", "limit": 40}


@tool_call
def read(path: str, limit: int) -> str:
    return f"{path}: {limit} lines"


@tool_call
async def read_async(path: str, limit: int) -> str:
    return f"{path}: {limit} lines"


def figures(folder: Path) -> Iterator[Figure]:
    """A bare append; decorated calls, sync and async; the longest an event loop stands still meanwhile."""
    with Recorder(folder / "store") as recorder:
        session = recorder.session("bench", "one")
        append = _median(lambda: _append(session))
        yield Figure("bare append of one step", append * 1e6, "µs")
        with session.attached():
            call = _median(lambda: read(**_ARGS))  # type: ignore[arg-type]
            extra = (call - 2 * append) * 1e6
            name = "decorated call: two steps and what the decorator adds"
            yield Figure(name, call * 1e6, "µs", "two bare appends", call / (2 * append))
            yield Figure("  of which the decorator", extra, "µs", target="<= 100", met=extra <= 100)
            calls, gaps = asyncio.run(_in_a_loop())
        yield Figure(
            "decorated coroutine", calls[len(calls) // 2] * 1e6, "µs", "two bare appends", _half(calls) / append / 2
        )
        still = gaps[int(len(gaps) * 0.99)]
        name = "event loop: stands still, p99, with seals every 16 calls"
        yield Figure(name, still * 1000, "ms", "two bare appends", still / append / 2, "< 10", still < 0.01)


def _append(session: Session) -> None:
    step = Step(
        session=session.source_session,
        type="tool_call",
        source=Source.SDK,
        meta={"tool": "read", "corr": "call_0123456789abcdef"},
        values={"content.args": _ARGS},
    )
    session.recorder.session_writer.add(session.agent, step)


def _median(work: Callable[[], object]) -> float:
    times = []
    for _ in range(CALLS):
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
    return _half(sorted(times))


def _half(times: list[float]) -> float:
    return times[len(times) // 2]


async def _in_a_loop() -> tuple[list[float], list[float]]:
    calls: list[float] = []
    gaps: list[float] = []
    is_over = False

    async def beat() -> None:
        last = time.perf_counter()
        while not is_over:
            await asyncio.sleep(0)
            now = time.perf_counter()
            gaps.append(now - last)
            last = now

    beating = asyncio.create_task(beat())
    for _ in range(CALLS):
        began = time.perf_counter()
        await read_async(**_ARGS)  # type: ignore[arg-type]
        calls.append(time.perf_counter() - began)
        await asyncio.sleep(0)
    is_over = True
    await beating
    return sorted(calls), sorted(gaps)
