"""`python -m tools.fuzz_stores N [SEED] [--write]`: damage N stores, beginning with this seed, and say what was found.

With `--write` the figures are kept for docs/quality.md.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

from tools.fuzz_stores.kept import FILE, summary, table
from tools.fuzz_stores.run import fuzz
from tools.fuzz_stores.verifiers import commands

KEPT = Path("fuzz-stores")


def main(count: int, seed: int, *, writes: bool) -> int:
    """Run, and print figures; 1 if the verifiers did not agree on everything."""
    if "node" not in commands():
        print("node is not installed: two of the three verifiers are compared")
    began = time.monotonic()
    found = fuzz(range(seed, seed + count), KEPT, told=lambda text: print(text, flush=True))
    figures = summary(found, seed, time.monotonic() - began)
    print("\n".join(table(figures)))
    if found.failures:
        print(f"kept below {KEPT}/")
    if writes:
        FILE.write_text(json.dumps(figures, indent=1) + "\n", "utf-8")
    return bool(found.failures)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tools.fuzz_stores")
    parser.add_argument("count", type=int)
    parser.add_argument("seed", type=int, nargs="?", default=1)
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    sys.exit(main(asked.count, asked.seed, writes=asked.write))
