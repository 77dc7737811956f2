"""The figures of a run, as docs/quality.md has them and docs/fuzz-stores.json keeps them.

Owns what is kept of a run. Must not know how stores are damaged or judged.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tools.fuzz_stores.case import Json
from tools.fuzz_stores.damage import CHANGES
from tools.fuzz_stores.run import Figures

FILE = Path(__file__).resolve().parents[2] / "docs" / "fuzz-stores.json"
_NAMES = {"ours": "`tally verify`", "alone": "the one-file verifier", "node": "`tools/verify.mjs`"}


def summary(found: Figures, seed: int, seconds: float) -> dict[str, Json]:
    """What is kept of a run that began with this seed and took so long."""
    return {
        "stores": found.stores,
        "seed": seed,
        "minutes": round(seconds / 60, 1),
        "disagreements": len(found.failures),
        "changes": {name: found.changes[name] for name in CHANGES},
        "exits": {str(code): count for code, count in sorted(found.exits.items())},
        "rules": dict(found.rules.most_common()),
        "verifiers": {
            name: {"seconds": round(seconds, 2), "megabytes": found.largest[name]}
            for name, seconds in found.slowest.items()
        },
    }


def table(figures: dict[str, Json]) -> Iterator[str]:
    """The lines of a table."""
    changes, exits = figures["changes"], figures["exits"]
    yield "| | |"
    yield "|---|---|"
    yield f"| stores, in one run | {figures['stores']:,} |"
    yield f"| first seed | {figures['seed']} |"
    yield f"| disagreements, crashes, limits of time or memory exceeded | {figures['disagreements']} |"
    yield f"| kinds of damage; the one that was done least | {len(changes)}; {min(changes.values(), default=0)} times |"
    yield f"| exit codes | {', '.join(f'{code}: {count:,}' for code, count in exits.items())} |"
    yield f"| first defects, by rule | {', '.join(f'{rule} {count:,}' for rule, count in figures['rules'].items())} |"
    for name, most in figures["verifiers"].items():
        yield f"| {_NAMES[name]}, most for one store | {most['seconds']} s of processor time, {most['megabytes']} MB |"
    yield f"| minutes | {figures['minutes']} |"
