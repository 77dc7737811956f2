"""What is known of the machine as it was when a recorded call was made: nearly nothing but what its session did before it.

Owns answers for calls of the past, in place of `world.LiveWorld`. No file is looked at, for those of now are others:
each counts as there, as the spelling of its path says, and as committed where it lies in the folder that was worked in.
What other sessions did counts as unknown: which of it was committed since, no one knows.
"""

from __future__ import annotations

import posixpath
from collections.abc import Sequence

from msgspec.structs import replace

from tallystick.guard.session_state import SessionState
from tallystick.policy.calls.acts import is_below
from tallystick.policy.world import Content, FileState, Marker, Past, Provenance, Tracking, Unread


class HistoricalWorld:
    """Answers for the calls of one session."""

    def __init__(self) -> None:
        self.folder: str | None = None
        """Where the session works."""
        self.story: SessionState | None = None
        """What it has done."""
        self.at_us = 0
        """When the call was made."""

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
        """What the session itself did there."""
        if self.story is None:
            return Provenance()
        taint, made = self.story.hearing.taint(path), self.story.files.made(path)
        known = Provenance(trust=taint.trust, is_sensitive=taint.is_sensitive, evidence=taint.sources[:2])
        if made is None or made.is_gone:
            return known
        maker, is_download = self.story.maker(made), self.story.files.is_download(path)
        return replace(known, maker=maker, author=maker, is_new=made.is_new, is_download=is_download)

    def tracking(self, path: str) -> Tracking:
        """What lies in the folder that was worked in counts as committed."""
        is_inside = self.folder is not None and is_below(path, (self.folder,))
        return Tracking(root=self.repository(path), is_tracked=is_inside, is_committed=is_inside)

    def repository(self, path: str) -> str | None:
        """The folder that was worked in, where the path lies in it."""
        if self.folder is not None and is_below(path, (self.folder,)):
            return self.folder
        return None

    def is_approved(self, digest: str) -> bool:
        """Nothing is known."""
        return False

    def past(self) -> Past:
        """What the session has done."""
        if self.story is None:
            return Past(workspace=self.folder)
        files, hosts = self.story.recent(self.at_us)
        if self.story.sensitive:
            markers = {Marker.SENSITIVE_READ}
        else:
            markers = set()
        return Past(
            markers=frozenset(markers | ({Marker.UNTRUSTED_READ} if self.story.hearing.texts else set())),
            sensitive=self.story.sensitive,
            calls=self.story.calls,
            network_calls=self.story.network_calls,
            recent_file_calls=files,
            recent_network_calls=hosts,
            heard=self.story.hearing,
            workspace=self.folder,
            hosts=frozenset(self.story.hosts),
        )
