"""Files that no commit has, at and below a path: which they are, their sizes, and how many lines nothing else has.

Owns looking for them within a limit of files and time. Must not know why someone asks, nor what becomes of the files.
"""

from __future__ import annotations

import os
import posixpath
import stat
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec

from tallystick.capture.tracking import repository_of

_MOST_LINES_BYTES = 1 << 20


class LooseFile(msgspec.Struct, frozen=True):
    """A file of which version control does not have the content."""

    path: str
    size: int
    lines: int


class LooseWork(msgspec.Struct, frozen=True):
    """What was found."""

    files: tuple[LooseFile, ...] = ()
    is_partial: bool = False
    """There are more: looking stopped at its limit."""


class Limit(msgspec.Struct, frozen=True):
    """How far to look."""

    files: int = 500
    until: float = float("inf")
    """By the clock `time.monotonic`."""


def loose_work(path: str, limit: Limit, *, changes: bool = True, files: bool = True) -> LooseWork:
    """The files that no commit has at and below an absolute path. Never raises.

    Args:
        changes: those that are tracked and hold something else than the last commit has.
        files: those that version control neither has nor ignores; outside of a repository all.
    """
    found: list[LooseFile] = []
    try:
        for name, old in _names(path, changes=changes, files=files):
            if len(found) >= limit.files or time.monotonic() > limit.until:
                return LooseWork(tuple(found), is_partial=True)
            one = _looked_at(name, old)
            if one is not None:
                found.append(one)
    except (OSError, ValueError, KeyError, ImportError, RuntimeError):
        return LooseWork(tuple(found), is_partial=True)
    return LooseWork(tuple(found))


def _names(path: str, *, changes: bool, files: bool) -> Iterator[tuple[str, bytes | None]]:
    """The paths, with what the last commit has of each."""
    root = repository_of(path if Path(path).is_dir() else posixpath.dirname(path))
    if root is None:
        if files:
            yield from ((name, None) for name in _below(path))
        return
    import pygit2

    try:
        repository = pygit2.Repository(root)
        status = repository.status(untracked_files="all")
        tree = None
        if not repository.head_is_unborn:
            tree = repository.head.peel(pygit2.Tree)
    except pygit2.GitError as error:
        raise OSError(str(error)) from error
    for name, flags in status.items():
        full = posixpath.join(root, name)
        if full != path and not full.startswith(path.rstrip("/") + "/"):
            continue
        is_new = bool(flags & pygit2.enums.FileStatus.WT_NEW)
        is_gone = bool(flags & (pygit2.enums.FileStatus.WT_DELETED | pygit2.enums.FileStatus.IGNORED))
        if is_gone or not (files if is_new else changes):
            continue
        old = tree[name] if tree is not None and name in tree else None
        yield full, old.data if isinstance(old, pygit2.Blob) else None


def _below(path: str) -> Iterator[str]:
    if not Path(path).is_dir() or Path(path).is_symlink():
        yield path
        return
    for folder, _, names in os.walk(path):
        yield from (posixpath.join(folder, name) for name in names)


def _looked_at(path: str, old: bytes | None) -> LooseFile | None:
    try:
        found = os.lstat(path)
    except OSError:
        return None
    if not stat.S_ISREG(found.st_mode):
        return None
    return LooseFile(path, found.st_size, _lines(path, found.st_size, old))


def _lines(path: str, size: int, old: bytes | None) -> int:
    """How many lines of a text are in no commit, or were taken out; 0 for a binary or large file."""
    if size > _MOST_LINES_BYTES:
        return 0
    data = Path(path).read_bytes()
    if b"\0" in data:
        return 0
    if old is None:
        return data.count(b"\n") + (bool(data) and not data.endswith(b"\n"))
    now, then = data.splitlines(), old.splitlines()
    known, kept = set(then), set(now)
    return max(sum(line not in known for line in now), sum(line not in kept for line in then), 1)
