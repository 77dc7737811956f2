"""Whose telemetry is read otherwise than by the conventions.

Owns finding the module `telemetry` in an agent's folder. Must not know what is in a record.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import cast

from tallystick.agents.protocols._otlp_steps import Telemetry
from tallystick.catalog.agents import AGENTS


def _load(agent: str) -> Telemetry:
    return cast("Telemetry", import_module(f"tallystick.agents.{agent.replace('-', '_')}.telemetry").TELEMETRY)


TELEMETRY: Mapping[str, Telemetry] = {
    name: _load(name) for name, facts in AGENTS.items() if "telemetry" in facts.adapters
}
"""By the agent's name."""
BY_CONVENTION = Telemetry()
"""That of every other program."""
