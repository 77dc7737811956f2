"""What is known of the machine as it was when a recorded call was made: nearly nothing.

Owns answers for calls of the past, in place of `world.Machine`. No file is looked at, for those of now are others: each
counts as there, as the spelling of its path says, and as committed where it lies in the folder that was worked in.
"""

from __future__ import annotations

import posixpath
from collections.abc import Sequence

from tallystick.policy.acts import is_below
from tallystick.policy.world import Content, FileState, Past, Provenance, Tracking, Unread


class Then:
    """Answers for the calls of one session."""

    def __init__(self) -> None:
        self.folder: str | None = None
        """Where the session works."""

    def real(self, path: str) -> str:
        """The path as it is spelled."""
        return posixpath.normpath(path)

    def state(self, path: str) -> FileState:
        """Nothing is known."""
        return FileState()

    def matches(self, pattern: str) -> Sequence[str]:
        """Nothing is known."""
        return ()

    def content(self, path: str) -> Content | Unread:
        """Nothing is known."""
        return Unread.MISSING

    def has_secret(self, text: str) -> bool:
        """Nothing is known."""
        return False

    def provenance(self, path: str) -> Provenance:
        """Nothing is known."""
        return Provenance()

    def tracking(self, path: str) -> Tracking:
        """What lies in the folder that was worked in counts as committed."""
        is_inside = self.folder is not None and is_below(path, (self.folder,))
        return Tracking(root=self.repository(path), is_tracked=is_inside, is_committed=is_inside)

    def repository(self, path: str) -> str | None:
        """The folder that was worked in, where the path lies in it."""
        return self.folder if self.folder is not None and is_below(path, (self.folder,)) else None

    def is_approved(self, digest: str) -> bool:
        """Nothing is known."""
        return False

    def past(self) -> Past:
        """Where the session works."""
        return Past(workspace=self.folder)
