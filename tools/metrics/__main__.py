"""Measure this tree, and another commit beside it: `python -m tools.metrics [REF] [--json] [--packages] [--write]`."""

from __future__ import annotations

import argparse
import json

from tools.metrics.tree import Figures, keep, kept, measure, packages_table, table
from tools.same.trees import ROOT, checked_out, commit_of


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="metrics", description=__doc__)
    parser.add_argument(
        "reference", nargs="?", help="a commit; without one, the figures that were kept of an earlier one"
    )
    parser.add_argument("--json", action="store_true", help="print the figures as one JSON document")
    parser.add_argument("--packages", action="store_true", help="the packages of this tree, the densest first")
    parser.add_argument("--write", action="store_true", help="keep the figures of this tree for docs/quality.md")
    given = parser.parse_args()
    before, name = _before(given.reference)
    after = measure(ROOT)
    if given.write:
        keep("after", after, "Measured by `make metrics WRITE=1`; docs/quality.md shows it beside before.toml.")
    if given.json:
        print(json.dumps({"before": before, "after": after}, indent=2, ensure_ascii=False))
        return
    print("\n".join(table(before, after, (name, "this tree"))))
    if given.packages:
        print()
        print("\n".join(packages_table(ROOT)))


def _before(reference: str | None) -> tuple[Figures, str]:
    if reference is None:
        return kept("before"), "before"
    commit = commit_of(reference)
    return measure(checked_out(commit)), commit[:12]


if __name__ == "__main__":
    main()
