"""`why` and `impact` on a store of one's own: `python -m bench.questions STORE`, in milliseconds of processor time.

The questions are files that agents wrote, calls, pages and sessions, chosen by chance but alike in each run.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from tallystick.ask.impact import impact
from tallystick.ask.why import why
from tallystick.graph.graph import Graph
from tallystick.journal.home import Home
from tallystick.workspace.indexing import open_index

QUESTIONS = 600
_SEED = 12
_KINDS = (
    (1.0, "SELECT DISTINCT uri FROM artifacts WHERE kind = 'file' AND made_by IS NOT NULL ORDER BY uri"),
    (0.5, "SELECT session_id || ':' || n FROM steps WHERE type = 'tool_call' ORDER BY id"),
    (0.25, "SELECT DISTINCT uri FROM artifacts WHERE kind = 'url' ORDER BY uri"),
    (0.25, "SELECT session_id FROM sessions ORDER BY session_id"),
)


def questions(graph: Graph) -> Iterator[str]:
    """What is asked about, by chance."""
    chance = random.Random(_SEED)
    for share, sql in _KINDS:
        names = [str(row[0]).removeprefix("file://") for row in graph.rows(sql)]
        yield from chance.sample(names, min(len(names), int(QUESTIONS * share)))


def main(store: str) -> None:
    """Ask each question once, and print what it took."""
    home = Home(Path(store))
    with open_index(home) as index:
        asked = list(questions(index.graph))
        for name, ask in (("why", why), ("impact", impact)):
            times = []
            for text in asked:
                began = time.process_time()
                ask(home, index, text, folder="/")
                times.append((time.process_time() - began) * 1000)
            times.sort()
            half, most = times[len(times) // 2], times[int(len(times) * 0.99)]
            print(f"{name}: {len(times):,} questions, p50 {half:.1f} ms, p99 {most:.1f} ms, at most {times[-1]:.1f} ms")


if __name__ == "__main__":
    main(sys.argv[1])
