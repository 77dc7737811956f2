"""Checking sessions in several processes.

Owns how jobs reach worker processes and come back. The workers are interpreters of their own that import only this
package: anyone who calls the Python API need not guard a main module for it. Must not know what a verdict is.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any

from tallystick.errors import TallystickError


def cores() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def in_processes(function: str, jobs: Sequence[Any], weights: Sequence[int]) -> Iterator[tuple[int, Any]]:
    """The results of `function` over `jobs`, as they come: (index of the job, result).

    Args:
        function: `module:name` of a function of this package; jobs and results can be pickled.
        weights: how much work each job is; heavy jobs are begun first and spread.

    Raises:
        TallystickError: a worker died.
    """
    hands: list[list[int]] = [[] for _ in range(min(cores(), len(jobs)))]
    loads = [0] * len(hands)
    for index in sorted(range(len(jobs)), key=lambda index: -weights[index]):
        lightest = loads.index(min(loads))
        hands[lightest].append(index)
        loads[lightest] += weights[index]
    with ThreadPoolExecutor(len(hands)) as threads:
        futures = [threads.submit(_run, function, [(index, jobs[index]) for index in hand]) for hand in hands if hand]
        for future in as_completed(futures):
            yield from future.result()


def _run(function: str, numbered: list[tuple[int, Any]]) -> list[tuple[int, Any]]:
    """Run one worker over its jobs."""
    root = Path(__file__).parents[2]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(root), *sys.path])}
    worker = subprocess.run(
        [sys.executable, "-c", "from tallystick.trust.worker_pool import work; work()"],
        input=pickle.dumps((function, numbered)),
        capture_output=True,
        env=environment,
        check=False,
    )
    if worker.returncode:
        raise TallystickError(f"a worker process failed: {worker.stderr.decode(errors='replace')[-400:]}")
    results: list[tuple[int, Any]] = pickle.loads(worker.stdout)
    return results


def work() -> None:
    """The worker's side: jobs on standard input, results on standard output."""
    from importlib import import_module

    function, numbered = pickle.load(sys.stdin.buffer)
    module, _, name = function.partition(":")
    run = getattr(import_module(module), name)
    sys.stdout.buffer.write(pickle.dumps([(index, run(job)) for index, job in numbered]))
