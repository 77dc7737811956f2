"""Switches with which a user turns all hooks of an agent off, ours too.

Owns where each agent keeps its switch; taken from the agents' documentation and settings schemas. Must not know our handlers.
"""

from __future__ import annotations

from collections.abc import Mapping

from tallystick.agents.kit import json_text
from tallystick.model.step import Json

_SWITCHES: Mapping[str, tuple[tuple[str, ...], Json]] = {
    "claude-code": (("disableAllHooks",), True),
    "qwen": (("disableAllHooks",), True),
    "gemini": (("hooksConfig", "enabled"), False),
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
    path, off = _SWITCHES[agent]
    value = settings
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return f"{'.'.join(path)} = {str(off).lower()}" if value is off else None
