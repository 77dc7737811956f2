"""Speed of this tree beside another commit: `make bench-against REF=<commit>`.

Owns what is timed, and that both trees take turns, so that what else the machine does falls on both alike. Absolute figures
are `bench`'s. A figure is the ratio of the medians of this tree and the other: 1.00 is as fast, 1.10 takes a tenth longer.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time
import venv
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tools.same.trees import ROOT, checked_out, commit_of

_SAMPLES = Path("src/tallystick/samples/home")
_PAYLOAD = (
    b'{"session_id":"s","cwd":"/home/dev/project","prompt_id":"p","permission_mode":"default","hook_event_name":"PreToolUse",'
    b'"tool_name":"Bash","tool_input":{"command":"git status"},"tool_use_id":"toolu_%d"}'
)
_DECIDE = """
import statistics, sys
from pathlib import Path
from bench import decide
decide._ROUNDS, decide._WARMING = 40, 10
folder = Path(sys.argv[1])
decider = decide._loaded(folder)
print(sum(statistics.median(decide._timed(decider, folder, *call)) for call in decide.CALLS.values()) / 1000)
"""
_APPEND = """
import sys, time
from pathlib import Path
from bench.corpus import step_values
from tallystick.journal.archive import Archive
from tallystick.journal.home import Home
home = Home(Path(sys.argv[1]) / "store")
Archive.make(home)
start = {"type": "session_start", "source": "sdk", "agent": "bench", "kind": "root", "source_session": "s"}
journal, _ = Archive(home).make_journal(start, {}, ())
steps = [step_values(number) for number in range(5000)]
began = time.perf_counter()
for meta, values in steps:
    journal.append(meta, values)
print(time.perf_counter() - began)
"""


class Side:
    """One tree: how its command and its programs are run, with a store of the samples."""

    def __init__(self, tree: Path, folder: Path) -> None:
        self.tree = tree
        self.folder = folder
        self.environment = {
            "HOME": str(folder),
            "TALLY_HOME": str(folder / "store"),
            "PATH": os.environ.get("PATH", os.defpath),
            "LANG": "C.UTF-8",
        }
        folder.mkdir()
        self.python = _interpreter(tree, folder / "python")
        self.tally("import", str(ROOT / _SAMPLES))

    def tally(self, *words: str) -> float:
        """Seconds of a command, as a whole process."""
        began = time.perf_counter()
        self._run("-m", "tallystick", *words)
        return time.perf_counter() - began

    def program(self, code: str) -> float:
        """What a program prints: the seconds that it measured. It gets an empty folder."""
        with tempfile.TemporaryDirectory(dir=self.folder) as folder:
            return float(self._run("-c", code, folder).split()[-1])

    def importing(self) -> float:
        """Seconds of an import into an empty store."""
        shutil.rmtree(self.folder / "empty", ignore_errors=True)
        began = time.perf_counter()
        self._run("-m", "tallystick", "--home", str(self.folder / "empty"), "import", str(ROOT / _SAMPLES))
        return time.perf_counter() - began

    def hook(self, number: int) -> float:
        """Seconds of a hook, as the agent waits for it: the recorder answers."""
        hook = [
            sys.executable,
            "-I",
            "-S",
            str(self.tree / "src/tallystick/hook.py"),
            "--home",
            str(self.folder / "store"),
        ]
        began = time.perf_counter()
        subprocess.run(
            [*hook, "claude-code"], input=_PAYLOAD % number, env=self.environment, capture_output=True, check=True
        )
        return time.perf_counter() - began

    @contextmanager
    def recorder(self) -> Iterator[None]:
        """The tree's recorder, running."""
        self.tally("service", "start")
        try:
            yield
        finally:
            self.tally("service", "stop")

    def _run(self, *words: str) -> str:
        done = subprocess.run(
            [self.python, *words], env=self.environment, cwd=self.folder, capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise SystemExit(f"against: {' '.join(words)[:60]} failed in {self.tree}:\n{done.stderr[-2000:]}")
        return done.stdout


def _interpreter(tree: Path, folder: Path) -> str:
    """A Python of its own for a tree, with what is installed beside this one: a recorder is started without PYTHONPATH."""
    venv.create(folder, symlinks=True)
    packages = Path(sysconfig.get_path("purelib", vars={"base": str(folder), "platbase": str(folder)}))
    lines = (str(tree / "src"), str(tree), sysconfig.get_path("purelib"))
    (packages / "tree.pth").write_text("\n".join(lines) + "\n", "utf-8")
    return str(folder / "bin" / "python")


_TIMED: Mapping[str, tuple[int, Callable[[Side, int], float]]] = {
    "start: tally --version": (20, lambda side, _: side.tally("--version")),
    "tally log": (10, lambda side, _: side.tally("log", "--limit", "50")),
    "tally verify": (10, lambda side, _: side.tally("verify")),
    "import of the samples": (5, lambda side, _: side.importing()),
    "append of 5,000 steps": (5, lambda side, _: side.program(_APPEND)),
    "decisions, one of each kind": (3, lambda side, _: side.program(_DECIDE)),
    "hook, with a recorder": (100, lambda side, number: side.hook(number)),
}


def main() -> None:
    """Time both trees in turns and print the ratios."""
    parser = argparse.ArgumentParser(prog="against", description=__doc__)
    parser.add_argument("reference", help="the commit that this tree is compared with")
    parser.add_argument("--only", default="", help="a regular expression: which figures")
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(130))  # or both recorders would stay
    commit = commit_of(given.reference)
    print(
        f"load {os.getloadavg()[0]:.1f}, {os.cpu_count()} processors; seconds, medians; {commit[:12]}, then this tree"
    )
    with tempfile.TemporaryDirectory() as folder:
        before, after = Side(checked_out(commit), Path(folder, "before")), Side(ROOT, Path(folder, "after"))
        with before.recorder(), after.recorder():
            for name, (rounds, timed) in _TIMED.items():
                if re.search(given.only, name):
                    _print(name, before, after, rounds, timed)


def _print(name: str, before: Side, after: Side, rounds: int, timed: Callable[[Side, int], float]) -> None:
    times: tuple[list[float], list[float]] = ([], [])
    for number in range(rounds):
        for side, found in zip((before, after), times, strict=True):
            found.append(timed(side, number))
    one, other = (statistics.median(found) for found in times)
    best = min(times[1]) / min(times[0])
    print(f"{name:<32} {one:>9.4f} {other:>9.4f}   × {other / one:.2f}   best of {rounds}: × {best:.2f}", flush=True)


if __name__ == "__main__":
    main()
