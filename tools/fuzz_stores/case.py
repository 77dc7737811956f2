"""One store that is being damaged: its files, the chance that decides how, and what was done to it.

Owns finding the files of a store and writing them back. Must not know what a change means.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any, TypeVar

from tallystick.errors import FormatError
from tallystick.seal.canonical import canonical

Json = Any
T = TypeVar("T")
MISFITS = (FormatError, ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError)
"""What a value of another kind than expected is found out by."""


@dataclass
class Case:
    """A copy of a source. `request` is what the verifiers are asked with, `done` what was changed, in order."""

    folder: Path
    chance: Random
    secrets: tuple[bytes, ...] = ()
    """Ed25519 keys that may sign its heads: whoever owns the store has them."""
    request: dict[str, Json] = field(default_factory=dict)
    done: list[str] = field(default_factory=list)

    @property
    def store(self) -> Path:
        """The folder of the store."""
        return self.folder / "store"

    @property
    def ledger(self) -> Path:
        """Its ledger."""
        return self.store / "ledger.jsonl"

    @property
    def note(self) -> Path:
        """Its newest head."""
        return self.store / "heads" / "ledger.note"

    def journals(self) -> list[Path]:
        """The journals that are files."""
        return self._files(self.store / "journals", "*.jsonl")

    def blobs(self) -> list[Path]:
        """The blobs that are files."""
        return self._files(self.store / "blobs", "*")

    def record(self) -> list[Path]:
        """All files of the record that are there."""
        heads = [path for path in (self.ledger, self.note) if is_plain(path)]
        return [*heads, *self.journals(), *self.blobs()]

    def chained(self) -> list[Path]:
        """The files that are made of lines."""
        return [*([self.ledger] if is_plain(self.ledger) else []), *self.journals()]

    def choose(self, items: list[T]) -> T | None:
        """One of them, if there are any."""
        return self.chance.choice(items) if items else None

    def _files(self, folder: Path, pattern: str) -> list[Path]:
        if not folder.is_dir():
            return []
        return sorted(path for path in folder.rglob(pattern) if is_plain(path))


MOST_READ = 4 << 20
"""A file that was made larger than this is left as it is."""


def is_plain(path: Path) -> bool:
    """Whether a path is a regular file of a size that can be changed in memory."""
    return path.is_file() and not path.is_symlink() and path.stat().st_size <= MOST_READ


def lines_of(path: Path) -> list[bytes]:
    """The lines of a file, without LF; a torn tail is the last item, empty if there is none."""
    return path.read_bytes().split(b"\n")


def parsed(line: bytes) -> dict[str, Json] | None:
    """A line as JSON; None if it is not an object."""
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def written(value: Json) -> bytes:
    """A value in canonical form, or, where it has none, as close to it as can be written."""
    try:
        return canonical(value)
    except FormatError:
        text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        return text.encode("utf-8", "surrogatepass")
