"""That someone touched a thing: a confirmed intent, or an effect that was observed.

Owns Access, and what each operation does to a thing's versions. Must not know which version it was: `versions` says that.
"""

from __future__ import annotations

import enum

import msgspec

from tallystick.model.intent import Operation


class Deed(enum.Enum):
    """What an operation does to the thing."""

    READ = "read"
    WRITE = "write"
    """It holds something new; what it held does not matter any more."""
    CHANGE = "change"
    """It holds something new that comes from what it held."""
    TOUCH = "touch"
    """It is there; what it holds stays."""
    REMOVE = "remove"
    TAKE = "take"
    """It is read, and gone afterwards."""
    REACH = "reach"
    """Something went to it: a URL, a host."""


DEEDS: dict[str, Deed] = {
    Operation.READ: Deed.READ,
    Operation.COPY_SOURCE: Deed.READ,
    Operation.EXECUTE: Deed.READ,
    Operation.FETCH: Deed.READ,
    Operation.WRITE: Deed.WRITE,
    Operation.COPY_DEST: Deed.WRITE,
    Operation.APPEND: Deed.CHANGE,
    Operation.EDIT: Deed.CHANGE,
    "modify": Deed.CHANGE,  # an observed effect: how it was written was not seen
    Operation.CREATE: Deed.TOUCH,
    Operation.METADATA: Deed.TOUCH,
    Operation.DELETE: Deed.REMOVE,
    Operation.RENAME: Deed.TAKE,
    Operation.SEND: Deed.REACH,
    Operation.CONNECT: Deed.REACH,
}
"""By operation. One that is not here touches nothing."""

CHANGING = frozenset({Deed.WRITE, Deed.CHANGE, Deed.REMOVE, Deed.TAKE})

AGENT, SYSTEM = "agent_event", "system_event"
"""Who: a call of an agent, or an effect that was observed."""


class Access(msgspec.Struct, array_like=True):
    """One row of `accesses`, columns in the order of the table. Times are microseconds since 1970."""

    thing: int
    at_us: int
    step_id: int
    k: int
    operation: str
    actor: str
    request_id: int
    confidence: float
    digest: str | None = None
    size_bytes: int | None = None
    shown: int = 0
    result: int | None = None
    cause: int | None = None
    cause_confidence: float | None = None
    """Of an observed effect; 0: none of its session's calls caused it. None: there were no calls to look at."""
    artifact_id: int | None = None
    evidence: str = "{}"

    @property
    def deed(self) -> Deed:
        """What it does to the thing."""
        return DEEDS.get(self.operation, Deed.READ)
