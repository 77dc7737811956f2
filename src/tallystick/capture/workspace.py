"""What a command did to the files of its folder: the difference between two looks.

Owns which files are looked at (those that git would not ignore; without git, all but well-known folders of tools), what is
remembered of them, and the comparison. Two looks are used, not a watcher: they say what is different in the end, by digest,
and cannot miss an event; what was made and removed in between is not seen. Must not know what is recorded.
"""

from __future__ import annotations

import contextlib
import enum
import hashlib
import os
import stat
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import msgspec

from tallystick.capture.watch_names import FOLDERS, GIT

_MOST_FILES = 50_000
_MOST_HASHED_BYTES = 64 << 20
_HASHING_S = 0.5
_GIT_S = 10.0
_CHUNK = 1 << 20
_PASSED_OVER = FOLDERS - {"target"} | {GIT}
"""A comparison reads everything once: what is built is worth that, and git's own folder is not."""


class Kind(enum.StrEnum):
    """What happened to a file."""

    CREATED = "created"
    CHANGED = "changed"
    DELETED = "deleted"


class FileState(msgspec.Struct, frozen=True):
    """A file as it was. `digest` is SHA-256 of its bytes (of a link's target), None if it was not read."""

    size: int
    mode: int
    inode: int
    changed_ns: int
    digest: str | None = None


class Effect(msgspec.Struct, frozen=True):
    """What happened to one file, by its path below the folder."""

    kind: Kind
    path: str
    before: FileState | None
    after: FileState | None


class Look(msgspec.Struct, frozen=True):
    """The files of a folder at one time. `is_cut`: there were more than are looked at. `by_git`: git said which."""

    files: dict[str, FileState]
    is_cut: bool
    by_git: bool


def look(folder: Path, *, leave_out: Path | None = None, clock: Callable[[], float] = time.monotonic) -> Look:
    """The files below `folder` now, digested as far as half a second goes.

    Args:
        leave_out: a folder that is none of its files.
    """
    found, by_git = list_files(folder, leave_out)
    until = clock() + _HASHING_S
    files: dict[str, FileState] = {}
    for path in found[:_MOST_FILES]:
        state = _state(folder, path)
        if state is not None:
            files[path] = _digested(folder, path, state) if clock() < until else state
    return Look(files, len(found) > _MOST_FILES, by_git)


def effects(folder: Path, before: Look, *, leave_out: Path | None = None) -> tuple[list[Effect], bool]:
    """What is different in `folder` from an earlier look, by path; whether there were more files than are looked at.

    A file that was only touched, so that its bytes are the same, is not different.
    """
    found, _ = list_files(folder, leave_out)
    paths = set(found[:_MOST_FILES])
    different = [_effect(folder, path, before.files.get(path)) for path in sorted(paths | before.files.keys())]
    return [effect for effect in different if effect is not None], before.is_cut or len(found) > _MOST_FILES


def _effect(folder: Path, path: str, before: FileState | None) -> Effect | None:
    now = _state(folder, path)
    if now is None:
        if before is None:
            return None
        return Effect(Kind.DELETED, path, before, None)
    if before is not None and now == msgspec.structs.replace(before, digest=None):
        return None
    after = _digested(folder, path, now)
    if before is None:
        return Effect(Kind.CREATED, path, None, after)
    same = before.digest is not None and (before.digest, before.mode) == (after.digest, after.mode)
    if same:
        return None
    return Effect(Kind.CHANGED, path, before, after)


def _state(folder: Path, path: str) -> FileState | None:
    """A regular file or a link; None if it is not there, or is something else."""
    try:
        status = (folder / path).lstat()
    except (OSError, ValueError):
        return None
    if not (stat.S_ISREG(status.st_mode) or stat.S_ISLNK(status.st_mode)):
        return None
    return FileState(status.st_size, status.st_mode, status.st_ino, max(status.st_mtime_ns, status.st_ctime_ns))


def _digested(folder: Path, path: str, state: FileState) -> FileState:
    """A file's state with its digest, unless it is very large or cannot be read."""
    digest = hashlib.sha256()
    try:
        if stat.S_ISLNK(state.mode):
            digest.update(os.fsencode((folder / path).readlink()))
        elif state.size > _MOST_HASHED_BYTES:
            return state
        else:
            with _opened(folder / path) as file:
                while chunk := file.read(_CHUNK):
                    digest.update(chunk)
    except OSError:
        return state
    return msgspec.structs.replace(state, digest=digest.hexdigest())


def _opened(path: Path):  # type: ignore[no-untyped-def]
    """The file itself, not what a link or a pipe put in its place just now leads to."""
    return os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC), "rb")


# Which files ---------------------------------------------------------------------------------------------------------


def list_files(folder: Path, leave_out: Path | None = None) -> tuple[list[str], bool]:
    """Paths below `folder`, and whether git said which: not those that it ignores."""
    named = _by_git(folder)
    by_git = named is not None
    left_out = _below(folder, leave_out)
    paths = named
    if paths is None:
        paths = _walk(folder)
    return sorted(path for path in paths if not (left_out and path.startswith(left_out))), by_git


def _below(folder: Path, inner: Path | None) -> str | None:
    with contextlib.suppress(ValueError, OSError):
        if inner is not None:
            return f"{inner.resolve().relative_to(folder.resolve())}/"
    return None


def _by_git(folder: Path) -> Iterable[str] | None:
    """What git tracks or would track; None if it is not a work tree, or git does not answer.

    Settings of the repository that would have git run a program are put out of force.
    """
    command = ["git", "-c", "core.fsmonitor=false", "-C", str(folder)]
    command += ["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate"]
    environment = {**os.environ, "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}
    try:
        done = subprocess.run(
            command, capture_output=True, stdin=subprocess.DEVNULL, env=environment, timeout=_GIT_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    if done.returncode == 0:
        return map(os.fsdecode, filter(None, done.stdout.split(b"\0")))
    return None


def _walk(folder: Path) -> Iterator[str]:
    count = 0
    for parent, folders, names in os.walk(folder):
        folders[:] = sorted(set(folders) - _PASSED_OVER)
        for name in sorted(names):
            count += 1
            if count > _MOST_FILES + 1:
                return
            yield os.path.relpath(os.path.join(parent, name), folder)  # noqa: PTH118 - many of them
