"""`python -m tools.fuzz_stores N [SEED]`: damage N stores, beginning with this seed, and say what was found."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from tools.fuzz_stores.run import Figures, fuzz
from tools.fuzz_stores.verifiers import commands

KEPT = Path("fuzz-stores")


def main(count: int, seed: int) -> int:
    """Run, and print figures; 1 if the verifiers did not agree on everything."""
    if "node" not in commands():
        print("node is not installed: two of the three verifiers are compared")
    began = time.monotonic()
    found = fuzz(range(seed, seed + count), KEPT, told=lambda text: print(text, flush=True))
    print_figures(found, time.monotonic() - began)
    return bool(found.failures)


def print_figures(found: Figures, seconds: float) -> None:
    """What docs/quality.md says of a run."""
    print(f"{found.stores} stores in {seconds:.0f} s, {len(found.failures)} on which the verifiers do not agree")
    print("exit codes:", ", ".join(f"{code}: {count}" for code, count in sorted(found.exits.items())))
    print("integrity:", ", ".join(f"{rule} {count}" for rule, count in found.rules.most_common()))
    for name, most in found.slowest.items():
        print(f"{name}: at most {most:.2f} s and {found.largest[name]} MB")
    if found.failures:
        print(f"kept below {KEPT}/")


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1))
