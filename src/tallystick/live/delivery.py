"""What an agent's hook delivered, as it reached the recorder, and the transcript that is followed because of it.

Owns these values. Must not know on which way it came, nor what it says.
"""

from __future__ import annotations

import msgspec

from tallystick.model.decision import Decision


class Delivery(msgspec.Struct, frozen=True, kw_only=True):
    """One call of a hook."""

    agent: str
    data: bytes
    event: str | None = None
    id: str = "-"
    """Which process delivered it, and when: the same one may try twice."""
    received: str
    """When the hook ran, RFC 3339."""
    monitor: str | None = None
    """The session of `tally run` under which the agent works."""
    spooled: bool = False
    decided: Decision | None = None
    """What the agent was told while the recorder was not there."""


class Unfinished(msgspec.Struct, frozen=True, kw_only=True):
    """A session whose transcript is followed: which file, and whether its agent has ended it."""

    agent: str
    session: str
    transcript: str
    ending: bool = False
