"""Many damaged stores, one after the other, and what is kept of those on which the verifiers do not agree."""

from __future__ import annotations

import contextlib
import json
import shutil
import stat
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from random import Random

from tools.fuzz_stores.case import Case
from tools.fuzz_stores.damage import damage
from tools.fuzz_stores.sources import Source, copy, sources
from tools.fuzz_stores.verifiers import Answer, Verifiers, disagreement


@dataclass
class Figures:
    """What became of a run."""

    stores: int = 0
    changes: Counter[str] = field(default_factory=Counter)
    exits: Counter[int] = field(default_factory=Counter)
    rules: Counter[str] = field(default_factory=Counter)
    slowest: dict[str, float] = field(default_factory=dict)
    largest: dict[str, int] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)

    def add(self, case: Case, answers: dict[str, Answer]) -> None:
        """Count one store."""
        self.stores += 1
        self.changes.update(said.partition(":")[0] for said in case.done)
        report = answers["alone"].report
        if report is not None:
            self.exits[report["exit"]] += 1
            self.rules[report["integrity"]] += 1
        for name, answer in answers.items():
            self.slowest[name] = max(self.slowest.get(name, 0), answer.seconds)
            self.largest[name] = max(self.largest.get(name, 0), answer.megabytes)


def prepare(source: Source, folder: Path, seed: int) -> Case:
    """A copy of a source with the damage of one seed."""
    case = Case(folder, Random(seed), source.secrets)
    copy(source, case.store)
    case.request["path"] = str(case.store)
    if source.pinned is not None:
        case.request["pinned"] = source.pinned
    damage(case)
    return case


def fuzz(seeds: Sequence[int], kept: Path, told: Callable[[str], None] = lambda _: None) -> Figures:
    """Damage a store for each seed and ask all verifiers. What they disagree on is kept, with what was done, below `kept`."""
    figures, began = Figures(), time.monotonic()
    with tempfile.TemporaryDirectory(prefix="fuzz-stores-") as scratch, Verifiers() as verifiers:
        made = sources(Path(scratch) / "sources")
        for seed in seeds:
            source = Random(seed).choice(made)
            folder = Path(scratch) / str(seed)
            case = prepare(source, folder, seed)
            answers = verifiers.ask(case.request)
            figures.add(case, answers)
            found = disagreement(answers)
            if found is not None:
                figures.failures.append(f"seed {seed}, {source.name}: {found}")
                told(figures.failures[-1])
                keep(case, source, answers, kept / str(seed))
            remove(folder)
            if figures.stores % 500 == 0:
                told(f"{figures.stores} stores, {len(figures.failures)} failures, {time.monotonic() - began:.0f} s")
    return figures


def keep(case: Case, source: Source, answers: dict[str, Answer], folder: Path) -> None:
    """Keep a store, what was done to it and what was said of it."""
    remove(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    shutil.move(case.folder, folder)
    said = {"source": source.name, "done": case.done, "request": case.request}
    said["answers"] = {name: asdict(answer) for name, answer in answers.items()}
    (folder / "failure.json").write_text(json.dumps(said, indent=1), "utf-8")


def remove(folder: Path) -> None:
    """Remove what was damaged, whatever kinds of files are there."""
    for path in folder.rglob("*"):
        if path.is_dir() and not path.is_symlink():
            with contextlib.suppress(OSError):
                path.chmod(stat.S_IRWXU)
    shutil.rmtree(folder, ignore_errors=True)
