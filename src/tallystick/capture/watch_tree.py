"""What is known of the files below watched folders, and what is different from it now.

Owns names, inodes, sizes, times and modes: events say where to look, and this comparison says what happened, so that an
event reported twice does no harm. Links are never followed, and contents never read. Must not know about events.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterable, Iterator

import msgspec

from tallystick.capture.watch_names import is_passed_over

MOST_FILES = 100_000
MOST_FOLDERS = 10_000


class Root(msgspec.Struct, frozen=True):
    """A watched folder, absolute. Of a sensitive one names are looked at, sizes and times, and no contents."""

    path: str
    is_sensitive: bool = False


class Entry(msgspec.Struct, frozen=True):
    """A file, link or folder as it was. Times in nanoseconds since 1970: of its content, and of anything about it."""

    inode: int
    size: int
    mode: int
    content_ns: int
    status_ns: int
    digest: str | None = None

    @property
    def is_folder(self) -> bool:
        """Whether it is a folder, and no link to one."""
        return stat.S_ISDIR(self.mode)

    @property
    def is_file(self) -> bool:
        """Whether it is a regular file."""
        return stat.S_ISREG(self.mode)

    def holds_same(self, other: Entry) -> bool:
        """Whether it is the same file with the same content, as far as inode, size and time tell."""
        return (self.inode, self.size, self.content_ns) == (other.inode, other.size, other.content_ns)


class Difference(msgspec.Struct, frozen=True):
    """A path, what was there and what is there now; None: nothing."""

    path: str
    before: Entry | None
    after: Entry | None


class Tree:
    """The files below some folders. A folder inside another one counts for itself."""

    def __init__(self, roots: Iterable[Root], *, leave_out: Iterable[str] = ()) -> None:
        """Know nothing yet.

        Args:
            leave_out: folders that nothing is said of.
        """
        self.roots = {root.path: root for root in roots}
        self.folders: dict[str, dict[str, Entry]] = {}
        """The entries of each folder that is known, by name."""
        self.is_cut = False
        """Whether there was more than is looked at."""
        self._leave_out = frozenset(leave_out)
        self._tops: dict[str, Entry] = {}
        self._files = 0

    def entry(self, path: str) -> Entry | None:
        """What is known of a path."""
        if path in self.roots:
            return self._tops.get(path)
        parent, _, name = path.rpartition("/")
        return self.folders.get(parent or "/", {}).get(name)

    def know(self, path: str, digest: str) -> None:
        """Keep the digest of what a known file holds."""
        known = self.entry(path)
        if known is not None:
            self._put(path, msgspec.structs.replace(known, digest=digest))

    def root_of(self, path: str) -> Root | None:
        """The watched folder that a path lies in, or is; None if it lies in none or is passed over."""
        above = path
        while above not in self.roots:
            if above in self._leave_out or above in ("", "/"):
                return None
            above = above.rpartition("/")[0] or "/"
        root = self.roots[above]
        if not root.is_sensitive and is_passed_over(_parts(above, path)):
            return None
        return root

    # Comparing ------------------------------------------------------------------------------------------------------

    def look(self, path: str) -> Iterator[Difference]:
        """What is different at a path, and below it where a folder came or went. What is reported is known from then on."""
        if self.root_of(path) is not None and self._is_within_known(path):
            yield from self._compare(path, read_entry(path), is_deep=False)

    def look_below(self, path: str) -> Iterator[Difference]:
        """The same, with everything below a folder."""
        if self.root_of(path) is not None and self._is_within_known(path):
            yield from self._compare(path, read_entry(path), is_deep=True)

    def _is_within_known(self, path: str) -> bool:
        """Whether the path belongs to known folders alone: one behind a link is not ours."""
        return path in self.roots or (path.rpartition("/")[0] or "/") in self.folders

    def _compare(self, path: str, now: Entry | None, *, is_deep: bool) -> Iterator[Difference]:
        before = self.entry(path)
        stays = before is not None and now is not None and before.is_folder and _is_same_folder(before, now)
        if before is not None and before.is_folder and not stays:
            yield from self._forget(path)
        if now is None:
            if before is not None:
                self._remove(path)
                yield Difference(path, before, None)
            return
        if before is not None and now.holds_same(before):
            now = msgspec.structs.replace(now, digest=before.digest)
        if not self._put(path, now):
            return
        if before is None or _differs(before, now):
            yield Difference(path, before, now)
        if now.is_folder and (is_deep or not stays):
            yield from self._look_in(path, is_deep=is_deep)

    def _look_in(self, folder: str, *, is_deep: bool) -> Iterator[Difference]:
        known = self.folders.get(folder)
        if known is None:
            if len(self.folders) >= MOST_FOLDERS:
                self.is_cut = True
                return
            known = self.folders[folder] = {}
        root, present = self.root_of(folder), read_folder(folder)
        if root is None or present is None:
            return
        inner, is_more = _parts(root.path, folder), len(present) > MOST_FILES
        for name in sorted(known.keys() | present.keys()):
            path = f"{folder.rstrip('/')}/{name}"
            if path in self.roots or path in self._leave_out:
                continue
            if root.is_sensitive or not is_passed_over((*inner, name)):
                now = present.get(name) or (read_entry(path) if is_more else None)
                yield from self._compare(path, now, is_deep=is_deep)

    def _forget(self, folder: str) -> Iterator[Difference]:
        """Everything below a folder that is gone."""
        for name, entry in sorted(self.folders.pop(folder, {}).items()):
            path = f"{folder.rstrip('/')}/{name}"
            if entry.is_folder:
                yield from self._forget(path)
            self._files -= 1
            yield Difference(path, entry, None)

    def _put(self, path: str, entry: Entry) -> bool:
        """Know an entry; False if there are too many."""
        if path in self.roots:
            self._tops[path] = entry
            return True
        parent, _, name = path.rpartition("/")
        siblings = self.folders.get(parent or "/")
        if siblings is None:
            return False
        if name not in siblings:
            if self._files >= MOST_FILES:
                self.is_cut = True
                return False
            self._files += 1
        siblings[name] = entry
        return True

    def _remove(self, path: str) -> None:
        if path in self.roots:
            self._tops.pop(path, None)
            return
        parent, _, name = path.rpartition("/")
        if self.folders.get(parent or "/", {}).pop(name, None) is not None:
            self._files -= 1


def _parts(root: str, path: str) -> tuple[str, ...]:
    """The names of a path below a root."""
    rest = path[len(root.rstrip("/")) + 1 :]
    if rest:
        return tuple(rest.split("/"))
    return ()


def _is_same_folder(before: Entry, now: Entry) -> bool:
    return now.is_folder and now.inode == before.inode


def _differs(before: Entry, now: Entry) -> bool:
    """Whether that is worth telling. That a folder's entries changed, they say themselves."""
    if before.is_folder and _is_same_folder(before, now):
        return before.mode != now.mode
    return not now.holds_same(before) or (before.mode, before.status_ns) != (now.mode, now.status_ns)


# The file system ------------------------------------------------------------------------------------------------------


def read_entry(path: str) -> Entry | None:
    """What is at a path; None for nothing, and for what is neither file nor link nor folder."""
    try:
        return _entry(os.lstat(path))
    except (OSError, ValueError):
        return None


def read_folder(folder: str) -> dict[str, Entry] | None:
    """The entries of a folder by name, some of them if there are more than MOST_FILES; None if it cannot be read."""
    found: dict[str, Entry] = {}
    try:
        if not stat.S_ISDIR(os.lstat(folder).st_mode):
            return None
        with os.scandir(folder) as entries:
            for item in entries:
                with contextlib.suppress(OSError):
                    entry = _entry(item.stat(follow_symlinks=False))
                    if entry is not None:
                        found[item.name] = entry
                if len(found) > MOST_FILES:
                    break
    except (OSError, ValueError):
        return None
    return found


def _entry(status: os.stat_result) -> Entry | None:
    mode = status.st_mode
    if not (stat.S_ISREG(mode) or stat.S_ISLNK(mode) or stat.S_ISDIR(mode)):
        return None
    return Entry(status.st_ino, status.st_size, mode, status.st_mtime_ns, status.st_ctime_ns)
