"""Where the repository of a folder stands: its commit, its branch, and one digest over what is in no commit.

Owns reading that within bounds. Repositories are hostile, so nothing of one is run, and what is not a plain file is not
opened. Must not know why someone asks. Sources: gitrepository-layout(5), the reference of libgit2.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from tallystick.capture.tracking import repository_of

if TYPE_CHECKING:  # importing it takes 50 ms
    from hashlib import _Hash

    import pygit2

_MOST_ENTRIES = 15_000
"""In the index of a repository that is compared with its commit."""
_MOST_FILES = 5_000
_MOST_BYTES = 64 << 20
_MOST_SECONDS = 2.0
_PIECE = 1 << 20


class GitState(msgspec.Struct, frozen=True, kw_only=True):
    """Where a repository stands. `head` is a commit, `ref` what HEAD names; None: none exists yet, or HEAD is detached."""

    head: str | None = None
    ref: str | None = None
    dirty: str | None = None
    """SHA-256 over what differs from the commit: changed files, and untracked ones that are not ignored. None: nothing."""
    is_partial: bool = False
    """Whether there was more to compare than is looked at: `dirty` is of a part, or of nothing."""

    def members(self) -> dict[str, str | bool]:
        """What of it is known, by name."""
        said = {"head": self.head, "ref": self.ref, "dirty": self.dirty, "partial": self.is_partial or None}
        return {name: value for name, value in said.items() if value is not None}


def git_state(folder: str) -> GitState | None:
    """Where the repository that a folder lies in stands; None where none exists, or it cannot be read. Never raises."""
    if not (Path(folder).is_absolute() and Path(folder).is_dir()):  # what an agent calls its folder may be anything
        return None
    root = repository_of(os.path.normpath(folder))
    if root is None:
        return None
    try:
        import pygit2
    except ImportError:
        return None
    try:
        pygit2.settings.set_extensions(["partialclone"])  # what is not here is not looked for elsewhere
        return _state(pygit2.Repository(root), root)
    except (pygit2.GitError, OSError, ValueError, KeyError, TypeError):
        return None


def _state(repository: pygit2.Repository, root: str) -> GitState:
    named = repository.lookup_reference("HEAD").target
    ref = None
    if isinstance(named, str):
        ref = named
    head = None
    if not repository.head_is_unborn:
        head = str(repository.head.target)
    if len(repository.index) > _MOST_ENTRIES:
        return GitState(head=head, ref=ref, is_partial=True)
    names = repository.status(untracked_files="normal")
    if not names:
        return GitState(head=head, ref=ref)
    sum_ = _Sum(root)
    is_whole = all(sum_.take(name) for name in _different(repository, root, sorted(names)))
    return GitState(head=head, ref=ref, dirty=sum_.digest(), is_partial=not is_whole)


def _different(repository: pygit2.Repository, root: str, names: Iterable[str]) -> Iterator[str]:
    """The files that differ, those of untracked folders among them."""
    for name in names:
        if name.endswith("/"):
            yield from _files_below(repository, root, name)
        else:
            yield from (name,)


def _files_below(repository: pygit2.Repository, root: str, name: str) -> Iterator[str]:
    for folder, folders, files in os.walk(Path(root, name)):
        inside = os.path.relpath(folder, root)
        kept = (below for below in folders if below != ".git")
        folders[:] = sorted(below for below in kept if not repository.path_is_ignored(f"{inside}/{below}/"))
        for file in sorted(files):
            if not repository.path_is_ignored(f"{inside}/{file}"):
                yield f"{inside}/{file}"


class _Sum:
    """The digest over the names of files, and what each holds now."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._sum: _Hash = sha256(b"tallystick/dirty/1\n")
        self._files = self._bytes = 0
        self._until = time.monotonic() + _MOST_SECONDS

    def take(self, name: str) -> bool:
        """Take one file; False if it is one too many."""
        self._files += 1
        if self._files > _MOST_FILES or time.monotonic() > self._until:
            return False
        held = self._held(Path(self._root, name))
        said = os.fsencode(name)
        self._sum.update(b"%d:%s:%s\n" % (len(said), said, held or b"?"))
        return held is not None

    def digest(self) -> str:
        return self._sum.hexdigest()

    def _held(self, path: Path) -> bytes | None:
        """What is at a path, in a word; None if that is more than is looked at."""
        try:
            found = path.lstat()
        except OSError:
            return b"gone"
        if stat.S_ISLNK(found.st_mode):
            return b"link " + sha256(os.fsencode(path.readlink())).hexdigest().encode()
        if not stat.S_ISREG(found.st_mode):
            return b"special"
        if self._bytes + found.st_size > _MOST_BYTES:
            return None
        try:
            return self._content(path, "x" if found.st_mode & 0o111 else "f")
        except OSError:
            return b"unreadable"

    def _content(self, path: Path, kind: str) -> bytes | None:
        content = sha256()
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as file:
            while piece := file.read(_PIECE):  # it may grow while it is read
                self._bytes += len(piece)
                content.update(piece)
                if self._bytes > _MOST_BYTES or time.monotonic() > self._until:
                    return None
        return f"{kind} {content.hexdigest()}".encode()
