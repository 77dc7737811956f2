"""What an anchor answers: values that all kinds of anchors share.

Owns the values. Must not know any place.
"""

from __future__ import annotations

import msgspec

from tallystick.errors import TallystickError


class AnchorError(TallystickError):
    """The place cannot be reached, or refuses: nothing is known to have been kept there."""


class Kept(msgspec.Struct, frozen=True, kw_only=True):
    """One head that a place keeps."""

    note: bytes
    """The head, as it was put there."""
    receipt: str
    """What names it there: a commit, a sequence number, a token's serial number."""
    at: str | None = None
    """When it was put there, as the place says it (RFC 3339, UTC)."""
    digest: str | None = None
    """SHA-256 of what the place gave back, in hex, where no one could have known that before: a time stamp."""
    unreadable: str | None = None
    """Why no one can say whether it is genuine: it proves nothing, and accuses no one."""
    false: str | None = None
    """Why it is not genuine."""


class Guarded(msgspec.Struct, frozen=True, kw_only=True):
    """How well a place guards what it keeps. None: that could not be found out."""

    keeps: bool | None
    """Whether it refuses to have a head replaced or deleted, as far as a try has shown."""
    says: str
    """What was tried and what came of it, and who can still delete it."""
