"""Blob files: values too large for a line (docs/format.md 8).

Owns writing one durably before the line that names it, and reading it in chunks. Must not check what it reads: that is
seal's.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from tallystick.journal.durable import replace_file, sync_folder
from tallystick.journal.home import Home
from tallystick.journal.opening import open_to_read
from tallystick.model.ids import HASH
from tallystick.seal.line import Blob, BlobReader

_CHUNK = 1 << 20


def write_blob(home: Home, blob: Blob) -> None:
    """Write a blob durably. One that is there already is left: its name says what is in it."""
    path = home.blob(blob.commitment)
    if path.exists() and not path.is_symlink():
        return
    if not path.parent.exists():
        home.make_folder(path.parent)
        sync_folder(path.parent.parent)
    replace_file(path, [blob.data])


def remove_blob(home: Home, commitment: str) -> None:
    """Remove a blob, if it is there."""
    path = home.blob(commitment)
    with contextlib.suppress(FileNotFoundError):
        path.unlink()
        sync_folder(path.parent)


def blob_reader(*folders: Path) -> BlobReader:
    """Reads blobs by commitment from the first of `folders` that has one. A symbolic link is none (docs/format.md 19.9)."""

    def read(commitment: str) -> Iterator[bytes] | None:
        if not HASH.match(commitment):
            return None
        for folder in folders:
            path = folder / commitment[:2] / commitment
            if path.is_file() and not path.is_symlink():
                return _chunks(path)
        return None

    return read


def _chunks(path: Path) -> Iterator[bytes]:
    with open_to_read(path) as file:
        while chunk := file.read(_CHUNK):
            yield chunk
