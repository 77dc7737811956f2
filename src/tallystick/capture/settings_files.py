"""Files of other programs that we change: their settings.

Owns reading them and putting a new content in their place in one step, with their permissions, owner and links as they were.
Must not know what is in them.
"""

from __future__ import annotations

import contextlib
import os
import stat
from pathlib import Path

from tallystick.errors import SourceError

_NEW_FILE, _NEW_PROGRAM, _NEW_FOLDER = 0o600, 0o700, 0o700
_MOST_BYTES = 16 << 20


class ChangedError(Exception):
    """Someone else wrote the file meanwhile."""


def read_settings(path: Path) -> bytes | None:
    """The content of a file; None if it is not there.

    Raises: SourceError: it cannot be read, is not a file, or is larger than settings are.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)  # a FIFO would keep us waiting
        with os.fdopen(descriptor, "rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode) or status.st_size > _MOST_BYTES:
                raise SourceError(f"{path}: no file of settings")
            return file.read()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise SourceError(f"{path}: {error.strerror}") from error


def write_settings(path: Path, content: bytes, *, expected: bytes | None, executable: bool = False) -> list[Path]:
    """Put a file in place of another, or a new one; where the path is a link, in place of what it leads to.

    Args:
        path: what to write. content: all of it.
        expected: what stood there when the new content was made; None: nothing.
        executable: for a new file.

    Returns:
        The folders that were made, outermost first.

    Raises:
        ChangedError: something else stands there by now.
        SourceError: it cannot be written; the old file stands.
    """
    target = path.resolve()
    made = _make_folders(target.parent)
    temporary = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        _write_new(temporary, content, like=target, executable=executable)
        if read_settings(target) != expected:
            raise ChangedError
        temporary.rename(target)
        _sync_folder(target.parent)
    except OSError as error:
        raise SourceError(f"{path} cannot be written: {error.strerror}") from error
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink()
    return made


def remove_settings(path: Path, *, expected: bytes) -> None:
    """Remove a file; where the path is a link, what it leads to.

    Raises:
        ChangedError: something else stands there by now.
        SourceError: it cannot be removed.
    """
    target = path.resolve()
    if read_settings(target) != expected:
        raise ChangedError
    try:
        target.unlink()
        _sync_folder(target.parent)
    except OSError as error:
        raise SourceError(f"{path} cannot be removed: {error.strerror}") from error


def remove_folders(folders: list[Path]) -> None:
    """Remove those of these folders that are empty; given outermost first."""
    for folder in reversed(folders):
        with contextlib.suppress(OSError):
            folder.rmdir()


def _make_folders(folder: Path) -> list[Path]:
    missing = [each for each in (folder, *folder.parents) if not each.exists()][::-1]
    try:
        for each in missing:
            each.mkdir(mode=_NEW_FOLDER, exist_ok=True)
    except OSError as error:
        raise SourceError(f"the folder {folder} cannot be made: {error.strerror}") from error
    return missing


def _write_new(temporary: Path, content: bytes, *, like: Path, executable: bool) -> None:
    """Write a file with the permissions and the owner of another; of no one else's if none exists."""
    try:
        status = like.stat()
        mode = stat.S_IMODE(status.st_mode)
        if not os.access(like, os.W_OK):
            raise SourceError(f"{like} may not be written", hint="it is read-only: is it managed by another program?")
    except FileNotFoundError:
        status, mode = None, _NEW_PROGRAM if executable else _NEW_FILE
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
        if status is not None and (status.st_uid, status.st_gid) != (os.getuid(), os.getgid()):
            with contextlib.suppress(PermissionError):
                os.fchown(descriptor, status.st_uid, status.st_gid)
        os.fchmod(descriptor, mode)
        file.flush()
        os.fsync(descriptor)


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
