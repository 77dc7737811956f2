"""Searching: thirty questions of all kinds on a store of many steps, hits read back from their journals."""

from __future__ import annotations

import random
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, date, timedelta
from pathlib import Path

from bench.corpus import claude_sample, lengthened_sample, variants
from bench.measure import Figure
from tallystick.agents.claude_code import transcript as claude_code
from tallystick.ask.search import search
from tallystick.capture.discover import recognise
from tallystick.graph.graph import Graph, Mode
from tallystick.graph.journals import Depth
from tallystick.graph.search import Order, SearchFilter
from tallystick.ingest.import_ import Importer
from tallystick.journal.archive import Archive
from tallystick.journal.home import Home
from tallystick.workspace.index import Index
from tallystick.workspace.indexing import bring_up_to_date, open_index

_STEPS = 500_000
_FEW_STEPS = 50_000
_LONGER = 10
"""Every so many sessions one has results as long as in people's sessions; the others are terse."""

_CHANGED = ("customer", "photo", "callers", "numbers", "refused", "commit")
"""Words of the sample that every session has others for: some stand in many sessions, some in one."""

_DAY = b"2026-11-21"
_FIRST_DAY = date(2023, 1, 1)
_RUNS = 5

QUESTIONS: tuple[tuple[str, SearchFilter], ...] = (
    ("word00007x4", SearchFilter()),
    ("word00007x1 discount", SearchFilter()),
    ("word0*", SearchFilter()),
    ("forced push", SearchFilter()),
    ('"forced pushes to main"', SearchFilter()),
    ("the", SearchFilter()),
    ("a", SearchFilter(order=Order.NEWEST)),
    ("discount", SearchFilter()),
    ("discount", SearchFilter(order=Order.NEWEST)),
    ("total discount percent", SearchFilter()),
    ("pars*", SearchFilter()),
    ("re*", SearchFilter()),
    ("s*", SearchFilter()),
    ("receipts/totals.py", SearchFilter()),
    ("totals py", SearchFilter(tools=("Read",))),
    ("tests/test_discount.py", SearchFilter(types=("tool_call",))),
    ("unittest", SearchFilter(failed=True)),
    ("exit code", SearchFilter(failed=True, order=Order.NEWEST)),
    ("git add", SearchFilter(tools=("Bash",))),
    ("home dev project", SearchFilter()),
    ("home dev project", SearchFilter(types=("tool_call",), order=Order.NEWEST)),
    ("word00000x0 says", SearchFilter(fields=("prompt",))),
    ("word00007x1", SearchFilter(fields=("prompt",))),
    ("percent", SearchFilter(fields=("args",))),
    ("the", SearchFilter(since="2023-03-01T00:00:00.000000Z", until="2023-03-05T00:00:00.000000Z")),
    ("the", SearchFilter(agents=("nobody",))),
    ("def", SearchFilter(path="receipts/totals.py")),
    ("def", SearchFilter(path="/home/dev/project/receipts/totals.py", order=Order.NEWEST)),
    ("zzzznothing", SearchFilter()),
    ("journal entry ledger head", SearchFilter()),
)


def figures(folder: Path, *, full: bool) -> Iterator[Figure]:
    """Speed on half a million steps, or with `full` unset on a tenth of that, which nobody asked for a figure of."""
    wanted = _STEPS if full else _FEW_STEPS
    home = Home(folder / "store")
    steps, seconds = _fill(home, wanted)
    name = f"{len(QUESTIONS)} searches on {steps:,} steps"
    yield Figure(f"projecting {steps:,} steps with their text", steps / seconds, "steps/s")
    with Graph(home.graph, Mode.READ) as graph:
        times = [_milliseconds(home, Index(graph), *question) for question in QUESTIONS]
    asked = full or None
    middle, most = statistics.median(times), max(times)
    yield Figure(f"{name}, p50", middle, "ms", target="< 100" if full else "", met=middle < 100 if asked else None)
    yield Figure(f"{name}, the slowest: {_slowest(times)}", most, "ms")
    yield Figure("looking whether any journal has grown, before a search", _opening(home), "ms")


def _slowest(times: list[float]) -> str:
    return repr(QUESTIONS[times.index(max(times))][0])


def _milliseconds(home: Home, index: Index, text: str, wanted: SearchFilter) -> float:
    """The middle of some runs of one question."""
    times = []
    for _ in range(_RUNS):
        began = time.perf_counter()
        search(home, index, text, wanted)
        times.append(1000 * (time.perf_counter() - began))
    return statistics.median(times)


def _opening(home: Home) -> float:
    began = time.perf_counter()
    with open_index(home, depth=Depth.TEXT):
        pass
    return 1000 * (time.perf_counter() - began)


def _fill(home: Home, steps: int) -> tuple[int, float]:
    """Import sessions until there are so many steps, and project them: how many, and the seconds that projecting took."""
    Archive.make(home)
    archive = Archive(home)
    known = {claude_code.NAME: claude_code}
    samples = (variants(claude_sample()), variants(lengthened_sample()))
    number = done = 0
    try:
        while done < steps:
            with tempfile.TemporaryDirectory() as folder:
                for _ in range(500):
                    text = next(samples[number % _LONGER == 0])
                    Path(folder, f"{number:08x}.jsonl").write_bytes(_changed(text, number))
                    number += 1
                report = Importer(archive, known, UTC).run(recognise([Path(folder)], known))
                if report.has_errors:
                    sys.exit(f"the import failed: {report.refused}")
                done += report.recorded
    finally:
        archive.close()
    began = time.perf_counter()
    with Graph(home.graph, Mode.WRITE) as graph:
        bring_up_to_date(home, graph)
    return done, time.perf_counter() - began


def _changed(text: bytes, number: int) -> bytes:
    """A session on a day of its own, with words of its own."""
    chance = random.Random(number)
    day = _FIRST_DAY + timedelta(days=number % 1000)
    text = text.replace(_DAY, day.isoformat().encode())
    for place, word in enumerate(_CHANGED):
        text = text.replace(word.encode(), b"word%05dx%d" % (chance.randrange(10**place), place))
    return text


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        for figure in figures(Path(place), full="--full" in sys.argv):
            print(f"{figure.name:<70} {figure.value:>10,.1f} {figure.unit:<8} {figure.target}", flush=True)
