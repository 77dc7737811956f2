"""Runs all measurements and prints a table: `python -m bench [--full] [--json]`."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import msgspec

from bench import (
    acp,
    api,
    checkpoints,
    cold,
    decide,
    deciding,
    distinct,
    graph,
    imports,
    inspection,
    live,
    project,
    replay,
    scrub,
    seal,
    search,
    session_log,
    signing,
    start,
    state,
    tree,
    tui,
    under_load,
    watch,
)
from bench.measure import Figure


def figures(folder: Path, *, full: bool) -> Iterator[Figure]:
    yield from seal.figures(folder / "seal")
    yield from imports.figures(folder / "imports", full=full)
    yield from signing.figures(folder / "signing")
    yield from start.figures(folder / "start")
    yield from api.figures(folder / "api")
    yield from session_log.figures(folder / "session_log")
    yield from live.figures(folder / "live")
    yield from cold.figures(folder / "cold")
    yield from distinct.figures(folder / "distinct")
    yield from decide.figures(folder / "decide")
    yield from deciding.figures(folder / "deciding")
    yield from state.figures(folder / "state")
    yield from inspection.figures(folder / "inspection")
    yield from acp.figures(folder / "acp")
    yield from scrub.figures()
    yield from checkpoints.figures(
        folder / "checkpoints", sessions=checkpoints.SESSIONS if full else checkpoints.SESSIONS // 10
    )
    yield from replay.figures(folder / "replay", steps=replay.STEPS if full else replay.STEPS // 10)
    yield from project.figures(folder / "project")
    yield from watch.figures(folder / "watch")
    yield from tree.figures(folder / "tree")
    yield from search.figures(folder / "search", full=full)
    yield from tui.figures(folder / "tui", full=full)
    yield from graph.figures(folder / "graph", relations=graph.RELATIONS if full else graph.RELATIONS // 10)
    yield from under_load.figures(folder / "under_load", under_load.AIM if full else under_load.SHORT)


def row(figure: Figure) -> str:
    value = f"{figure.value:,.0f}" if figure.value >= 100 else f"{figure.value:,.2f}"
    against = f"{figure.ratio:.2f} x {figure.baseline}" if figure.ratio is not None else ""
    verdict = "" if figure.met is None else f"{figure.target}: {'met' if figure.met else 'NOT MET'}"
    return f"{figure.name:<62} {value:>10} {figure.unit:<8} {against:<52} {verdict}"


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        found = []
        for figure in figures(Path(folder), full="--full" in sys.argv):
            found.append(figure)
            if "--json" not in sys.argv:
                print(row(figure), flush=True)
        if "--json" in sys.argv:
            print(msgspec.json.encode(found).decode())


main()
