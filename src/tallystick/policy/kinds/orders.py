"""What agents read as orders: memory files, rules, skills, commands, descriptions of other agents (specs/gensee.md 5.2).

Owns the word for it, and the names and folders of these files. Must not know what is written in them: `phrases` does.
Sources: docs/agents; the agents' documentation of their instruction files, and agents.md.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise

from tallystick.catalog.loading import Entry, load
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
_TEXT = re.compile(r"\.(?:md|mdc|mdx|txt|toml|ya?ml|json|markdown|rst)\Z|(?:^|/)[^./]+\Z")
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
    if name in _FACTS.files or name.endswith(_FACTS.endings):
        return True
    if not _TEXT.search(name):
        return False
    if ".clinerules" in parts[:-1] or parts[1:2] == ["memories"]:
        return True
    for part, below in pairwise(parts[:-1]):
        if below in _FACTS.folders and (part in AGENTS or f".{part}" in AGENTS):
            return True
        if part == ".github" and below in _FACTS.of_github:
            return True
    return "memory" in parts[:-1] and any(part in AGENTS for part in parts)
