"""Files of settings, read for an audit: bounded, without following linked folders, with what the file system says of them.

Owns the bounds and the facts of permissions and links. Must not know what is in a file, nor why it is read.
"""

from __future__ import annotations

import hashlib
import os
import stat
from pathlib import Path

import msgspec

MOST_BYTES = 256 << 10
MOST_DEPTH = 8
MOST_FILES = 500
"""In one folder and what is below it."""
MOST_ENTRIES = 20_000
"""Names of files and folders that are looked at for them."""


class AuditedFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file that is there."""

    path: Path
    data: bytes | None = None
    """None: it was not read, and `problem` says why."""
    problem: str | None = None
    linked_folder: Path | None = None
    """A folder on the way that is a link: nothing behind it is read."""
    link: Path | None = None
    """Where the file leads, if it is a link out of its folder."""
    writable: bool = False
    """Users other than its owner may change it."""
    folder_writable: bool = False
    """They may put another file in its place."""
    readable: bool = False
    """They may read it."""
    other_owner: bool = False
    """It belongs to neither this user nor the administrator."""

    @property
    def sha256(self) -> str | None:
        """The digest of what was read."""
        if self.data is None:
            return None
        return hashlib.sha256(self.data).hexdigest()


def read_file(path: Path, base: Path, *, most: int = MOST_BYTES) -> AuditedFile | None:
    """A file below a folder, or None.

    Args:
        base: the folder that may be reached by links: a home folder, a project.
        most: of how many bytes it may be.
    """
    linked = linked_folder(path.parent, base)
    if linked is not None:
        if path.exists():
            return AuditedFile(path=path, linked_folder=linked, problem=f"{linked} is a link")
        return None
    found = read_bounded(path, most=most)
    if found is None or found.status is None:
        if found is None:
            return None
        return AuditedFile(path=path, problem=found.problem)
    return msgspec.structs.replace(_facts(path, found.status), data=found.data, problem=found.problem)


class Content(msgspec.Struct, frozen=True, kw_only=True):
    """What is in a file."""

    data: bytes | None = None
    """None: it was not read, and `problem` says why."""
    problem: str | None = None
    status: os.stat_result | None = None
    """None: it could not be opened."""

    @property
    def mode(self) -> int | None:
        """Its permissions."""
        if self.status is None:
            return None
        return stat.S_IMODE(self.status.st_mode)


def read_bounded(path: Path, *, most: int) -> Content | None:
    """A file of up to so many bytes, or None. A pipe in its place is not waited for."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError) as error:
        return Content(problem=getattr(error, "strerror", None) or "its name is none")
    try:
        status = os.fstat(descriptor)
        if stat.S_ISDIR(status.st_mode):
            return None
        if not stat.S_ISREG(status.st_mode):
            return Content(status=status, problem="no regular file")
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            data = file.read(most + 1)
    finally:
        os.close(descriptor)
    if len(data) > most:
        return Content(status=status, problem=f"larger than {most >> 10} KiB")
    return Content(status=status, data=data)


def linked_folder(folder: Path, base: Path) -> Path | None:
    """The first folder on the way from a base that is a link."""
    try:
        parts = folder.relative_to(base).parts
    except ValueError:
        return None
    at = base
    for part in parts:
        at = at / part
        if at.is_symlink():
            return at
    return None


class Below(msgspec.Struct, frozen=True):
    """Files below a folder."""

    paths: tuple[Path, ...]
    is_whole: bool = True
    """False: a bound was reached, and there may be more."""


def files_below(folder: Path, endings: tuple[str, ...]) -> Below:
    """The files below a folder whose names end so, a folder's own before those of its folders; linked folders apart."""
    waiting, seen, found = [(folder, 0)], 0, list[Path]()
    while waiting:
        at, depth = waiting.pop()
        for entry in _entries(at):
            seen += 1
            if len(found) >= MOST_FILES or seen > MOST_ENTRIES:
                return Below(tuple(found), is_whole=False)
            if entry.is_dir(follow_symlinks=False):
                if depth < MOST_DEPTH - 1:
                    waiting.append((Path(entry.path), depth + 1))
            elif entry.name.endswith(endings) and not Path(entry.path).is_dir():
                found.append(Path(entry.path))
    return Below(tuple(found))


def others_may_change(path: Path) -> bool:
    """Whether users other than a file's owner may change it or put another in its place."""
    try:
        facts = _facts(path, path.stat())
    except (OSError, ValueError):
        return False
    return facts.writable or facts.folder_writable


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError:
        return []


def _facts(path: Path, status: os.stat_result) -> AuditedFile:
    """What others may do, as far as they can come to the file at all."""
    target = Path(os.path.realpath(path))
    outside = path.is_symlink() and target.parent != Path(os.path.realpath(path.parent))
    reached = _reached(target.parent)
    return AuditedFile(
        path=path,
        link=target if outside else None,
        writable=reached and bool(status.st_mode & stat.S_IWOTH),
        folder_writable=reached and (_open(target.parent) or _open(path.parent)),
        readable=reached and bool(status.st_mode & stat.S_IROTH),
        other_owner=status.st_uid not in (0, os.getuid()),
    )


def _open(folder: Path) -> bool:
    """Whether anyone may take files out of a folder and put others in."""
    mode = _mode(folder)
    return bool(mode & stat.S_IWOTH) and not mode & stat.S_ISVTX


def _reached(folder: Path) -> bool:
    return all(_mode(each) & stat.S_IXOTH for each in (folder, *folder.parents))


def _mode(path: Path) -> int:
    try:
        return path.stat().st_mode
    except OSError:
        return 0
