"""What version control says of a path: which repository, tracked, ignored, committed, and what is in no commit.

Owns reading repositories, which are hostile: an agent can write all of `.git`. Nothing of one is run: libgit2 knows no
hooks, no `core.fsmonitor`, and no filters but its own for line ends, and it refuses a repository of another user. What
a file holds is compared by its hash, not by the times that the index remembers. Must not know why someone asks.
Sources: gitrepository-layout(5), the reference of libgit2.
"""

from __future__ import annotations

import os
import posixpath
import stat
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from hashlib import sha256
from itertools import islice
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

import msgspec

from tallystick.policy.world import Tracking

if TYPE_CHECKING:  # importing it takes 50 ms, and most calls change nothing
    import pygit2

_MOST_FOLDERS_UP = 64
_MOST_OPEN = 16
_MOST_ENTRIES = 15_000
"""In the index of a repository that is compared as a whole."""
_MOST_NAMED = 64
"""Paths that are reported one by one; of more, the folder is reported."""
_MOST_HASHED_BYTES = 32 << 20
_MOST_CONVERTED_BYTES = 1 << 20
_POINTER = b"version https://git-lfs.github.com/spec/"
_MOST_POINTER_BYTES = 1024
_GITDIR = b"gitdir:"


def load_git() -> None:
    """Load the library, so that no call waits for it."""
    import pygit2  # noqa: F401


def repository_of(path: str) -> str | None:
    """The top folder of the working tree that an absolute path lies in, or None. A few looks at the disk, no more."""
    for _ in range(_MOST_FOLDERS_UP):
        if _is_top(path):
            return path
        above = posixpath.dirname(path)
        if above == path:
            return None
        path = above
    return None


def _is_top(folder: str) -> bool:
    place = posixpath.join(folder, ".git")
    try:
        mode = Path(place).stat().st_mode
        if stat.S_ISDIR(mode):
            return stat.S_ISREG(Path(place, "HEAD").stat().st_mode)
        if not stat.S_ISREG(mode):
            return False
        with Path(place).open("rb") as file:  # a linked working tree, or a submodule
            return file.read(len(_GITDIR)) == _GITDIR
    except (OSError, ValueError):
        return False


def tracking_of(path: str) -> Tracking:
    """What version control says of an absolute path without links.

    Never raises: what cannot be reported is reported as lost.
    """
    root = repository_of(path)
    if root is None:
        return Tracking(untracked=_bounded(path, _files_at(path, lambda _: False)))
    try:
        from pygit2 import GitError
    except ImportError:
        return _untold(root, path)
    try:
        with _LOCK:
            return _View(_opened(root), root, path).tracking()
    except (GitError, OSError, ValueError, KeyError, TypeError):
        return _untold(root, path)


def _untold(root: str, path: str) -> Tracking:
    return Tracking(root=root, changed=(path,), untracked=(path,))


# Open repositories ---------------------------------------------------------------------------------------------------

_LOCK = Lock()  # libgit2's objects are not for several threads at once
_OPEN: OrderedDict[tuple[str, int, int], _Opened] = OrderedDict()


class _Opened(msgspec.Struct):
    """A repository, and the tree of its last commit."""

    repository: pygit2.Repository
    head: object = None
    tree: pygit2.Tree | None = None


def _opened(root: str) -> _Opened:
    """The repository at a folder; libgit2 itself sees when its index or its branches change."""
    import pygit2

    found = Path(root, ".git").stat()
    key = (root, found.st_ino, found.st_dev)
    known = _OPEN.get(key)
    if known is None:
        pygit2.settings.set_extensions(["partialclone"])  # what is not here is not looked for elsewhere
        known = _OPEN[key] = _Opened(pygit2.Repository(root))
        if len(_OPEN) > _MOST_OPEN:
            _OPEN.popitem(last=False)
    _OPEN.move_to_end(key)
    known.repository.index.read(False)
    return known


# One path ------------------------------------------------------------------------------------------------------------


