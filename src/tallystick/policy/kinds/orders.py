"""What agents read as orders: memory files, rules, skills, commands, descriptions of other agents (specs/gensee.md 5.2).

Owns the word for it, and the names and folders of these files. Must not know what is written in them: `phrases` does.
Sources: docs/agents; the agents' documentation of their instruction files, and agents.md.
"""

from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise

from tallystick.catalog.agents import AGENTS as _AGENTS
from tallystick.catalog.agents import Base, Kind, places
from tallystick.catalog.loading import Entry, load
from tallystick.model.pattern import pattern_of
from tallystick.policy.kinds.homes import plain
from tallystick.policy.kinds.named import Named
from tallystick.policy.kinds.start_places import AGENTS
from tallystick.policy.settings import Settings

KINDS: dict[str, str] = {
    "orders": "Agents read it as orders: a memory, a rule, a skill, a command, the description of another agent.",
}


class _Facts(Entry, frozen=True):
    """Facts of catalog/kinds/orders.toml."""

    files: frozenset[str]
    endings: tuple[str, ...]
    folders: frozenset[str]
    of_github: frozenset[str]


_FACTS = load("kinds/orders", _Facts)
_PROJECTS = tuple(
    place.path.lower() for place in places(kind=Kind.INSTRUCTIONS, base=Base.PROJECT) if not place.endings
)
_FILES = frozenset(
    (
        *_FACTS.files,
        *(path.rpartition("/")[2] for path in _PROJECTS),
        *(name for facts in _AGENTS.values() for name in facts.orders_names),
    )
)
_OF_USER = tuple(
    f"/{place.path.lower()}" for place in places(kind=Kind.INSTRUCTIONS, base=Base.USER) if not place.endings
)
_NOTES = frozenset(facts.memory.notes for facts in _AGENTS.values())
_FOLDERS_OF_USER = tuple(
    f"/{place.path.lower()}/"
    for place in places(kind=Kind.INSTRUCTIONS, base=Base.USER)
    if place.endings and place.path not in _NOTES
)
_RULES_FOLDERS = frozenset(
    place.path.lower()
    for place in places(kind=Kind.INSTRUCTIONS, base=Base.PROJECT)
    if place.endings and "/" not in place.path
)
"""Folders of rules that lie in a project itself."""
_TEXT = pattern_of(r"\.(?:md|mdc|mdx|txt|toml|ya?ml|json|markdown|rst)\Z|(?:^|/)[^./]+\Z")
_MOST_PARTS = 64


def kinds(named: Named, settings: Settings) -> Iterator[str]:
    """What a path is, of KINDS."""
    for path in (named.path,) if named.real == named.path else (named.path, named.real):
        if path and is_orders(path):
            yield "orders"
            return


@lru_cache(maxsize=4096)
def is_orders(path: str) -> bool:
    """Whether agents read the file at a path as orders, by its name and place."""
    parts = plain(path).split("/")[-_MOST_PARTS:]
    name = parts[-1]
    whole = "/" + "/".join(parts)
    if name in _FILES or name.endswith(_FACTS.endings) or whole.endswith(_OF_USER):
        return True
    if not _TEXT.search(name):
        return False
    if not _RULES_FOLDERS.isdisjoint(parts[:-1]) or parts[1:2] == ["memories"]:
        return True
    if any(folder in whole for folder in _FOLDERS_OF_USER):
        return True
    for part, below in pairwise(parts[:-1]):
        if below in _FACTS.folders and (part in AGENTS or f".{part}" in AGENTS):
            return True
        if part == ".github" and below in _FACTS.of_github:
            return True
    return "memory" in parts[:-1] and any(part in AGENTS for part in parts)
