"""What outlives a session: start files, hooks, schedulers, what runs by itself (specs/gensee.md 5.2)."""

from __future__ import annotations

from collections.abc import Iterator

from tallystick.policy.kinds.named import Named
from tallystick.policy.settings import Settings

KINDS: dict[str, str] = {}


def kinds(named: Named, settings: Settings) -> Iterator[str]:
    """What a path is, of KINDS."""
    yield from ()
