"""Starting: whole processes of the command, against an empty Python."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

from bench.corpus import claude_sample, variants
from bench.measure import Figure, process_seconds

SESSIONS = 1000


def figures(folder: Path) -> Iterator[Figure]:
    """`tally version`, what a decision imports with the catalogue in it, and `tally log` over 1,000 sessions."""
    environment = {"HOME": str(folder), "PATH": os.environ.get("PATH", ""), "TALLY_HOME": str(folder / "store")}
    tally = str(Path(sys.executable).with_name("tally"))
    empty = process_seconds([sys.executable, "-c", "pass"], environment=environment)
    seconds = process_seconds([tally, "version"], environment=environment)
    yield _milliseconds("tally version", seconds, empty, 120)
    decides = [sys.executable, "-c", "import tallystick.policy.judging, tallystick.policy.content.inspection"]
    yield _milliseconds("what a decision imports", process_seconds(decides, environment=environment), empty, 1000)
    histories = folder / "histories"
    histories.mkdir(parents=True)
    for number, variant in zip(
        range(SESSIONS), variants(b"".join(claude_sample().splitlines(keepends=True)[:20])), strict=False
    ):
        (histories / f"{number:08x}-0000-4000-8000-000000000000.jsonl").write_bytes(variant)
    process_seconds([tally, "import", str(histories)], runs=1, environment=environment)
    seconds = process_seconds([tally, "log", "--limit", "50"], environment=environment)
    yield _milliseconds(f"tally log, {SESSIONS:,} sessions", seconds, empty, 400)


def _milliseconds(name: str, seconds: float, empty: float, target: int) -> Figure:
    return Figure(
        name, seconds * 1000, "ms", "an empty Python", seconds / empty, f"< {target}", seconds * 1000 < target
    )
