"""What kind of file a path names, by its name alone: what agents read as orders, what runs, what survives a restart.

Owns how a path is compared with the registries of specs/gensee.md 5.2, which are in the catalogue. Must not know what is
done with such a file.
"""

from __future__ import annotations

import re

import msgspec

from tallystick.catalog.loading import Entry, load


class Membership(msgspec.Struct, frozen=True):
    """In which registries a path is."""

    is_executable: bool
    is_memory: bool
    is_persistent: bool
    is_control_plane: bool

    @property
    def is_any(self) -> bool:
        """Whether it is in one."""
        return self.is_executable or self.is_memory or self.is_persistent or self.is_control_plane


class _Facts(Entry, frozen=True):
    """Facts of catalog/kinds/registries.toml."""

    executable: tuple[str, ...]
    memory: tuple[str, ...]
    persistent: tuple[str, ...]
    control_plane: tuple[str, ...]


_FACTS = load("kinds/registries", _Facts)
_EXECUTABLE = re.compile("|".join(_FACTS.executable))
_MEMORY = re.compile("|".join(_FACTS.memory), re.IGNORECASE)
_PERSISTENT = re.compile("|".join(_FACTS.persistent))
_CONTROL_PLANE = re.compile("|".join(_FACTS.control_plane))


def membership(path: str) -> Membership:
    """In which registries a path is; it may be a URI. Never looks at the file."""
    return Membership(
        _EXECUTABLE.search(path) is not None,
        _MEMORY.search(path) is not None,
        _PERSISTENT.search(path) is not None,
        _CONTROL_PLANE.search(path) is not None,
    )
