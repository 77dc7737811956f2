"""What version control says: whether a path is tracked, ignored, committed, and where the repository of a folder stands.

Owns reading repositories within bounds, which are hostile: an agent can write all of `.git`. Nothing of one is run:
libgit2 knows no hooks, no `core.fsmonitor`, and no filters but its own for line ends, and it refuses a repository of
another user. What a file holds is compared by its hash, not by the times that the index remembers. Must not know why
someone asks. Sources: gitrepository-layout(5), the reference of libgit2.
"""

from __future__ import annotations

import os
import posixpath
import stat
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from hashlib import sha256
from heapq import heapify, heappop, heappush
from itertools import islice
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

import msgspec

from tallystick.policy.world import MOST_BYTES, Content, Tracking, Unread

if TYPE_CHECKING:
    from hashlib import _Hash

    import pygit2


_MOST_FOLDERS_UP = 64
_MOST_LINKS = 4
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
        mode = os.stat(place).st_mode  # noqa: PTH116 - asked of each folder above each path: a Path costs more than the look
        if stat.S_ISDIR(mode):
            return stat.S_ISREG(os.stat(f"{place}/HEAD").st_mode)  # noqa: PTH116
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


def content_in(path: str, revision: str) -> Content | Unread:
    """What the file at an absolute path holds in a revision: a link what it leads to there. Never raises.

    Unread.UNREADABLE: there is no such revision.
    """
    root = repository_of(path)
    if root is None:
        return Unread.MISSING
    try:
        from pygit2 import GitError
    except ImportError:
        return Unread.MISSING
    try:
        with _LOCK:
            import pygit2

            tree = _opened(root).repository.revparse_single(revision).peel(pygit2.Tree)
            return _in_tree(tree, posixpath.relpath(path, root))
    except (GitError, OSError, ValueError, KeyError, TypeError):
        return Unread.UNREADABLE


_MOST_REFS, _MOST_COMMITS = 2_000, 10_000
_CLOCKS = 7 * 86_400  # by how many seconds those of people who commit may differ
_KEEPING = ("refs/heads/", "refs/remotes/", "refs/tags/")


def keeps_commits(path: str) -> bool:
    """Whether a branch, a branch of another repository or a tag has all commits of the branch that is checked out.

    Never raises. False as well where that takes more than some thousands of commits to find out.
    """
    root = repository_of(path)
    try:
        from pygit2 import GitError
    except ImportError:
        return False
    try:
        with _LOCK:
            return root is not None and _has_head_elsewhere(_opened(root).repository)
    except (GitError, OSError, ValueError, KeyError, TypeError):
        return False


def _has_head_elsewhere(repository: pygit2.Repository) -> bool:
    """Whether HEAD is, or is before, a commit that another name is for. Then that name keeps all that is before HEAD."""
    import pygit2

    head = repository.head.peel(pygit2.Commit)
    own = repository.head.name
    names = (name for name in repository.references if name.startswith(_KEEPING) and name != own)
    refs = (repository.references[name] for name in islice(names, _MOST_REFS))
    tips = (ref.peel() for ref in refs if not isinstance(ref.target, str))  # a symbolic one may mean this branch
    found = {tip.id: tip for tip in tips if isinstance(tip, pygit2.Commit)}
    newest = [(-tip.commit_time, str(tip.id), tip) for tip in found.values()]
    heapify(newest)
    for _ in range(_MOST_COMMITS):
        if head.id in found:
            return True
        if not newest or -newest[0][0] < head.commit_time - _CLOCKS:
            return False
        for parent in heappop(newest)[2].parents:
            if parent.id not in found:
                found[parent.id] = parent
                heappush(newest, (-parent.commit_time, str(parent.id), parent))
    return False


def _in_tree(tree: pygit2.Tree, name: str, links: int = 0) -> Content | Unread:
    import pygit2

    if name not in tree or not isinstance(blob := tree[name], pygit2.Blob):
        return Unread.MISSING
    if blob.size > MOST_BYTES:
        return Unread.TOO_LARGE
    if blob.filemode == pygit2.enums.FileMode.LINK and links < _MOST_LINKS:
        leads = posixpath.normpath(posixpath.join(posixpath.dirname(name), os.fsdecode(blob.data)))
        return _in_tree(tree, leads, links + 1)
    return Content(digest=f"sha256:{sha256(blob.data).hexdigest()}", text=blob.data.decode("utf-8", "replace"))


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
            is_linked=Path(self._root, ".git").is_file(),
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
    if not os.path.isdir(path) or os.path.islink(path):  # noqa: PTH112, PTH114 - Path raises for a name that is too long
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


_MOST_COMPARED = 15_000
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
    if len(repository.index) > _MOST_COMPARED:
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
