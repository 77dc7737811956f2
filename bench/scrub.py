"""Secrets: how many of the labelled set are found, what is replaced by mistake, and what it costs.

`python -m bench.scrub` prints the figures of docs/secrets.md.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from bench.corpus import lengthened_sample
from bench.measure import Figure
from tallystick.scrubbing.budget import Counts
from tallystick.scrubbing.finding import _literals as literals_looked_for
from tallystick.scrubbing.finding import may_hold_secrets, scrub_bytes, scrub_text
from tallystick.scrubbing.known_values import KnownValues
from tests.scrubbing.hard_set import Sample, harmless, samples
from tests.scrubbing.hard_set import remains as remains_of
from tests.scrubbing.labelled_set import labelled_set, remains

ROOT = Path(__file__).parents[1]
OURS = ("src", "tests/recordings", "docs")
"""Folders of the project with no secret in them: code, prose, and what real agents recorded."""


PROSE = b"The quick brown fox jumps over the lazy dog, and then it went home to see what was for dinner that evening. "


class Rate(NamedTuple):
    """So many of so many."""

    what: str
    found: int
    of: int


def rates() -> list[Rate]:
    """Recall by part of the labelled set, and how many innocent lines were changed. The same on every machine."""
    found: Counter[str] = Counter()
    total: Counter[str] = Counter()
    for line in labelled_set():
        total[line.part] += 1
        clean = scrub_text(line.text, Counts())
        found[line.part] += clean != line.text if line.secret is None else not remains(line.secret, clean)
    return [Rate(part, found[part], total[part]) for part in ("shapes", "named", "innocent")]


def hard_rates(seeds: range = range(1, 6)) -> list[Rate]:
    """The same of the hard set, by whether rules were built on the kind, and of its harmless lines."""
    found: Counter[str] = Counter()
    total: Counter[str] = Counter()
    for seed in seeds:
        for sample in samples(seed):
            part = _part(sample)
            total[part] += 1
            found[part] += not remains_of(sample, scrub_text(sample.text, Counts()))
        for line in harmless(seed):
            total["harmless"] += 1
            found["harmless"] += scrub_text(line, Counts()) != line
    return [Rate(part, found[part], total[part]) for part in ("built", "held out", "missed once", "harmless")]


def _part(sample: Sample) -> str:
    if sample.was_missed:
        return "missed once"
    return "held out" if sample.is_held_out else "built"


def mistakes() -> tuple[int, int]:
    """What is replaced in the project's own files, where there is no secret: how many, in how many bytes."""
    counts = Counts()
    size = 0
    for folder in OURS:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.is_file() and path.suffix in {".py", ".md", ".json", ".jsonl", ".sql", ".toml", ".txt"}:
                data = path.read_bytes()
                size += len(data)
                scrub_bytes(data, counts)
    return counts.total(), size


def figures() -> Iterator[Figure]:
    """Speed: of the quick look that every step gets, and of scrubbing a text in which there is something."""
    data = lengthened_sample() * 8
    yield Figure("the quick look, transcripts of agents", _speed(may_hold_secrets, data), "MB/s")
    yield Figure("scrubbing, transcripts of agents", _speed(_scrub, data), "MB/s")
    yield Figure("scrubbing, prose", _speed(_scrub, PROSE * 10_000), "MB/s")
    known = KnownValues(bytes(32))
    known.learn({f"Va!{number}ueX9qZ".encode(): "password" for number in range(10)})
    yield Figure(
        "scrubbing, prose, with 10 known values", _speed(lambda text: _scrub(text, known), PROSE * 10_000), "MB/s"
    )
    yield Figure("the quick look for 10 known values, transcripts", _speed(known.may_be_in, data), "MB/s")
    speeds = sorted(_speed(_scrub, _flood(literal)) for literal in _literals()[::20])
    yield Figure("scrubbing, one literal again and again, the slowest", speeds[0], "MB/s")
    yield Figure("scrubbing, one literal again and again, the median", speeds[len(speeds) // 2], "MB/s")
    numbered = b"".join(b"DB_PASSWORD=x%d\n" % number for number in range(8_000))
    yield Figure("scrubbing, names and values, no two alike", _speed(_scrub, numbered), "MB/s")


def _scrub(data: bytes, known: KnownValues | None = None) -> bytes:
    return scrub_bytes(data, Counts(known=known))


def _literals() -> list[str]:
    return [literal.text for literal in literals_looked_for()]


def _flood(literal: str) -> bytes:
    unit = f"{literal}=".encode()
    return unit * (1_000_000 // len(unit))


def _speed(run: Callable[[bytes], object], data: bytes) -> float:
    best = float("inf")
    for _ in range(2):
        began = time.process_time()
        run(data)
        best = min(best, time.process_time() - began)
    return len(data) / best / 1e6


def main() -> None:
    for rate in rates():
        print(f"{rate.what:<10} {rate.found:>5} of {rate.of:<5} {rate.found / rate.of:7.1%}")
    for rate in hard_rates():
        print(f"{rate.what:<10} {rate.found:>5} of {rate.of:<5} {rate.found / rate.of:7.1%}")
    count, size = mistakes()
    print(f"replaced in {size / 1e6:.1f} MB of our own files: {count}")
    for figure in figures():
        print(f"{figure.name:<52} {figure.value:8,.0f} {figure.unit}")


if __name__ == "__main__":
    main()
