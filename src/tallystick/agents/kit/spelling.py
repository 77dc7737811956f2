"""What an agent's histories and telemetry call things, from its entry in the catalogue.

Owns the questions that readers ask there. Must not know what any word means: the reader that asks does.
"""

from __future__ import annotations

from collections.abc import Mapping

from tallystick.catalog.agents import AGENTS


def words(agent: str, key: str) -> tuple[str, ...]:
    """Names of lines, events or members that the agent's reader treats alike; beginnings of texts."""
    return AGENTS[agent].spelling.words[key]


def names(agent: str, key: str) -> Mapping[str, str]:
    """One name for another: the agent's of a count, of what ended, of who refused."""
    return AGENTS[agent].spelling.names[key]
