"""What kind of file a path names, by its name alone: what agents read as orders, what runs, what survives a restart.

Owns how a path is compared with the registries of specs/gensee.md 5.2, which are in the catalogue. Must not know what is
done with such a file.
"""

import re
from functools import cache

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


@cache
def _patterns() -> tuple[re.Pattern[str], ...]:
    """The registries, in the order of Membership. Read when they are first needed: most questions need none."""
    facts = load("kinds/registries", _Facts)
    return (
        re.compile("|".join(facts.executable)),
        re.compile("|".join(facts.memory), re.IGNORECASE),
        re.compile("|".join(facts.persistent)),
        re.compile("|".join(facts.control_plane)),
    )


def membership(path: str) -> Membership:
    """In which registries a path is; it may be a URI. Never looks at the file."""
    return Membership(*(pattern.search(path) is not None for pattern in _patterns()))
