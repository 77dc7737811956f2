"""Projecting: steps a second into the graph, a whole rebuild, and the size of the index a step.

The corpora are those of `bench.corpus`; each variant of the sample works in a project folder of its own, as people's sessions
mostly do, and a second measurement has all of them work in one.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC
from pathlib import Path

from bench.corpus import lengthened_sample, write_claude
from bench.measure import Figure
from tallystick.agents.claude_code import transcript as claude_code
from tallystick.capture.discover import recognise
from tallystick.graph.graph import Graph, empty_graph
from tallystick.ingest.import_ import Importer
from tallystick.journal.archive import Archive
from tallystick.journal.home import Home
from tallystick.workspace.indexing import bring_up_to_date, journals_of

_STEPS = 100_000
_BYTES = 40_000_000
_FOLDER = b"/home/dev/project"


def figures(folder: Path) -> Iterator[Figure]:
    """Rates and sizes on many project folders and on one."""
    for name, is_apart in (("a folder each", True), ("one folder for all", False)):
        home = _store(folder / ("apart" if is_apart else "one"), is_apart=is_apart)
        yield from _rebuild(home, name)


def _store(folder: Path, *, is_apart: bool) -> Home:
    """A store with some ten thousand steps."""
    source = folder / "source"
    files = write_claude(source, lengthened_sample(), total_bytes=_BYTES, one_file=False)
    for number, path in enumerate(files):
        if is_apart:
            path.write_bytes(path.read_bytes().replace(_FOLDER, b"%s%d" % (_FOLDER, number)))
    home = Home(folder / "store")
    Archive.make(home)
    with closing(Archive(home)) as archive:
        adapters = {claude_code.NAME: claude_code}
        Importer(archive, adapters, UTC).run(recognise([source], adapters))
    return home


def _rebuild(home: Home, name: str) -> Iterator[Figure]:
    reading = _reading(home)
    began = time.perf_counter()
    with empty_graph(home.graph) as graph:
        steps = bring_up_to_date(home, graph).steps
        seconds = time.perf_counter() - began
        relations = graph.rows("SELECT count(*) FROM relations")[0][0]
    rate = steps / seconds
    baseline = "reading the same journals"
    told = f"project, {name}: {steps:,} steps"
    yield Figure(told, rate, "steps/s", baseline, seconds / reading, ">= 8,000", rate >= 8000)
    whole = seconds * _STEPS / steps
    yield Figure(f"rebuild of 100,000 steps, {name}", whole, "s", "", None, "< 30", whole < 30)
    with Graph(home.graph) as graph:
        graph.row("PRAGMA wal_checkpoint(TRUNCATE)")
    size = home.graph.stat().st_size / steps
    told = f"index, {name}, {relations / steps:.2f} relations a step"
    yield Figure(told, size, "B/step", "", None, "<= 2,048", size <= 2048)


def _reading(home: Home) -> float:
    began = time.perf_counter()
    for journal in journals_of(home):
        for _ in journal.read(0):
            pass
    return time.perf_counter() - began
