"""Opening the files of a store: where a symbolic link has the name of one, nothing is opened.

Owns that rule and what is said of it: a link could have a store's words written to a file elsewhere, or another file's read
as its record. Folders may be links, the store's own among them. Must not know what is in the files.
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
        JournalError: it is a symbolic link. OSError: what `os.open` raises.
    """
    try:
        return os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC, mode)
    except OSError as error:
        if error.errno == errno.ELOOP and os.path.islink(path):  # noqa: PTH114 a Path costs more than the question
            raise JournalError(
                f"{path} is a symbolic link, and no file of a store is",
                hint="put the file itself in its place; a link that you did not make is a sign of tampering",
            ) from error
        raise


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
