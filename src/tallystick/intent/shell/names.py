"""Other names of the same program.

Owns the table that makes one name of `gsed`, `python3.12` and `batcat`. Must not know what any program does.
Sources: the packages of Homebrew and Debian that install coreutils, findutils, awk and others under a second name.
"""

from collections.abc import Mapping
from functools import lru_cache

from tallystick.catalog.loading import Entry, inverted, load
from tallystick.catalog.programs import programs_with
from tallystick.model.pattern import pattern_of

_WITH_G = programs_with("gnu-name")


class _Facts(Entry, frozen=True):
    """Facts of catalog/program_names.toml."""

    canonical: Mapping[str, tuple[str, ...]]


_FACTS = load("program_names", _Facts)
_ALIASES = inverted(_FACTS.canonical)
_VERSIONED = pattern_of(r"(python|pip|perl|ruby|lua|php|node|gcc|g\+\+|clang|clang\+\+|java|psql|tclsh)-?[\d.]+[tdm]?")


@lru_cache(4096)
def canonical(name: str) -> str:
    """The name under which tables list a program; the name itself where it has no other."""
    if name in _ALIASES:
        return _ALIASES[name]
    if name.endswith(".exe") and "/" not in name:
        return canonical(name[:-4])
    if name[:1] == "g" and name[1:] in _WITH_G:
        return name[1:]
    found = _VERSIONED.fullmatch(name[:64])
    if found is not None:
        return found[1]
    return name
