"""A wheel and an sdist of the last commit, the same bytes wherever they are built: `python tools/dist.py FOLDER [--try]`.

Owns what could differ from build to build: files that are not committed, times, owners, modes, the order of an archive. Each
is built twice and compared. With --try the wheel is installed into an environment of its own, with an empty home folder, and
run. Must not know what is in the packages beyond that.
"""

from __future__ import annotations

import argparse
import gzip
import io
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
_BACKEND = "import sys, setuptools.build_meta as backend; print(getattr(backend, sys.argv[1])(sys.argv[2]))"
"""setuptools' own PEP 517 hooks, called without isolation: what builds is what the lock holds."""


def main(words: Sequence[str]) -> int:
    """Build, compare, try if asked; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--try", action="store_true", dest="tries")
    asked = parser.parse_args(words)
    epoch = commit_time()
    with tempfile.TemporaryDirectory(prefix="tallystick-dist-") as name:
        folder = Path(name)
        first, second = (built(folder / side, epoch) for side in ("first", "second"))
        differing = [one.name for one, other in zip(first, second, strict=True) if digest(one) != digest(other)]
        if differing:
            sys.stderr.write(f"two builds of the same commit differ: {', '.join(differing)}\n")
            return 1
        asked.folder.mkdir(parents=True, exist_ok=True)
        for path in first:
            shutil.copyfile(path, asked.folder / path.name)
            sys.stdout.write(f"{digest(path)}  {path.name}\n")
    if asked.tries:
        wheel = asked.folder / next(path.name for path in first if path.suffix == ".whl")
        return tried(wheel.resolve())
    return 0


def commit_time() -> int:
    """When the last commit was made: the time of every file in both packages."""
    return int(run(["git", "log", "-1", "--format=%ct"], ROOT))


def built(folder: Path, epoch: int) -> tuple[Path, Path]:
    """The sdist and the wheel of the last commit, built in a folder of their own."""
    source, out = folder / "source", folder / "out"
    for each in (source, out):
        each.mkdir(parents=True)
    committed = subprocess.run(["git", "archive", "HEAD"], cwd=ROOT, capture_output=True, check=True).stdout
    with tarfile.open(fileobj=io.BytesIO(committed)) as archive:
        archive.extractall(source, filter="data")
    environment = {
        **os.environ,
        "SOURCE_DATE_EPOCH": str(epoch),
        "PYTHONHASHSEED": "0",
        "PYTHONPATH": str(source / "src"),
    }
    run([sys.executable, "tools/man_pages.py", "man"], source, environment)
    for path in sorted(source.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
        os.utime(path, (epoch, epoch))
    names = [
        run([sys.executable, "-c", _BACKEND, hook, str(out)], source, environment)
        for hook in ("build_sdist", "build_wheel")
    ]
    sdist, wheel = (out / name.splitlines()[-1] for name in names)
    normalise(sdist, epoch)
    return sdist, wheel


def normalise(sdist: Path, epoch: int) -> None:
    """Write an sdist again: files in order of their names, of one time, one mode and no owner."""
    packed = io.BytesIO()
    with tarfile.open(sdist) as before, tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as after:
        for member in sorted(before.getmembers(), key=lambda each: each.name):
            kept = tarfile.TarInfo(member.name)
            kept.type, kept.size, kept.mtime = member.type, member.size, epoch
            kept.mode = 0o755 if member.isdir() else 0o644
            after.addfile(kept, before.extractfile(member) if member.isfile() else None)
    with sdist.open("wb") as file, gzip.GzipFile("", "wb", 9, file, mtime=epoch) as compressed:
        compressed.write(packed.getvalue())


def tried(wheel: Path) -> int:
    """Install a wheel where nothing is, with the locked versions of what it needs, and run it."""
    with tempfile.TemporaryDirectory(prefix="tallystick-try-") as name:
        home, environment = Path(name) / "home", Path(name) / "env"
        home.mkdir()
        run([sys.executable, "-m", "venv", str(environment)], ROOT)
        python, tally = environment / "bin" / "python", environment / "bin" / "tally"
        lock = ROOT / "requirements" / "run.lock"
        pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        run([*pip, "--require-hashes", "-r", str(lock)], ROOT)
        run([*pip, "--no-deps", "--no-index", str(wheel)], ROOT)
        clean = {"HOME": str(home), "PATH": f"{environment / 'bin'}:/usr/bin:/bin", "LANG": "C.UTF-8", "TERM": "dumb"}
        for command in (["version"], ["demo"], ["uninstall", "--purge", "--yes"]):
            said = run([str(tally), *command], home, clean)
            sys.stdout.write(f"tally {' '.join(command)}: {said.splitlines()[-1]}\n")
        pages = len(list((environment / "share" / "man" / "man1").glob("tally*.1")))
        left = sorted(path.name for path in home.iterdir())
        sys.stdout.write(f"{pages} man pages; left in the home folder: {', '.join(left) or 'nothing'}\n")
        return 0 if pages and not left else 1


def run(words: Sequence[str], folder: Path, environment: dict[str, str] | None = None) -> str:
    """Run a command; its last line of output. Raises CalledProcessError, with what it wrote on stderr in the terminal."""
    done = subprocess.run(words, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout.strip()


def digest(path: Path) -> str:
    """SHA-256 of a file, in hex."""
    return sha256(path.read_bytes()).hexdigest()


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
