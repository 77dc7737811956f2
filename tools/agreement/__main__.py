"""`python -m tools.agreement FOLDER…`: import transcripts, and compare the record with the independent reader.

Prints rates, and each disagreement with its file and line; exits with 1 if a rate misses its aim. With `--store HOME` the
record in that folder is asked, into which the folders were imported before.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tallystick.graph.graph import Graph
from tests.independent.facts import History
from tests.independent.reader import read
from tools.agreement.comparing import Comparison
from tools.agreement.recorded import Recorded


def main() -> int:
    """Compare, and say by the exit code whether the aims are met."""
    parser = argparse.ArgumentParser(prog="python -m tools.agreement", description=__doc__)
    parser.add_argument("folders", type=Path, nargs="+", metavar="FOLDER")
    parser.add_argument("--store", type=Path, help="a record into which the folders were imported before")
    parser.add_argument("--most", type=int, default=50, help="disagreements that are printed of each sort")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="agreement-") as made:
        home = arguments.store or imported(arguments.folders, Path(made))
        comparison = Comparison()
        with Graph(home / "graph.db") as graph:
            recorded = Recorded(graph)
            known = list(histories(arguments.folders))
            files = Counter(history.session for _, history in known)
            for path, history in known:
                comparison.take(path.name, history, recorded, is_whole=files[history.session] == 1)
    for line in comparison.report(arguments.most):
        print(line)
    return 0 if comparison.is_within_aims else 1


def imported(folders: list[Path], home: Path) -> Path:
    """A record of all transcripts in some folders."""
    for folder in folders:
        command = [sys.executable, "-m", "tallystick", "--home", str(home / ".tally"), "import", str(folder)]
        subprocess.run(command, check=False, stdout=subprocess.DEVNULL, env={"HOME": str(home), "PATH": ""})
    return home / ".tally"


def histories(folders: list[Path]) -> Iterator[tuple[Path, History]]:
    """The transcripts in some folders that the independent reader knows."""
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            history = read(path) if path.is_file() and path.suffix in (".jsonl", ".json") else None
            if history is not None:
                yield path, history


if __name__ == "__main__":
    sys.exit(main())
