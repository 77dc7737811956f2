"""Compare this tree with another commit: `python -m tools.same REF [--only PART,…] [--sample N] [--all]`.

Exit code 0: no difference but those listed in `expected.toml`. 1: there is another one; the first is shown.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from tools.same import trees
from tools.same.compare import Expected, Outcome, compare, examples, read_expected, report
from tools.same.stream import read_stream


def main() -> int:
    """Compare; the exit code."""
    parser = argparse.ArgumentParser(prog="same", description=__doc__)
    parser.add_argument("reference", help="the commit that this tree is compared with")
    parser.add_argument("--only", default=",".join(trees.PARTS), help=f"of {', '.join(trees.PARTS)}")
    parser.add_argument("--sample", type=int, default=1, help="only every N-th store, case and thing")
    parser.add_argument("--all", action="store_true", help="show the first differences of every kind")
    parser.add_argument("--twice", action="store_true", help="compare this tree with itself: is the probe stable?")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    given = parser.parse_args()
    wanted = [name for name in given.only.split(",") if name]
    if unknown := [name for name in wanted if name not in trees.PARTS]:
        parser.error(f"no part {unknown[0]!r}: there are {', '.join(trees.PARTS)}")
    began = time.monotonic()
    commit = trees.commit_of(given.reference)
    pairs = _streams(commit, wanted, given)
    expected = read_expected()
    different = [_show(part, *pair, expected, given.all) for part, pair in pairs.items()]
    print(
        f"{'different' if any(different) else 'the same'}: {commit[:12]} and this tree, {time.monotonic() - began:.0f} s"
    )
    return int(any(different))


def _streams(commit: str, wanted: Sequence[str], given: argparse.Namespace) -> dict[str, tuple[list[Path], list[Path]]]:
    """Both streams of each part, in pieces. The reference's are kept: they are made once for each commit and input."""
    data, reference = trees.data_folder(), trees.checked_out(commit)
    if data is None:
        print("same: no published histories beside the project; compared without them")
    jobs: list[tuple[Path, str, Path]] = []
    pairs: dict[str, tuple[list[Path], list[Path]]] = {}
    for part in wanted:
        digest = f"{commit[:12]}-{trees.input_digest(part, data)[:12]}-{given.sample}"
        kept = trees.CACHE / "once" if given.twice else trees.CACHE / "reference" / digest
        pairs[part] = ([], [])
        for piece in trees.PARTS[part]:
            name = f"{piece.replace(':', '-').replace('/', '-')}.jsonl"
            pairs[part][0].append(kept / name)
            pairs[part][1].append(trees.CACHE / "this" / name)
            jobs.append((trees.ROOT, piece, trees.CACHE / "this" / name))
            if given.twice or not (kept / name).exists():
                jobs.append((trees.ROOT if given.twice else reference, piece, kept / name))

    def run(job: tuple[Path, str, Path]) -> None:
        tree, piece, out = job
        took = time.monotonic()
        figures = trees.run_part(tree, piece, out, reference=reference, data=data, sample=given.sample)
        side = "this tree" if tree == trees.ROOT else commit[:12]
        print(f"  {side:<12} {piece:<16} {figures} ({time.monotonic() - took:.0f} s)", flush=True)

    with ThreadPoolExecutor(given.jobs) as pool:
        list(pool.map(run, jobs))
    return pairs


def _show(part: str, before: list[Path], after: list[Path], expected: Sequence[Expected], everything: bool) -> bool:
    outcome: Outcome = compare(_facts(before), _facts(after), expected)
    verdict = "DIFFERENT" if outcome.first is not None else "same"
    print(f"{part}: {outcome.facts:,} facts compared: {verdict}")
    for line in report(outcome, most=1000 if everything else 12):
        print(line)
    if everything:
        for line in examples(outcome):
            print(line)
    return outcome.first is not None


def _facts(paths: list[Path]) -> Iterator[tuple[str, Any]]:
    for path in paths:
        yield from read_stream(path)


if __name__ == "__main__":
    sys.exit(main())
