"""Files that were written since a moment, among many that were not.

Owns the walk along patterns, in which only names are compared and times looked at, and which lets others work in between.
Must not know what the files are.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

_AT_A_TIME = 100
_PAUSE_SECONDS = 0.001
_DEEPEST = 16


class Written:
    """Looks below one folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._looked_at = 0

    def since(self, patterns: Sequence[str], moment: float) -> Iterator[tuple[Path, os.stat_result]]:
        """The regular files whose paths match a pattern and that were written at or after a moment (seconds since 1970)."""
        for pattern in patterns:
            for entry in self._matching(str(self._folder), tuple(pattern.split("/")), _DEEPEST):
                try:
                    status = entry.stat(follow_symlinks=False)
                except OSError:
                    continue
                if status.st_mtime >= moment and entry.is_file(follow_symlinks=False):
                    yield Path(entry.path), status

    def _matching(self, folder: str, parts: tuple[str, ...], depth: int) -> Iterator[os.DirEntry[str]]:
        head, rest = parts[0], parts[1:]
        if not rest:
            yield from (entry for entry in self._entries(folder) if fnmatchcase(entry.name, head))
        elif head == "**":
            yield from self._matching(folder, rest, depth)
            for below in self._folders(folder, "*") if depth else ():
                yield from self._matching(below, parts, depth - 1)
        elif "*" in head:
            for below in self._folders(folder, head):
                yield from self._matching(below, rest, depth)
        else:
            yield from self._matching(f"{folder}/{head}", rest, depth)

    def _folders(self, folder: str, name: str) -> Iterator[str]:
        for entry in self._entries(folder):
            if fnmatchcase(entry.name, name) and entry.is_dir(follow_symlinks=False):
                yield entry.path

    def _entries(self, folder: str) -> Iterator[os.DirEntry[str]]:
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    self._looked_at += 1
                    if self._looked_at % _AT_A_TIME == 0:
                        time.sleep(_PAUSE_SECONDS)
                    yield entry
        except OSError:  # not there, or not ours
            return
