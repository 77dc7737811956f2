"""What an agent's hook delivered, as it reached the recorder, the transcript that is followed because of it, and how many.

Owns these values. Must not know on which way it came, nor what it says.
"""

from __future__ import annotations

import msgspec
from msgspec.structs import replace

from tallystick.model.decision import Decision
from tallystick.model.step import Json, Opening, Ref, SessionKind


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
    claimed: str | None = None
    """When the hook ran as a spooled delivery says that nothing shows to be our hook's; `received` is when it was found."""
    peer: int | None = None
    """The process at the other end: a hook, or the agent itself."""
    decided: Decision | None = None
    """What the agent was told while the recorder was not there."""

    @property
    def members(self) -> dict[str, Json]:
        """Members of all that is recorded of it, if nothing shows that our hook wrote it (docs/format.md 19.7)."""
        if self.claimed is None:
            return {}
        return {"authenticated": False, "claimed": self.claimed}

    def opening(self, told: Opening) -> Opening:
        """How a session begins that this delivery tells of: under `tally run` it belongs to the session of that run."""
        told = replace(told, meta={**told.meta, **self.members})
        if self.monitor is None or told.kind is not SessionKind.ROOT:
            return told
        return replace(told, kind=SessionKind.CHILD, parent=Ref(session=self.monitor, agent="run"))


class Unfinished(msgspec.Struct, frozen=True, kw_only=True):
    """A session that goes on: which transcript is followed, whether its agent has ended it, and whose process works in it."""

    agent: str
    session: str
    transcript: str = ""
    """Empty: none is followed."""
    ending: bool = False
    pid: int = 0
    """The agent's process, and when it began (epoch milliseconds); 0: it is not known."""
    began_ms: int = 0
    rests: bool = False


class Counts(msgspec.Struct):
    """What the recorder did since it began."""

    deliveries: int = 0
    repeated: int = 0
    refused: int = 0
    spooled: int = 0
    decisions: dict[str, int] = {}
    lost: int = 0
    """Deliveries that could not be recorded and of which only a gap tells."""
    last_error: str | None = None
