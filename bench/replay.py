"""Replaying one long session: rows against reading the same journal, how soon the first is there, the graph of the log."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from bench.measure import Figure, best_seconds, process_seconds
from tallystick import Recorder
from tallystick.ask.log_graph import read_graph
from tallystick.cli.timeline import Look, View
from tallystick.display.lanes import Node, drawn
from tallystick.journal.home import Home
from tallystick.journal.read import read_session
from tallystick.model.step import Json, Source, Step
from tallystick.review.replay import Asked, replay
from tallystick.review.replay_sources import find_spot, open_cast
from tallystick.workspace.filters import StepFilter
from tallystick.workspace.indexing import open_index

STEPS = 100_000
_GRAPH = 10_000
_NAME = "long"


def figures(folder: Path, *, steps: int = STEPS) -> Iterator[Figure]:
    home = Home(folder / "store")
    _fill(home, steps)
    session = next(sid for sid, _ in home.sessions())
    with open_index(home):
        pass
    reading = best_seconds(lambda: sum(1 for _ in read_session(home, session)))
    yield Figure(f"reading the journal of {steps:,} steps", steps / reading, "steps/s")
    for verbosity in (0, 1):
        seconds = best_seconds(partial(_replay, home, verbosity), runs=2)
        name = f"replaying them, verbosity {verbosity}"
        yield Figure(name, steps / seconds, "steps/s", "reading the journal", seconds / reading)
    walking = best_seconds(lambda: _replay(home, 0, start="10"), runs=1)
    yield Figure("replaying them from step 10 on", steps / walking, "steps/s", "reading the journal", walking / reading)
    first = _first_row(home)
    bare = process_seconds([sys.executable, "-m", "tallystick", "version"], runs=3)
    name = "first row of a replay, the program's start with it"
    yield Figure(name, 1000 * first, "ms", "tally version", first / bare, "< 300", first < 0.3)
    seconds = best_seconds(lambda: _graph(home), runs=2)
    name = f"the graph of the newest {_GRAPH:,} steps"
    yield Figure(name, 1000 * seconds, "ms", "reading the journal", seconds / reading)


def _fill(home: Home, steps: int) -> None:
    """One session of calls and results, with a model call for each."""
    kinds: tuple[tuple[str, dict[str, Json], dict[str, Json]], ...] = (
        ("model_call", {"model": "m-1", "duration_ms": 1200, "tokens": {"input": 900, "output": 40}}, {}),
        ("assistant", {}, {"content.text": "I'll look at the totals first, then at the tests. " * 3}),
        (
            "tool_call",
            {"tool": "Bash"},
            {"content.args": {"command": "python3 -m unittest -v", "description": "Run them"}},
        ),
        ("tool_result", {"tool": "Bash", "success": True}, {"content.output": "test_total ... ok\n" * 12}),
    )
    with Recorder(home.folder) as recorder:
        session = recorder.session("bench", _NAME)
        for number in range(steps - 1):
            kind, meta, values = kinds[number % len(kinds)]
            told = {"corr": f"call_{number // 4:08}"} if "tool" in meta else {}
            step = Step(session=_NAME, type=kind, source=Source.SDK, meta={**meta, **told}, values=values)
            recorder.session_writer.add(session.agent, step)


def _replay(home: Home, verbosity: int, *, start: str | None = None) -> None:
    with open_cast(home, [_NAME], loads_blobs=verbosity > 0) as cast, Path(os.devnull).open("w") as out:
        asked = Asked(start=find_spot(cast, start) if start is not None else None)
        view = View(cast, Look(width=120, verbosity=verbosity, is_mixed=False, is_styled=False))
        for line in view.lines(replay(cast, asked)):
            out.write(line)


def _first_row(home: Home) -> float:
    """Seconds from the start of the program to its first row, the median of some runs."""
    command = [sys.executable, "-m", "tallystick", "--home", str(home.folder), "replay", _NAME, "--no-pager"]
    found = []
    for _ in range(5):
        began = time.perf_counter()
        with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            while b"SESSION START" not in process.stdout.readline():
                pass
            found.append(time.perf_counter() - began)
            process.kill()
    return sorted(found)[len(found) // 2]


def _graph(home: Home) -> None:
    with open_index(home) as index:
        found = read_graph(home, index, StepFilter(), limit=_GRAPH)
    for _ in drawn([Node(row.entry.hash, row.parents) for row in found.rows]):
        pass


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        for figure in figures(Path(place)):
            against = f"{figure.ratio:.2f} x {figure.baseline}" if figure.ratio is not None else ""
            print(f"{figure.name:<55} {figure.value:>12,.1f} {figure.unit:<8} {against} {figure.target}", flush=True)
