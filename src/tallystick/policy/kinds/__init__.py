"""What a path is by its name and place: a secret, something that runs at every start, a file that agents read as orders.

Owns Named, and the list of modules that know kinds. A kind is a word that policies ask for (`resource.kinds.contains(…)`).
Each module lists its words in KINDS with what they mean. Nothing here looks at a file, nor knows what follows from a kind.
"""

from __future__ import annotations

from tallystick.policy.kinds import orders, persistence, secrets, system
from tallystick.policy.kinds.named import Named
from tallystick.policy.settings import Settings

__all__ = ["KINDS", "Named", "kinds_of"]

_MODULES = (secrets, persistence, orders, system)
KINDS: dict[str, str] = {kind: meaning for module in _MODULES for kind, meaning in module.KINDS.items()}
"""Every kind and what it means."""


def kinds_of(named: Named, settings: Settings) -> frozenset[str]:
    """What a path is, as it is spelled and where it leads."""
    return frozenset(kind for module in _MODULES for kind in module.kinds(named, settings))
