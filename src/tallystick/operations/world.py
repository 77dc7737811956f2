"""The machine and the record, as they are when a call is judged: what `policy.world` asks.

Owns looking at files. Must not know why something is asked.
"""

from __future__ import annotations

import glob
import os
import posixpath
import stat
from collections.abc import Sequence
from hashlib import sha256
from itertools import islice
from pathlib import Path

from tallystick.policy.world import Content, FileKind, FileState, Past, Provenance, Tracking, Unread

_MOST_READ_BYTES = 256 << 10
_MOST_MATCHES = 300


class Machine:
    """Answers for one call."""

    def real(self, path: str) -> str:
        """The path without links, as far as it is there."""
        try:
            return os.path.realpath(path)
        except (OSError, ValueError):  # a loop, a zero byte: the path as it is spelled is looked at anyway
            return posixpath.normpath(path)

    def state(self, path: str) -> FileState:
        """What is at a path."""
        try:
            found = Path(path).stat()
        except (FileNotFoundError, NotADirectoryError):
            return FileState(kind=FileKind.NOTHING)
        except (OSError, ValueError):
            return FileState()
        return FileState(kind=_kind(found.st_mode), size_bytes=found.st_size, mode=stat.S_IMODE(found.st_mode))

    def matches(self, pattern: str) -> Sequence[str]:
        """The paths that a pattern of the shell names."""
        try:
            found = glob.iglob(pattern)  # noqa: PTH207 - Path.glob takes no absolute pattern
            return list(islice(found, _MOST_MATCHES))
        except (OSError, ValueError, RecursionError):
            return ()

    def content(self, path: str) -> Content | Unread:
        """The bytes at a path."""
        try:
            with Path(path).open("rb") as file:
                if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                    return Unread.UNREADABLE
                data = file.read(_MOST_READ_BYTES + 1)
        except FileNotFoundError:
            return Unread.MISSING
        except (OSError, ValueError):
            return Unread.UNREADABLE
        if len(data) > _MOST_READ_BYTES:
            return Unread.TOO_LARGE
        return Content(digest=f"sha256:{sha256(data).hexdigest()}", text=data.decode("utf-8", "replace"))

    def provenance(self, path: str) -> Provenance:
        """What the record says of a path."""
        return Provenance()

    def tracking(self, path: str) -> Tracking:
        """What version control says of a path."""
        return Tracking()

    def is_approved(self, digest: str) -> bool:
        """Whether the user let content with this digest run before, when asked."""
        return False

    def past(self) -> Past:
        """What the session of the call has done so far."""
        return Past()


def _kind(mode: int) -> FileKind:
    if stat.S_ISREG(mode):
        return FileKind.FILE
    if stat.S_ISDIR(mode):
        return FileKind.FOLDER
    if stat.S_ISBLK(mode) or stat.S_ISCHR(mode):
        return FileKind.DEVICE
    return FileKind.OTHER
