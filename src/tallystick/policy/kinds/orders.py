"""What agents read as orders: memory files, rules, skills, commands, descriptions of other agents (specs/gensee.md 5.2).

Owns the word for it, and the names and folders of these files. Must not know what is written in them: `phrases` does.
Sources: docs/agents; the agents' documentation of their instruction files, and agents.md.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise

from tallystick.policy.kinds.homes import plain
from tallystick.policy.kinds.named import Named
from tallystick.policy.kinds.start_places import AGENTS
from tallystick.policy.settings import Settings

KINDS: dict[str, str] = {
    "orders": "Agents read it as orders: a memory, a rule, a skill, a command, the description of another agent.",
}
_NAMES = """
claude.md claude.local.md agents.md agents.local.md agents.override.md agent.md gemini.md qwen.md copilot.md codex.md
cursor.md memory.md memories.md soul.md identity.md heartbeat.md warp.md crush.md droid.md goose.md junie.md skill.md
conventions.md copilot-instructions.md .cursorrules .windsurfrules .clinerules .roorules .kilocoderules .goosehints .rules
.airules .augment-guidelines memory_summary.md raw_memories.md persona.md bootstrap.md
"""
_FILES = frozenset(_NAMES.split())
_ENDINGS = (".instructions.md", ".prompt.md", ".chatmode.md", ".agent.md", ".mdc")
_IN_AGENTS = """
skills commands command agents agent rules prompts memories memory output-styles steering instructions modes workflows droids
guidelines knowledge personas chatmodes notebooks
"""
_FOLDERS = frozenset(_IN_AGENTS.split())
_OF_GITHUB = frozenset(("instructions", "prompts", "agents", "chatmodes", "skills"))
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
    if name in _FILES or name.endswith(_ENDINGS):
        return True
    if not _TEXT.search(name):
        return False
    if ".clinerules" in parts[:-1] or parts[1:2] == ["memories"]:
        return True
    for part, below in pairwise(parts[:-1]):
        if below in _FOLDERS and (part in AGENTS or f".{part}" in AGENTS):
            return True
        if part == ".github" and below in _OF_GITHUB:
            return True
    return "memory" in parts[:-1] and any(part in AGENTS for part in parts)
