"""Switches with which a user turns all hooks of an agent off, ours too.

Owns looking for them; which setting it is says the catalogue. Must not know our handlers.
"""

from __future__ import annotations

from tallystick.agents.kit import json_text
from tallystick.catalog.agents import AGENTS
from tallystick.model.step import Json

_SWITCHES = {
    name: facts.hooks.switch
    for name, facts in AGENTS.items()
    if facts.hooks is not None and facts.hooks.switch is not None
}


def switched_off(agent: str, content: bytes) -> str | None:
    """The setting by which a settings file turns hooks off, as `name = value`; None if it does not.

    Raises:
        FormatError: the agent would not read the file.
    """
    if agent not in _SWITCHES or not content.strip():
        return None
    return off_setting(agent, json_text.read(content, json_text.RELAXED).root.value)


def off_setting(agent: str, settings: Json) -> str | None:
    """The same of settings that were read already."""
    if agent not in _SWITCHES:
        return None
    switch = _SWITCHES[agent]
    value = settings
    for name in switch.path:
        if isinstance(value, dict):
            value = value.get(name)
        else:
            value = None
    if value is switch.value:
        return f"{'.'.join(switch.path)} = {str(switch.value).lower()}"
    return None
