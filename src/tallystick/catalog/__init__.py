"""Facts as data: what an agent, a program, a path or a secret is.

Owns the TOML files beside this module, their digest, and the way from a file to frozen, typed values. Must not know what
the facts are used for, nor any program or agent by name.
"""

from __future__ import annotations

from tallystick.catalog.loading import Entry, digest, inverted, load, load_folder, names

__all__ = [
    "Entry",
    "agents",
    "digest",
    "inverted",
    "languages",
    "load",
    "load_folder",
    "loading",
    "loads",
    "names",
    "programs",
]
