"""Hosts that are known by their names: metadata services, package registries, paste bins and tunnels.

Owns these lists. A name stands for all below it. Sources: the clouds' own documents on instance metadata; the manuals of the
package managers for their default registries.
"""

from __future__ import annotations

from collections.abc import Set

from tallystick.catalog.loading import Entry, load


class _Facts(Entry, frozen=True):
    """Facts of catalog/host_names.toml."""

    metadata_names: frozenset[str]
    registries: frozenset[str]
    pastes: frozenset[str]


_FACTS = load("host_names", _Facts)
METADATA_NAMES = _FACTS.metadata_names
REGISTRIES = _FACTS.registries
PASTES = _FACTS.pastes


def is_below(host: str, names: Set[str]) -> bool:
    """Whether a host is one of some names, or below one."""
    if not names or not host:
        return False
    while True:
        if host in names:
            return True
        host = host.partition(".")[2]
        if not host:
            return False
