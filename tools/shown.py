"""Attacks that were shown on an installed program, and the tests that hold them: `make shown` runs these, keeps the results.

Owns docs/shown.toml, docs/shown.json and the table of docs/assurance.md that is made from both. Must not know what a test
does.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from xml.etree import ElementTree as Xml

import msgspec

_TREE = Path(__file__).resolve().parents[1]
TOLD, KEPT = _TREE / "docs" / "shown.toml", _TREE / "docs" / "shown.json"
_SOAK = "soak:"


class Attack(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """What was shown, and the tests that hold it, between blanks: files or functions, `soak:` before those of `make soak`."""

    what: str
    held_by: str

    @property
    def tests(self) -> tuple[str, ...]:
        """Those that `make test` has."""
        return tuple(name for name in self.held_by.split() if not name.startswith(_SOAK))

    @property
    def soaked(self) -> tuple[str, ...]:
        """Those that `make soak` has."""
        return tuple(name.removeprefix(_SOAK) for name in self.held_by.split() if name.startswith(_SOAK))


class Part(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Attacks of one sort."""

    title: str
    attacks: tuple[Attack, ...]


class Counts(msgspec.Struct, forbid_unknown_fields=True):
    """How many cases of a test passed, failed, and could not run where it was run."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0


def parts() -> tuple[Part, ...]:
    """All that docs/shown.toml has."""
    return msgspec.convert(tomllib.loads(TOLD.read_text("utf-8"))["parts"], tuple[Part, ...])


def named(found: Iterable[Part]) -> list[str]:
    """All tests that are named, each once."""
    return sorted({name for part in found for attack in part.attacks for name in attack.tests})


def results() -> dict[str, Counts]:
    """What came of the last run, by test."""
    return msgspec.json.decode(KEPT.read_bytes(), type=dict[str, Counts])


def run(names: Iterable[str]) -> dict[str, Counts]:
    """Run tests, and count what came of the cases of each."""
    listed = list(names)
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        once = [name for name in listed if "::" not in name or name.partition("::")[0] not in listed]
        words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={report}"]
        subprocess.run([*words, *once], cwd=_TREE, check=False)
        cases = Xml.parse(report).getroot().iter("testcase")
        return counted(listed, [(case.get("classname", ""), case.get("name", ""), [*case]) for case in cases])


def counted(names: Iterable[str], cases: Iterable[tuple[str, str, list[Xml.Element]]]) -> dict[str, Counts]:
    """What came of each name: cases are told by module, function with its case, and what went wrong."""
    found = {name: Counts() for name in names}
    for module, function, told in cases:
        file = f"{module.replace('.', '/')}.py"
        kinds = {each.tag for each in told}
        for name in (file, f"{file}::{function.partition('[')[0]}"):
            counts = found.get(name)
            if counts is None:
                continue
            if kinds & {"failure", "error"}:
                counts.failed += 1
            elif "skipped" in kinds:
                counts.skipped += 1
            else:
                counts.passed += 1
    return found


def table(found: Iterable[Part], came: Mapping[str, Counts]) -> Iterator[str]:
    """The lines of the table."""
    yield "| attack that was shown | held by | result |"
    yield "|---|---|---|"
    for part in found:
        yield f"| **{part.title}** | | |"
        for attack in part.attacks:
            tests = [f"`{name.removeprefix('tests/')}`" for name in attack.tests]
            tests += [f"`{name.removeprefix('tests/')}` (`make soak`)" for name in attack.soaked]
            yield f"| {attack.what} | {'; '.join(tests)} | {outcome([came.get(name, Counts()) for name in attack.tests])} |"


def outcome(counts: Iterable[Counts]) -> str:
    """What came of several tests, in words."""
    known = list(counts)
    passed, failed, skipped = (sum(getattr(one, name) for one in known) for name in ("passed", "failed", "skipped"))
    if failed or not passed or any(one == Counts() for one in known):
        return f"**{failed} of {passed + failed} failed**" if failed else "**not run**"
    return f"held, {passed} {'case' if passed == 1 else 'cases'}" + f"; {skipped} not run there" * bool(skipped)


def main(only: Iterable[str]) -> int:
    """Run all tests that are named, or only some of them, and keep what came of them; 1 if one failed."""
    names, asked = named(parts()), set(only)
    before = results() if asked else {}
    ran = run([name for name in names if name in asked or name not in before])
    came = {name: ran.get(name) or before[name] for name in names}
    KEPT.write_text(json.dumps(msgspec.to_builtins(came), indent=1) + "\n", "utf-8")
    return int(any(one.failed or not one.passed for one in came.values()))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
