"""What each agent is known not to report, by which way, so that a difference between two accounts has a name.

Owns the question what explains a missing event. Each spot was observed with the version that the agent's page names, and is
in the catalogue. Must not know what was recorded.
"""

from __future__ import annotations

from collections.abc import Mapping

from tallystick.catalog.agents import AGENTS, BlindSpot

BLIND_SPOTS: Mapping[str, tuple[BlindSpot, ...]] = {
    name: facts.blind_spots for name, facts in AGENTS.items() if facts.blind_spots
}
"""By agent."""


def explaining(agent: str, source: str, kind: str, tool: str | None) -> tuple[BlindSpot, ...]:
    """What can explain that `source` does not tell an event of this type and tool."""
    return tuple(
        spot
        for spot in BLIND_SPOTS.get(agent, ())
        if spot.source == source and kind in spot.types and (not spot.tools or tool in spot.tools)
    )


def is_by_design(agent: str, source: str, kind: str, tool: str | None) -> bool:
    """Whether `source` never tells an event of this type and tool: nothing is missing where it does not."""
    return any(spot.always for spot in explaining(agent, source, kind, tool))
