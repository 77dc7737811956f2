"""Timing: the best of several runs, and the peak memory of a process of its own."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import msgspec


class Figure(msgspec.Struct, frozen=True):
    """One measured figure, what it is held against, and what the issue asks for."""

    name: str
    value: float
    unit: str
    baseline: str = ""
    ratio: float | None = None
    """How many times the baseline it costs."""
    target: str = ""
    met: bool | None = None


def best_seconds(work: Callable[[], object], *, runs: int = 3) -> float:
    """The shortest of `runs` runs."""
    shortest = float("inf")
    for _ in range(runs):
        began = time.perf_counter()
        work()
        shortest = min(shortest, time.perf_counter() - began)
    return shortest


_REPORT_PEAK = """
import resource, sys
try:
    status = open("/proc/self/status").read()
    print(int(status.split("VmHWM:")[1].split()[0]) / 1024)
except FileNotFoundError:
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024 / 1024)
"""


def peak_megabytes(code: str, *arguments: str | Path) -> float:
    """The peak resident memory of `python -c code arguments…`, in MB, as the system accounts it.

    Asked by the process itself: what its parent is told includes the parent's own pages from before the exec.
    """
    command = [sys.executable, "-c", code + _REPORT_PEAK, *map(str, arguments)]
    return float(subprocess.run(command, capture_output=True, check=True, text=True).stdout.split()[-1])


def process_seconds(command: list[str], *, runs: int = 7, environment: dict[str, str] | None = None) -> float:
    """The median wall time of a whole process."""
    times: list[float] = []
    for _ in range(runs):
        began = time.perf_counter()
        subprocess.run(command, capture_output=True, check=True, env=environment)
        times.append(time.perf_counter() - began)
    return sorted(times)[len(times) // 2]
