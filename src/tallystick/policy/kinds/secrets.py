"""What holds secrets: keys, credentials, tokens, histories of commands. Owns those names and places (specs/gensee.md 5.2)."""

from __future__ import annotations

from collections.abc import Iterator

from tallystick.policy.kinds.named import Named
from tallystick.policy.settings import Settings

KINDS: dict[str, str] = {}


def kinds(named: Named, settings: Settings) -> Iterator[str]:
    """What a path is, of KINDS."""
    yield from ()
