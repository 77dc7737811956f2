"""Writing so that it survives: whole files by rename, folders synced, one writer after another.

Owns the order of write, fsync and rename. Must not know what is written.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from tallystick.errors import JournalError
from tallystick.journal.opening import open_file


@contextlib.contextmanager
def one_writer(folder: Path) -> Iterator[None]:
    """Of several that read a file of a folder, change it and write it back, let one after another do so.

    Raises:
        JournalError: the folder cannot be opened or held.
    """
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise _refused(folder, error) from error
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        except OSError as error:
            raise _refused(folder, error) from error
        yield
    finally:
        os.close(descriptor)


def sync_folder(folder: Path) -> None:
    """Make the names in a folder durable."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_whole(descriptor: int, data: bytes) -> None:
    """Write all of `data`.

    Raises:
        OSError: the disk took less; what it took is there.
    """
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def replace_file(path: Path, chunks: Iterable[bytes]) -> None:
    """Put a file in place of `path` in one step: readers see the old one or the new one, never half. It is durable.

    Raises:
        JournalError: the disk refused; the old file stands and nothing half-written stays.
    """
    exchange_file(path, chunks)
    try:
        sync_folder(path.parent)
    except OSError as error:
        raise _refused(path, error) from error


def exchange_file(path: Path, chunks: Iterable[bytes]) -> None:
    """The same, but a loss of power may bring the old file back, whole: for what is no worse if it is older.

    Raises what `replace_file` raises.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        descriptor = open_file(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        try:
            for chunk in chunks:
                write_whole(descriptor, chunk)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        temporary.rename(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise _refused(path, error) from error


def _refused(path: Path, error: OSError) -> JournalError:
    return JournalError(f"cannot write {path}: {error.strerror or error}", hint="is the disk full?")
