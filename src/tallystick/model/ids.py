"""Identifiers, and the references that people type.

Owns their shapes. Must not know where a session or step is kept.
"""

from __future__ import annotations

from typing import NewType

import msgspec

from tallystick.errors import UsageError
from tallystick.model.pattern import pattern_of

SessionId = NewType("SessionId", str)
"""32 hex digits: 128 random bits, the name of a journal."""

EntryHash = NewType("EntryHash", str)
"""64 hex digits: the hash of a sealed entry, the id of a step."""

SESSION_ID = pattern_of(r"[0-9a-f]{32}\Z")
HASH = pattern_of(r"[0-9a-f]{64}\Z")

_HEX_PREFIX = pattern_of(r"[0-9a-f]{4,64}\Z")


class StepReference(msgspec.Struct, frozen=True):
    """A step as a person types it: `HASH`, `SID#HASH` or `SID:N` (docs/format.md 5). Prefixes of >= 4 digits do."""

    session: str | None = None
    n: int | None = None
    hash: str | None = None


def parse_step_reference(text: str) -> StepReference:
    """Read `SID:N`, `SID#HASH` or `HASH`. The session part may be an agent's own session id.

    Raises:
        UsageError: the text has none of these shapes.
    """
    session, separator, rest = text.rpartition("#")
    if separator and session and _HEX_PREFIX.match(rest):
        return StepReference(session=session, hash=rest)
    session, separator, rest = text.rpartition(":")
    if separator and session and rest.isascii() and rest.isdigit() and len(rest) < 17:
        return StepReference(session=session, n=int(rest))
    if _HEX_PREFIX.match(text):
        return StepReference(hash=text)
    raise UsageError(
        f"{text!r} is not a step",
        hint="use SESSION:N (as in `tally show a3f9:4`), SESSION#HASH, or at least 4 digits of a step's hash",
    )