class _View:
    """A path in an open repository."""

    def __init__(self, opened: _Opened, root: str, path: str) -> None:
        self._opened = opened
        self._repository = opened.repository
        self._index = opened.repository.index
        self._root = root
        self._path = path
        self._name = path[len(root.rstrip("/")) + 1 :]

    def tracking(self) -> Tracking:
        if self._name == ".git" or self._name.startswith(".git/"):
            return Tracking(root=self._root)
        is_folder = Path(self._path).is_dir() and not Path(self._path).is_symlink()
        if is_folder:
            return self._of_folder()
        return self._of_file()

    def _of_file(self) -> Tracking:
        is_there = os.path.lexists(self._path)
        if self._name in self._index:
            is_committed = is_there and self._is_committed(self._name)
            changed = (self._path,) if is_there and not is_committed else ()
            return Tracking(root=self._root, is_tracked=True, is_committed=is_committed, changed=changed)
        if self._repository.path_is_ignored(self._name):
            return Tracking(root=self._root, is_ignored=True)
        return Tracking(root=self._root, untracked=(self._path,) if is_there else ())

    def _of_folder(self) -> Tracking:
        is_tracked = self._has_entries_below()
        if self._name and not is_tracked and self._repository.path_is_ignored(self._name + "/"):
            return Tracking(root=self._root, is_ignored=True)
        if len(self._index) > _MOST_ENTRIES:
            return Tracking(root=self._root, is_tracked=is_tracked, changed=(self._path,), untracked=(self._path,))
        changed, untracked = self._loose()
        return Tracking(
            root=self._root,
            is_tracked=is_tracked,
            is_committed=is_tracked and not changed and not untracked,
            changed=changed,
            untracked=untracked,
        )

    def _has_entries_below(self) -> bool:
        """Whether the index has a file below the folder. It is sorted by the bytes of the names."""
        prefix = b""
        if self._name:
            prefix = os.fsencode(self._name + "/")
        low, high = 0, len(self._index)
        while low < high:
            middle = (low + high) // 2
            if os.fsencode(self._index[middle].path) < prefix:
                low = middle + 1
            else:
                high = middle
        return low < len(self._index) and os.fsencode(self._index[low].path).startswith(prefix)

    # Content ---------------------------------------------------------------------------------------------------------

    def _is_committed(self, name: str) -> bool:
        """Whether the file holds what the last commit has of it."""
        import pygit2

        tree = self._tree()
        if tree is None or name not in tree:
            return False
        entry, path = tree[name], posixpath.join(self._root, name)
        found = os.lstat(path)
        if stat.S_ISLNK(found.st_mode):
            return pygit2.hash(os.fsencode(Path(path).readlink())) == entry.id
        if not stat.S_ISREG(found.st_mode) or found.st_size > _MOST_HASHED_BYTES or not isinstance(entry, pygit2.Blob):
            return False
        return pygit2.hashfile(path) == entry.id or self._is_converted(entry, path, found.st_size)

    def _is_converted(self, blob: pygit2.Blob, path: str, size: int) -> bool:
        """Whether the file is what git makes of a blob when it checks it out: with other line ends, or fetched elsewhere."""
        import pygit2

        if blob.size <= _MOST_POINTER_BYTES and blob.data.startswith(_POINTER):
            with Path(path).open("rb") as file:
                return f"oid sha256:{sha256(file.read()).hexdigest()}\n".encode() in blob.data
        if size > _MOST_CONVERTED_BYTES:
            return False
        with Path(path).open("rb") as file:
            data = file.read(_MOST_CONVERTED_BYTES)
        return b"\r\n" in data and pygit2.hash(data.replace(b"\r\n", b"\n")) == blob.id

    def _tree(self) -> pygit2.Tree | None:
        import pygit2

        if self._repository.head_is_unborn:
            return None
        commit = self._repository.head.target
        if self._opened.head != commit:
            self._opened.head, self._opened.tree = commit, self._repository.head.peel(pygit2.Tree)
        return self._opened.tree

    # Folders ---------------------------------------------------------------------------------------------------------

    def _loose(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """What is at or below the folder and in no commit: tracked and changed; neither tracked nor ignored."""
        import pygit2

        changed: list[str] = []
        untracked: list[str] = []
        for name, flags in self._repository.status(untracked_files="normal").items():
            if flags & pygit2.enums.FileStatus.WT_NEW:
                untracked += islice(self._untracked(name), _MOST_NAMED + 1)
            elif not flags & pygit2.enums.FileStatus.WT_DELETED and self._is_here(name):
                changed.append(posixpath.join(self._root, name))
        return _bounded(self._path, changed), _bounded(self._path, untracked)

    def _is_here(self, name: str) -> bool:
        return not self._name or name.startswith(self._name + "/")

    def _untracked(self, name: str) -> Iterator[str]:
        """The files of an untracked file or folder that are at or below this one."""
        if name.endswith("/") and (self._name + "/").startswith(name):
            name = self._name + "/"  # this folder is in one that is untracked as a whole
        elif not self._is_here(name):
            return
        yield from _files_at(posixpath.join(self._root, name.rstrip("/")), self._is_ignored)

    def _is_ignored(self, path: str) -> bool:
        return self._repository.path_is_ignored(posixpath.relpath(path, self._root) + path[len(path.rstrip("/")) :])


def _files_at(path: str, is_ignored: Callable[[str], bool]) -> Iterator[str]:
    """The file at a path, or the files below a folder; `is_ignored` is asked about folders with a `/` at the end."""
    if not Path(path).is_dir() or Path(path).is_symlink():
        if os.path.lexists(path):
            yield from (path,)
        return
    for folder, folders, files in os.walk(path):
        folders[:] = [name for name in folders if not is_ignored(posixpath.join(folder, name) + "/")]
        for name in files:
            file = posixpath.join(folder, name)
            if not is_ignored(file):
                yield file


def _bounded(path: str, below: Iterable[str]) -> tuple[str, ...]:
    """Some paths; the one that they are at or below where they are too many."""
    found = tuple(islice(below, _MOST_NAMED + 1))
    if len(found) <= _MOST_NAMED:
        return found
    return (path,)
