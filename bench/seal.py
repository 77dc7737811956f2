"""Sealing and verifying: steps a second, against one SHA-256 of the same bytes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

from bench.corpus import step_values
from bench.measure import Figure, best_seconds, peak_megabytes
from tallystick.journal.archive import Archive
from tallystick.journal.home import Home
from tallystick.journal.lines import LineFile
from tallystick.model.step import Json
from tallystick.seal.line import parse_line
from tallystick.seal.redact import Redaction, line_text, redact
from tallystick.seal.verify import check_lone
from tallystick.trust.verify import verify_store

STEPS = 20_000
START: dict[str, Json] = {"type": "session_start", "source": "sdk", "agent": "bench", "kind": "root"}


def figures(folder: Path) -> Iterator[Figure]:
    """Append, durable append, full and bare verification, and the memory that verification takes."""
    home = Home(folder / "store")
    Archive.make(home)
    archive = Archive(home)
    steps = [step_values(number) for number in range(STEPS)]
    journals = [archive.make_journal({**START, "source_session": f"s{number}"}, {}, ())[0] for number in range(4)]

    def append() -> None:
        journal = journals[0]
        for meta, values in steps:
            journal.append(meta, values)

    def append_durably() -> None:
        journal = journals[1]
        for number, (meta, values) in enumerate(steps):
            journal.append(meta, values)
            if number % 64 == 63:
                journal.sync()

    seconds = best_seconds(append)
    lines = list(LineFile(journals[0].path))[1 : STEPS + 1]
    hashing = best_seconds(lambda: [sha256(line).digest() for line in lines])
    plain = best_seconds(lambda: _write_plainly(folder / "plain", lines))
    yield _rate("append, 1 KB steps", STEPS, seconds, "one write a line of the same bytes", plain, 25_000)
    seconds = best_seconds(append_durably, runs=2)
    synced = best_seconds(lambda: _write_plainly(folder / "plain", lines, sync_every=64), runs=2)
    yield _rate("append, fdatasync every 64", STEPS, seconds, "one write a line, fdatasync every 64", synced, 15_000)
    archive.seal()
    archive.close()
    size = sum(journal.size for journal in journals)
    path = journals[0].path
    full = best_seconds(lambda: check_lone(LineFile(path)), runs=2)
    yield _rate(
        "verify, fully disclosed, one core",
        journals[0].size,
        full,
        "one SHA-256 a line",
        hashing * journals[0].size / STEPS,
        40_000,
    )
    both = best_seconds(lambda: verify_store(home), runs=2)
    yield Figure(
        "verify a store, all cores", size / both, "steps/s", "one core", (size / both) / (journals[0].size / full)
    )
    bare = folder / "bare.jsonl"
    bare.write_bytes(b"".join(line_text(redact(parse_line(text), Redaction.FULL)) + b"\n" for text in LineFile(path)))
    bare_lines = list(LineFile(bare))
    bare_hashing = best_seconds(lambda: [sha256(line).digest() for line in bare_lines])
    seconds = best_seconds(lambda: check_lone(LineFile(bare)), runs=2)
    yield _rate(
        "verify, bare entries, one core", journals[0].size, seconds, "one SHA-256 a line", bare_hashing, 300_000
    )
    yield from _memory(home)


def _rate(name: str, count: int, seconds: float, baseline: str, baseline_seconds: float, target: int) -> Figure:
    rate = count / seconds
    return Figure(name, rate, "steps/s", baseline, seconds / baseline_seconds, f">= {target:,}", rate >= target)


def _write_plainly(path: Path, lines: list[bytes], *, sync_every: int = 0) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND)
    for number, line in enumerate(lines):
        os.write(descriptor, line + b"\n")
        if sync_every and number % sync_every == sync_every - 1:
            os.fdatasync(descriptor)
    os.close(descriptor)


_VERIFY = """
import sys
from pathlib import Path
from tallystick.journal.home import Home
from tallystick.trust.verify import verify_store
home = Home(Path(sys.argv[1]))
largest = max(home.sessions(), key=lambda found: found[1].stat().st_size)[0]
assert verify_store(home, sessions=[largest]).exit_code == 0
"""


def _memory(home: Home) -> Iterator[Figure]:
    megabytes = sum(path.stat().st_size for _, path in home.sessions()) / 1e6
    peak = peak_megabytes(_VERIFY, home.folder)
    yield Figure(
        f"peak memory, verifying one journal of a {megabytes:.0f} MB store", peak, "MB", target="< 200", met=peak < 200
    )
