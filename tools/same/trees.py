"""The two trees, and what their probes wrote: this one, and another commit's files in a folder of the cache.

Owns how a commit is checked out, how a part is run in a tree, and what is kept of the reference for the next time.
"""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from io import BytesIO
from pathlib import Path

from tools.same.decisions import PARTS_OF_DECISIONS

ROOT = Path(__file__).resolve().parents[2]
CACHE = ROOT / "build" / "same"
PARTS = {
    "journals": ("journals",),
    "commands": ("commands:0", "commands:1", "commands:2"),
    "decisions": tuple(f"decisions:{part}/{PARTS_OF_DECISIONS}" for part in range(PARTS_OF_DECISIONS)),
    "live": ("live",),
}
"""What `ONLY` may name, and the pieces it is made in; `journals` has the rows of graph.db too."""

_AFTERWARDS = ("__main__.py", "compare.py", "expected.toml", "left_out.toml", "trees.py")
"""What has no part in what a probe writes: a change of it leaves what is kept as good as it was."""

_OWN_FILES = {"commands": ("commands.toml",), "decisions": ("decisions.py",), "live": ("live.py",)}
"""What has a part in one part only."""


def commit_of(reference: str) -> str:
    """The full name of a commit.

    Raises:
        SystemExit: there is no such commit.
    """
    found = subprocess.run(
        ["git", "rev-parse", "--verify", "--quiet", f"{reference}^{{commit}}"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if found.returncode:
        raise SystemExit(f"same: {reference!r} is not a commit of this repository")
    return found.stdout.strip()


def checked_out(commit: str) -> Path:
    """The files of a commit in a folder of the cache."""
    folder = CACHE / "trees" / commit[:12]
    if not folder.is_dir():
        folder.parent.mkdir(parents=True, exist_ok=True)
        archive = subprocess.run(["git", "archive", commit], cwd=ROOT, capture_output=True, check=True).stdout
        with tempfile.TemporaryDirectory(dir=folder.parent) as made:
            with tarfile.open(fileobj=BytesIO(archive)) as files:
                files.extractall(Path(made, "tree"), filter="data")
            Path(made, "tree").rename(folder)
    return folder


def data_folder() -> Path | None:
    """Published histories beside the project, where they are at hand; `TALLY_DATA` names another folder."""
    named = os.environ.get("TALLY_DATA")
    folder = Path(named) if named else ROOT.parent / "shared" / "data"
    return folder.resolve() if folder.is_dir() else None


def input_digest(part: str, data: Path | None) -> str:
    """SHA-256 over the programs that write a part, and the histories beside the project."""
    total = sha256()
    others = {name for name, files in _OWN_FILES.items() if name != part for name in files}
    for path in [*sorted(Path(__file__).parent.glob("*")), *(sorted(data.rglob("*")) if data is not None else ())]:
        if path.is_file() and path.name not in {*_AFTERWARDS, *others}:
            total.update(f"{path.name} {sha256(path.read_bytes()).hexdigest()}\n".encode())
    return total.hexdigest()


def run_part(tree: Path, part: str, out: Path, *, reference: Path, data: Path | None, sample: int) -> str:
    """Have a tree write one part; its figures. Another run of the same part is waited for: both use the same folder.

    Raises:
        SystemExit: the probe failed; what it said is shown.
    """
    name = part.replace(":", "-").replace("/", "-")
    work = Path(tempfile.gettempdir()) / f"tally-same-{os.getuid()}" / name
    work.parent.mkdir(mode=0o700, exist_ok=True)
    out.parent.mkdir(parents=True, exist_ok=True)
    half = out.with_suffix(".part")
    with _locked(work.with_suffix(".lock")), _path_for(tree) as path:
        command = [sys.executable, "-m", "tools.same.probe", part, str(half), "--input", str(reference)]
        command += ["--work", str(work), "--sample", str(sample), *(["--data", str(data)] if data is not None else [])]
        done = subprocess.run(
            command, cwd=work.parent, env=_environment(tree, path, work), capture_output=True, text=True, check=False
        )
    if done.returncode:
        raise SystemExit(f"same: {part} failed in {tree}:\n{done.stderr[-4000:]}")
    half.rename(out)
    return done.stdout.strip()


def _environment(tree: Path, path: Sequence[Path], work: Path) -> dict[str, str]:
    return {
        "HOME": str(work / "home"),
        "PATH": os.environ.get("PATH", os.defpath),
        "PYTHONPATH": os.pathsep.join(map(str, path)),
        "PYTHONHASHSEED": "0",
        "SAME_TREE": str(tree),
        "TZ": "UTC",
        "LANG": "C.UTF-8",
        "COLUMNS": "100",
        "NO_COLOR": "1",
        "TERM": "dumb",
    }


@contextmanager
def _path_for(tree: Path) -> Iterator[Sequence[Path]]:
    """Where a tree's Python looks: its sources, these programs as they are here, and its other programs."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "tools").symlink_to(ROOT / "tools")
        yield tree / "src", Path(folder), tree


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
