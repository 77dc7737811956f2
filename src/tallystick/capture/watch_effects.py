"""From differences between then and now to what happened: pairs of gone and come files are renames.

Owns the rules of pairing, when something happened, and the digest of small files. Must not know how differences are found.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import sys
from collections.abc import Callable, Iterable, Sequence

import msgspec

from tallystick.capture.watch_tree import Difference, Entry, read_entry
from tallystick.model.effect import EffectKind

MOST_DIGESTED_BYTES = 1 << 20
"""Files of more are not read."""
MOST_READ_BYTES = 64 << 20
"""How much is read for one batch."""


class Paired(msgspec.Struct, frozen=True, kw_only=True):
    """What happened to one path. Of a path that only came and went between two looks nothing more is known."""

    kind: EffectKind
    path: str
    before: Entry | None = None
    after: Entry | None = None
    old_path: str | None = None
    is_metadata: bool = False
    is_replaced: bool = False


def pair(
    differences: Sequence[Difference],
    brief: Iterable[str] = (),
    *,
    read: Callable[[str, Entry], str | None] = lambda *_: None,
) -> list[Paired]:
    """What happened, one for each path; the two of a rename are one.

    A rename is reported by the inode with size and time of content, for the numbers of inodes are given again; or,
    where what is gone had been read before, by size and digest.

    Args:
        brief: paths that came and went. read: gives the digest of what is at a path now.
    """
    gone = [item for item in differences if item.before is not None and item.after is None]
    olds: dict[tuple[object, ...], Difference] = {}
    for item in gone:
        for key in _keys(item.before):
            olds.setdefault(key, item)
    sizes = {item.before.size for item in gone if item.before is not None and item.before.digest is not None}
    moved: set[str] = set()
    found = []
    for difference in differences:
        item = _read(difference, sizes, read)
        old = next((olds[key] for key in _keys(item.after) if key in olds), None)
        if item.after is None or old is None or old.path in moved or old.path == item.path or not _is_new_there(item):
            if item.after is not None:
                found.append(_alone(item))
            continue
        moved.add(old.path)
        found.append(_rename(old, item))
    found += [_alone(item) for item in gone if item.path not in moved]
    found += [Paired(kind=EffectKind.DELETE, path=path) for path in brief]
    return found


def _keys(entry: Entry | None) -> list[tuple[object, ...]]:
    """What names a file, whatever its path. A folder's size changes with what it holds."""
    if entry is None:
        return []
    keys: list[tuple[object, ...]] = [
        (entry.inode, stat.S_IFMT(entry.mode), 0 if entry.is_folder else entry.size, entry.content_ns)
    ]
    if entry.digest is not None and entry.size:
        keys.append((entry.digest, entry.size))
    return keys


def _read(item: Difference, sizes: set[int], read: Callable[[str, Entry], str | None]) -> Difference:
    """With the digest of a file that came, if one of the same size is gone whose digest is known."""
    after = item.after
    if after is None or item.before is not None or not after.is_file or not after.size or after.size not in sizes:
        return item
    return msgspec.structs.replace(item, after=msgspec.structs.replace(after, digest=read(item.path, after)))


def _is_new_there(item: Difference) -> bool:
    """Whether another file is at the path than before."""
    return item.before is None or item.after is None or item.before.inode != item.after.inode


def _alone(item: Difference) -> Paired:
    before, after = item.before, item.after
    if after is None:
        return Paired(kind=EffectKind.DELETE, path=item.path, before=before)
    if before is None:
        return Paired(kind=EffectKind.CREATE, path=item.path, after=after)
    return Paired(
        kind=EffectKind.MODIFY,
        path=item.path,
        before=before,
        after=after,
        is_metadata=after.holds_same(before) or (after.is_folder and before.is_folder and after.inode == before.inode),
        is_replaced=after.inode != before.inode,
    )


def _rename(old: Difference, new: Difference) -> Paired:
    assert old.before is not None
    assert new.after is not None
    if new.after.digest is not None:
        after = new.after
    else:
        after = msgspec.structs.replace(new.after, digest=old.before.digest)
    return Paired(
        kind=EffectKind.RENAME,
        path=new.path,
        before=old.before,
        after=after,
        old_path=old.path,
        is_replaced=new.before is not None,
    )


class Times:
    """When things happened, as the file system says it, in milliseconds since 1970."""

    def __init__(self, began_ms: int, now_ms: int) -> None:
        """Times before the watch began say nothing of what was seen since, nor do those to come."""
        self._began_ms = began_ms
        self._now_ms = now_ms
        self._folders: dict[str, int] = {}

    def of(self, item: Paired) -> int:
        """When a change became visible: of what is there its own time of change, of what is gone that of its folder.

        What moved with its folder has the time of an older change.
        """
        if item.after is None:
            return self._within(self._folder_ns(item.path))
        is_older = item.before is not None and item.before.status_ns == item.after.status_ns
        if is_older:
            return self._now_ms
        return self._within(item.after.status_ns)

    def _folder_ns(self, path: str) -> int:
        folder = path.rpartition("/")[0] or "/"
        if folder not in self._folders:
            entry = read_entry(folder)
            self._folders[folder] = entry.content_ns if entry is not None else 0
        return self._folders[folder]

    def _within(self, at_ns: int) -> int:
        at_ms = at_ns // 1_000_000
        if self._began_ms <= at_ms <= self._now_ms:
            return at_ms
        return self._now_ms


def digest_of(path: str, entry: Entry, budget: list[int]) -> str | None:
    """`sha256:` and hex of a small regular file; None for others, and where it cannot be read.

    Args:
        budget: how many bytes may still be read, in one item; it is reduced.
    """
    if entry.size > min(MOST_DIGESTED_BYTES, budget[0]):
        return None
    digest, left = hashlib.sha256(), MOST_DIGESTED_BYTES
    try:
        # What a link or a pipe put in its place just now leads to is not opened.
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError):
        return None
    with contextlib.suppress(OSError), os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode) or not _is_at(descriptor, path):
            return None
        while chunk := file.read(min(1 << 16, left + 1)):
            digest.update(chunk)
            left -= len(chunk)
            budget[0] -= len(chunk)
            if left < 0:
                return None  # it grows
        return f"sha256:{digest.hexdigest()}"
    return None


def _is_at(descriptor: int, path: str) -> bool:
    """Whether a file that was opened by a path is there indeed, and not behind a link that a folder was exchanged for.

    Told by Linux alone.
    """
    return sys.platform != "linux" or os.readlink(f"/proc/self/fd/{descriptor}") == path  # noqa: PTH115 - unchanged
