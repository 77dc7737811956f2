"""What is widely used: packages with programs, scopes of packages, Go modules, hosts of images.

Owns these lists. They say that a name is known, not that what stands behind it is good. Sources: the templates and manuals of
the tools that are named; the clouds' documents on their registries.
"""

from __future__ import annotations

from tallystick.catalog.loading import Entry, load


class _Facts(Entry, frozen=True):
    """Facts of catalog/widely_used.toml."""

    packages: frozenset[str]
    scopes: frozenset[str]
    modules: tuple[str, ...]
    image_hosts: frozenset[str]


_FACTS = load("widely_used", _Facts)
PACKAGES = _FACTS.packages
"""Packages of npm whose programs are run without being installed."""
SCOPES = _FACTS.scopes
MODULES = _FACTS.modules
"""What the paths of Go modules begin with."""
IMAGE_HOSTS = _FACTS.image_hosts
"""A name stands for all below it. The public ones that everybody uses are `host_names.REGISTRIES`."""
