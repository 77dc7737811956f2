"""Changes the program in small ways, one at a time, and counts which changes the tests notice.

    python -m tools.mutate --draw 2 --seed 7          two changes of each package
    python -m tools.mutate --package graph --draw 14

Owns the drawing, the copy of the tree in which a change is made, and the figures. mutmut's operators make the changes.
A change counts as noticed if the tests of its module or of its package fail or do not end in time. A change that only another
package's tests would notice counts as missed, so the figures are a lower bound. Results are appended to
build/mutate/results.jsonl.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import site
import subprocess
import sys
import venv
from collections.abc import Iterator
from pathlib import Path

import libcst as cst
import msgspec
from mutmut.mutation.file_mutation import Mutation, create_mutations, deep_replace

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "tallystick"
WORK = ROOT / "build" / "mutate"
COPIED = (
    "src",
    "tests",
    "docs",
    "tools",
    "bench",
    "examples",
    "pyproject.toml",
    "README.md",
    "Makefile",
    "CHANGELOG.md",
)
ALONE = ("seal/standalone.py",)
"""Modules that are tried by hand: docs/quality.md."""
SECONDS = 600


class Mutant(msgspec.Struct, frozen=True, kw_only=True):
    """One change of one module: `before` and `after` are the changed expression as text."""

    package: str
    module: str
    before: str
    after: str
    noticed: bool | None = None
    by: str | None = None
    """The tests that noticed it."""


def packages() -> list[str]:
    """The packages of the program."""
    return sorted(path.parent.name for path in SOURCE.glob("*/__init__.py"))


def draw(package: str, count: int, chance: random.Random) -> Iterator[tuple[Path, Mutation, str]]:
    """Changes of a package with the changed source, each of another place, drawn by the size of modules."""
    files = [
        path for path in sorted((SOURCE / package).rglob("*.py")) if path.relative_to(SOURCE).as_posix() not in ALONE
    ]
    sizes = [len(path.read_bytes()) for path in files]
    drawn: set[tuple[Path, int]] = set()
    for _ in range(count * 20):
        if len(drawn) == count:
            return
        (file,) = chance.choices(files, sizes)
        module, mutations, _, _ = create_mutations(str(file), file.read_text("utf-8"))
        if not mutations:
            continue
        at = chance.randrange(len(mutations))
        if (file, at) in drawn:
            continue
        drawn.add((file, at))
        changed = deep_replace(module, mutations[at].original_node, mutations[at].mutated_node)
        assert isinstance(changed, cst.Module)
        yield file, mutations[at], changed.code


def tests_of(file: Path) -> list[list[str]]:
    """The tests to ask, the nearest first: those of the module, then those of its package."""
    inside = file.relative_to(SOURCE)
    near = Path("tests", inside).with_name(f"test_{inside.stem.strip('_')}.py")
    package = Path("tests", inside.parts[0])
    return [[path.as_posix()] for path in (near, package) if (ROOT / path).exists()]


def prepare() -> Path:
    """A copy of the tree, and an interpreter that imports the program from it, also in processes that tests start.

    Returns:
        The interpreter.
    """
    tree = WORK / "tree"
    shutil.rmtree(tree, ignore_errors=True)
    tree.mkdir(parents=True)
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, tree / name, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy2(source, tree / name)
    interpreter = WORK / "venv" / "bin" / "python"
    venv.create(WORK / "venv", with_pip=False, clear=True)
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    folder = WORK / "venv" / "lib" / version / "site-packages"
    (folder / "mutate.pth").write_text(f"{tree / 'src'}\n{site.getsitepackages()[0]}\n", "utf-8")
    return interpreter


def is_noticed(interpreter: Path, tests: list[str]) -> bool:
    """Whether some tests fail, or do not end, with the tree as it is."""
    command = [str(interpreter), "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-p", "no:randomly", *tests]
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(command, cwd=WORK / "tree", env=environment, capture_output=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return True
    return done.returncode not in (0, 5)


def tried(interpreter: Path, file: Path, mutation: Mutation, code: str) -> Mutant:
    """One change, made in the copy, shown to the tests, and taken back."""
    copy = WORK / "tree" / file.relative_to(ROOT)
    text = cst.Module(body=[]).code_for_node
    mutant = Mutant(
        package=file.relative_to(SOURCE).parts[0],
        module=file.relative_to(SOURCE).as_posix(),
        before=text(mutation.original_node).strip()[:200],
        after=text(mutation.mutated_node).strip()[:200],
    )
    copy.write_text(code, "utf-8")
    try:
        by = next((tests for tests in tests_of(file) if is_noticed(interpreter, tests)), None)
    finally:
        shutil.copy2(file, copy)
    return msgspec.structs.replace(mutant, noticed=by is not None, by=" ".join(by) if by else None)


def main() -> None:
    """Draw, try, and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--package", action="append", choices=packages(), help="only this one; may be repeated")
    parser.add_argument("--draw", type=int, default=2, help="changes a package (default 2)")
    parser.add_argument("--seed", type=int, default=1, help="which changes are drawn (default 1)")
    options = parser.parse_args()
    interpreter = prepare()
    found: list[Mutant] = []
    for package in options.package or packages():
        for file, mutation, code in draw(package, options.draw, random.Random(f"{options.seed} {package}")):
            mutant = tried(interpreter, file, mutation, code)
            found.append(mutant)
            verdict = "noticed" if mutant.noticed else "MISSED "
            print(f"{verdict}  {mutant.module}: {mutant.before!r} -> {mutant.after!r}", flush=True)
            with (WORK / "results.jsonl").open("a", encoding="utf-8") as results:
                results.write(json.dumps({"seed": options.seed, **msgspec.to_builtins(mutant)}) + "\n")
    for package in sorted({mutant.package for mutant in found}):
        of_package = [mutant for mutant in found if mutant.package == package]
        print(f"{package:<12} {sum(bool(mutant.noticed) for mutant in of_package)} of {len(of_package)} noticed")
    print(f"{sum(bool(mutant.noticed) for mutant in found)} of {len(found)} changes are noticed")


if __name__ == "__main__":
    main()
