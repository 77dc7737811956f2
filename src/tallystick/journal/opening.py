"""Opening the files of a store: where a symbolic link has the name of one, nothing is opened, and only own files are written.

Owns these rules and what is said of them: a link, symbolic or hard, could have a store's words written to a file elsewhere,
or another file's read as its record. Folders may be links, the store's own among them. Must not know what is in the files.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO, TypeAlias

from tallystick.errors import JournalError
from tallystick.journal.home import FILE_MODE

Opener: TypeAlias = Callable[[Path], BinaryIO]
"""Opens a file to read bytes from it, unbuffered."""


def open_file(path: Path | str, flags: int, mode: int = FILE_MODE) -> int:
    """A descriptor of a store's file, which is made for this user only if `flags` say so.

    Raises:
        JournalError: it is a symbolic link; or it is to be written, and has another name too, or another owner.
        OSError: what `os.open` raises.
    """
    try:
        descriptor = os.open(path, (flags & ~os.O_TRUNC) | os.O_NOFOLLOW | os.O_CLOEXEC, mode)
    except OSError as error:
        if error.errno == errno.ELOOP and os.path.islink(path):  # noqa: PTH114 a Path costs more than the question
            raise JournalError(
                f"{path} is a symbolic link, and no file of a store is",
                hint="put the file itself in its place; a link that you did not make is a sign of tampering",
            ) from error
        raise
    if flags & (os.O_WRONLY | os.O_RDWR):
        try:
            _check_own(path, descriptor)
            if flags & os.O_TRUNC:
                os.ftruncate(descriptor, 0)
        except BaseException:
            os.close(descriptor)
            raise
    return descriptor


def _check_own(path: Path | str, descriptor: int) -> None:
    """Refuse to write to a file that is reached by another name, or that is neither ours nor the folder's owner's."""
    found = os.fstat(descriptor)
    if found.st_nlink > 1:
        raise JournalError(
            f"{path} has {found.st_nlink} names: what is written to it would be written to another file",
            hint="put a copy in its place (`cp FILE COPY`, then `mv COPY FILE`); a name that you did not make is a sign of "
            "tampering",
        )
    if found.st_uid != os.geteuid() and found.st_uid != os.stat(os.path.dirname(path) or ".").st_uid:  # noqa: PTH116, PTH120
        raise JournalError(
            f"{path} belongs to user {found.st_uid}, to whom the store does not belong",
            hint="put a copy in its place; a file that you did not make is a sign of tampering",
        )


def open_to_read(path: Path) -> BinaryIO:
    """A store's file, to read from. Raises what `open_file` raises."""
    return os.fdopen(open_file(path, os.O_RDONLY), "rb", buffering=0)


def open_elsewhere(path: Path) -> BinaryIO:
    """A file that someone named, which may be a link. Raises what `open` raises."""
    return path.open("rb", buffering=0)


def read_whole(path: Path) -> bytes:
    """What is in a store's file. Raises what `open_file` raises."""
    with open_to_read(path) as file:
        return file.read()


def read_start(path: Path, most: int) -> bytes:
    """The first bytes of a store's file, `most` at the most. Raises what `open_file` raises."""
    with os.fdopen(open_file(path, os.O_RDONLY), "rb") as file:
        return file.read(most)
