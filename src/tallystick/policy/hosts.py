"""What a URL or host is: the machine itself, a cloud's metadata service, a package registry.

Owns reading a host in every spelling, and its kinds. Nothing is resolved: a name that leads elsewhere is taken at its word.
"""

from __future__ import annotations

import msgspec

from tallystick.policy.settings import Settings


class HostFacts(msgspec.Struct, frozen=True, kw_only=True):
    """A host that a call talks to."""

    host: str
    """Lower-case, without port; an address in its usual form."""
    port: int = 0
    """0: not told."""
    scheme: str = ""
    kinds: frozenset[str] = frozenset()
    carries: frozenset[str] = frozenset()
    """What goes there as far as the call tells: `secret`, `sensitive`, `untrusted`."""


KINDS: dict[str, str] = {}
"""Every kind of host and what it means."""


def host_of(target: str, settings: Settings) -> HostFacts:
    """The host of a URL, `host:port`, or a name."""
    return HostFacts(host=target[:300])
