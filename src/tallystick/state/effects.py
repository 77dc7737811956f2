"""What a call does, as later calls are judged by it.

Owns the value. Must not know how a call is read.
"""

from __future__ import annotations

import msgspec

from tallystick.model.intent import Domain, Effects, Operation


class CallEffects(msgspec.Struct, frozen=True, kw_only=True):
    """A call, as later ones are judged by it."""

    effects: Effects
    texts: tuple[str, ...] = ()
    """Commands and codes among its arguments."""
    folder: str | None = None
    is_unlisted: bool = False
    """Of its tool only the name is known."""
    sensitive: tuple[str, ...] = ()
    """What it reads that is a secret, other than by a path."""
    values: bytes = b""
    """What is kept of the secrets in files that it reads (`scrubbing.fingerprints`)."""
    existing: frozenset[str] | None = None
    """Of the files that it changes, those that were there before; None: no one looked."""
    files: int = 0
    hosts: int = 0


def may_change_anything(effects: Effects) -> bool:
    """Whether a call runs something whose doing is not reported."""
    return bool(effects.opaque) or any(
        intent.domain is Domain.UNKNOWN or intent.operation is Operation.EXECUTE for intent in effects.intents
    )
