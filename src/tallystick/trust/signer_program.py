"""The program that a signer runs: a copy that root alone can change, and a Python that root alone can change.

Owns making the one and finding the other. Must not know what the program does.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tallystick.errors import JournalError
from tallystick.signer.pins import check_guarded

_LISTS = """
import importlib, sys
importlib.import_module(sys.argv[1])
for name in sorted({name.partition(".")[0] for name in sys.modules} - set(sys.stdlib_module_names) - {"__main__"}):
    found = sys.modules.get(name)
    places = list(getattr(found, "__path__", ())) or [getattr(found, "__file__", None)]
    if places[0]:
        print(places[0])
"""


def copy_program(target: Path, module: str = "tallystick.signer.__main__") -> None:
    """Copy a module of this program with the packages it uses, so that no user can change what runs.

    Raises:
        JournalError: the disk refuses.
    """
    done = subprocess.run([sys.executable, "-c", _LISTS, module], capture_output=True, text=True, check=True)
    fresh = target.with_name(f".{target.name}.new")
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir(parents=True, mode=0o755)
    for place in map(Path, done.stdout.splitlines()):
        _copy(place, fresh / place.name)
    _only_root(fresh)
    shutil.rmtree(target, ignore_errors=True)
    fresh.rename(target)


def _copy(source: Path, target: Path) -> None:
    try:
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__", "samples", "tests"))
        else:
            shutil.copyfile(source, target)
    except (OSError, shutil.Error) as error:
        raise JournalError(f"cannot copy {source} to {target}: {error}") from error


def _only_root(folder: Path) -> None:
    for place in (folder, *folder.rglob("*")):
        os.chown(place, 0, 0)
        if place.is_dir():
            place.chmod(0o755)
        else:
            place.chmod(0o644)


def interpreter() -> Path:
    """The Python that runs the signer: of this version, for root alone to change, and for every user to run.

    Raises: JournalError: none exists.
    """
    own = Path(os.path.realpath(getattr(sys, "_base_executable", sys.executable)))
    name = f"python{sys.version_info.major}.{sys.version_info.minor}"
    problems = []
    for candidate in (own, Path("/usr/bin") / name, Path("/usr/local/bin") / name):
        try:
            check_guarded(candidate)
        except JournalError as error:
            problems.append(str(error))
            continue
        if all(place.stat().st_mode & 0o001 for place in (candidate, *candidate.resolve().parents)):
            return candidate
        problems.append(f"other users cannot run {candidate}")
    raise JournalError(
        f"no {name} that only root may change and every user may run: {'; '.join(problems)}",
        hint=f"install {name} from the system's packages",
    )
