"""Broad looks that no single path shows: indexes of the machine, all commits of a project, a pattern across home folders.

Owns recognizing those. A folder that is searched whole is judged as a path, by what lies below it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fnmatch import fnmatchcase

from tallystick.catalog.programs import programs_with
from tallystick.model.intent import Domain, Operation
from tallystick.policy.kinds.homes import below_home, is_above_homes, plain
from tallystick.policy.kinds.wildcards import has_wildcards
from tallystick.policy.reading import CallReading
from tallystick.policy.risks.programs import Started, programs
from tallystick.policy.risks.risk import Risk
from tallystick.policy.settings import Settings

RISKS: dict[str, str] = {"sweep": "It looks through a whole machine, home folders, or all commits of a project."}
_INDEXES = programs_with("file-index")
_READS = frozenset((Operation.READ, Operation.COPY_SOURCE))
_SCANNERS = programs_with("secret-scanner")
_PROMISES = re.compile(r"(?i)passw|secret|token|credential|api.?key|private.?key|akia|bearer|-----begin")


def risks(reading: CallReading, settings: Settings) -> Iterator[Risk]:
    """What a call does, of RISKS."""
    for program in programs(reading):
        if _is_sweep(program, reading):
            yield Risk("sweep", program.spelled)
    yield from (Risk("sweep", pattern[:200]) for pattern in reading.patterns if _is_wide(pattern, reading))


def _is_sweep(program: Started, reading: CallReading) -> bool:
    if program.name in _INDEXES:
        return bool(program.operands) or program.name == "updatedb"
    if program.name in _SCANNERS:
        return program.name not in ("gitleaks", "trufflehog")
    return program.name == "git" and _is_all_of_history(program)


def _is_all_of_history(program: Started) -> bool:
    """A search through each commit that there is: `git grep X $(git rev-list --all)`, `git log -p --all -S secret`."""
    operands = program.operands
    hidden = " ".join(word.hidden for word in program.given if word.hidden)
    if "grep" in operands[:2] and "rev-list" in hidden and "--all" in hidden:
        return True
    is_all = program.has("--all", "--branches", "--reflog", "-g", "--walk-reflogs")
    asks = any(_PROMISES.search(word) for word in program.words if word[:2] in ("-S", "-G") or not word.startswith("-"))
    return "log" in operands[:2] and is_all and program.has("-p", "--patch", "-S", "-G", "-u") and asks


def _is_wide(pattern: str, reading: CallReading) -> bool:
    """Whether a pattern has files read in any folder of a home folder, or of all of them: `cat ~/*/*.json`."""
    parts = plain(pattern).split("/")
    first = next((n for n, part in enumerate(parts) if has_wildcards(part)), len(parts))
    if first >= len(parts) - 1 and parts[-1] not in ("*", ".*"):
        return False
    folder = "/".join(parts[:first]) or "/"
    is_home = below_home(folder, reading.home) == "" or is_above_homes(folder, reading.home)
    return (
        is_home
        and pattern.startswith(("/", "~"))
        and any(
            intent.domain is Domain.FILE and intent.operation in _READS and fnmatchcase(intent.target, pattern)
            for intent in reading.effects.intents
        )
    )
