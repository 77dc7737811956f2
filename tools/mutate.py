"""Changes the program in small ways, one at a time, and counts which changes the tests notice.

    python -m tools.mutate --draw 2 --seed 7          two changes of each package
    python -m tools.mutate --package graph --draw 14
    python -m tools.mutate --package hook             the modules that are in no package

Owns the drawing, the copy of the tree in which a change is made, and the figures. mutmut's operators make the changes.
A change counts as noticed if a test fails, or tests do not end in time: those of its module, then those of its package, then
those elsewhere that name the module or belong to a module that imports it. A test that fails without the change too does not
count. A change that only other tests would notice counts as missed, so the figures are a lower bound. Results are appended
to build/mutate/results.jsonl.
"""

from __future__ import annotations

import argparse
import functools
import itertools
import json
import os
import random
import re
import shutil
import site
import subprocess
import sys
import venv
from collections.abc import Iterator, Sequence
from pathlib import Path

import grimp
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
HOOK = "hook"
"""What the modules that are in no package are called here."""
NO_TESTS = 5
"""What pytest returns if there is nothing to run."""
IN_TIME = "not in time"
OPTIONS = (
    *("-x", "-q", "-p", "no:cacheprovider", "-p", "no:randomly", "--timeout=100"),
    *("--assert=plain", "--tb=no", "--hypothesis-profile=verdict"),
)
"""A failure is not explained: how two large values differ, and the simplest example, take longer than the tests."""
_TIMES = itertools.count(1_000_000_000)


class Mutant(msgspec.Struct, frozen=True, kw_only=True):
    """One change of one module: `before` and `after` are the changed expression as text."""

    package: str
    module: str
    before: str
    after: str
    noticed: bool | None = None
    by: str | None = None
    """The test that noticed it, or that tests did not end."""


def packages() -> list[str]:
    """The packages of the program, and the modules that are in none."""
    return sorted([*(path.parent.name for path in SOURCE.glob("*/__init__.py")), HOOK])


def modules_of(package: str) -> list[Path]:
    """Where changes of a package are drawn from."""
    found = SOURCE.glob("*.py") if package == HOOK else (SOURCE / package).rglob("*.py")
    return [path for path in sorted(found) if path.relative_to(SOURCE).as_posix() not in ALONE]


def draw(package: str, count: int, chance: random.Random) -> Iterator[tuple[Path, Mutation, str]]:
    """Changes of a package with the changed source, each of another place, drawn by the size of modules."""
    files = modules_of(package)
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
    """The tests to ask, the nearest first: those of the module, of its package, and elsewhere of what uses it."""
    near, package = tests_beside(file), Path("tests", file.relative_to(SOURCE).parts[0])
    users = {tests_beside(other) for other in importers(file)} | naming(file)
    elsewhere = sorted(path for path in users - {near} if package not in path.parents and (ROOT / path).exists())
    groups = [[path] for path in (near, package) if (ROOT / path).exists()] + [elsewhere] * bool(elsewhere)
    return [[path.as_posix() for path in group] for group in groups]


def tests_beside(file: Path) -> Path:
    """Where the tests of a module would be."""
    inside = file.relative_to(SOURCE)
    return Path("tests", inside).with_name(f"test_{inside.stem.strip('_')}.py")


def module_name(file: Path) -> str:
    """The name by which a file of the program is imported."""
    return ".".join(file.relative_to(SOURCE.parent).with_suffix("").parts).removesuffix(".__init__")


def importers(file: Path) -> Iterator[Path]:
    """The modules that import a module."""
    for name in imports().find_modules_that_directly_import(module_name(file)):
        path = SOURCE.parent.joinpath(*name.split("."))
        yield path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


@functools.cache
def imports() -> grimp.ImportGraph:
    """Which module imports which."""
    return grimp.build_graph(SOURCE.name, cache_dir=None)


def naming(file: Path) -> set[Path]:
    """The tests that name a module."""
    parent, _, name = module_name(file).rpartition(".")
    named = re.compile(rf"{re.escape(parent)}(\.{name}\b| import (.*\b)?{name}\b)")
    return {
        path.relative_to(ROOT)
        for path in (ROOT / "tests").rglob("test_*.py")
        if named.search(path.read_text("utf-8", "replace"))
    }


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


class Tests:
    """Runs tests on the copy. Those that fail without a change are not asked again."""

    def __init__(self, interpreter: Path) -> None:
        """No test is known to fail by itself."""
        self._interpreter = interpreter
        self._broken: set[str] = set()

    def noticing(self, file: Path, code: str) -> str | None:
        """The test that notices a change of a module, which is made in the copy and taken back."""
        copy = WORK / "tree" / file.relative_to(ROOT)
        for tests in tests_of(file):
            while True:
                write(copy, code)
                failing = self._failing(tests)
                write(copy, file.read_text("utf-8"))
                if failing is None or failing == IN_TIME:
                    break
                if self._failing([failing]) is None:
                    return failing
                self._broken.add(failing)
            if failing is not None:
                return failing
        return None

    def _failing(self, tests: Sequence[str]) -> str | None:
        """The first of some tests that fails with the tree as it is."""
        command = [
            str(self._interpreter),
            "-m",
            "pytest",
            *OPTIONS,
            *(f"--deselect={test}" for test in sorted(self._broken)),
        ]
        try:
            done = subprocess.run(
                [*command, *tests], cwd=WORK / "tree", capture_output=True, text=True, timeout=SECONDS
            )
        except subprocess.TimeoutExpired:
            return IN_TIME
        if done.returncode in (0, NO_TESTS):
            return None
        named = re.search(r"^(?:FAILED|ERROR) (\S+?\.py(?:::.*?)?)(?: - .*)?$", done.stdout, re.MULTILINE)
        return named[1] if named else " ".join(tests)


def write(path: Path, code: str) -> None:
    """Write a module of the copy, so that compiled code of it is never taken for that of another version."""
    path.write_text(code, "utf-8")
    time = next(_TIMES)
    os.utime(path, (time, time))


def tried(tests: Tests, file: Path, mutation: Mutation, code: str) -> Mutant:
    """One change, shown to the tests."""
    text = cst.Module(body=[]).code_for_node
    by = tests.noticing(file, code)
    inside = file.relative_to(SOURCE)
    return Mutant(
        package=inside.parts[0] if len(inside.parts) > 1 else HOOK,
        module=inside.as_posix(),
        before=text(mutation.original_node).strip()[:200],
        after=text(mutation.mutated_node).strip()[:200],
        noticed=by is not None,
        by=by,
    )


def main() -> None:
    """Draw, try, and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--package", action="append", choices=packages(), help="only this one; may be repeated")
    parser.add_argument("--draw", type=int, default=2, help="changes a package (default 2)")
    parser.add_argument("--seed", type=int, default=1, help="which changes are drawn (default 1)")
    options = parser.parse_args()
    tests = Tests(prepare())
    found: list[Mutant] = []
    for package in options.package or packages():
        for file, mutation, code in draw(package, options.draw, random.Random(f"{options.seed} {package}")):
            mutant = tried(tests, file, mutation, code)
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
