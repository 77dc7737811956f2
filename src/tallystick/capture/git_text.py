"""A history that is in the objects of a git repository, and in no file: read where it is.

Owns reading it through libgit2, which runs nothing of a repository (decision 0018). Must not know which objects are
histories.
"""

from __future__ import annotations

import io
from typing import IO

import msgspec

from tallystick.errors import SourceError

MOST_BYTES = 256 << 20


class GitText(msgspec.Struct, frozen=True):
    """Objects of a repository that, one after another, are one text."""

    repository: str
    objects: tuple[str, ...]
    size: int

    def read_bytes(self) -> bytes:
        """The whole text.

        Raises:
            SourceError: an object is not there, as in a partial clone, or the text is too long.
        """
        import pygit2

        if self.size > MOST_BYTES:
            raise SourceError(f"{self.repository}: a history of {self.size} bytes; {MOST_BYTES} are read")
        try:
            found = pygit2.Repository(self.repository)
            return b"".join(found.odb.read(name)[1] for name in self.objects)
        except (pygit2.GitError, KeyError, ValueError) as error:
            hint = "in a partial clone, `git fetch --refetch --no-filter` brings it"
            raise SourceError(f"{self.repository}: an object cannot be read: {error}", hint=hint) from error

    def open(self, mode: str = "rb", buffering: int = -1) -> IO[bytes]:
        """The text as a file."""
        return io.BytesIO(self.read_bytes())
