"""Settings: what agents may do because of files that people, projects and administrators wrote.

Owns the values of an audit and the list of the agents whose settings are known. A module an agent says which values
of its files are risky; `mcp`, `hooks`, `environment`, `secret_values`, `instructions` and `skills` say what is
risky, no matter which agent reads it. Nothing here opens a file: `setup.audit_config` reads them. Keys are those that
the agents document; a key that could not be confirmed has no rule.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator
from importlib import import_module
from typing import TYPE_CHECKING, Protocol, cast

import msgspec

from tallystick.catalog.agents import AGENTS

__all__ = [
    "audit",
    "commands",
    "hooks",
    "inputs",
    "parsed",
    "secret_values",
    "skills",
]

if TYPE_CHECKING:
    from tallystick.agents.settings.parsed import Document

Where = tuple[str | int, ...]
"""The way to a value: names of members and numbers of elements."""


class Severity(enum.StrEnum):
    """How bad it would be."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    CRITICAL = "critical"

    @property
    def rank(self) -> int:
        """0 for the least."""
        return list(Severity).index(self)


class Confidence(enum.StrEnum):
    """Whether the setting alone makes it so."""

    CONFIRMED = "confirmed"
    POTENTIAL = "potential"
    """It depends on what the file does not say: what a host is, what a text is for."""


class Rule(msgspec.Struct, frozen=True):
    """One risk that is looked for."""

    id: str
    severity: Severity
    confidence: Confidence
    means: str
    """What can happen, in one sentence."""
    remedy: str


class Hit(msgspec.Struct, frozen=True, kw_only=True):
    """A rule that a file meets."""

    rule: Rule
    where: Where = ()
    """The value; nothing for a file as a whole."""
    line: int | None = None
    """From 1, where it is known without `where`."""
    said: str = ""
    """What stands there, or the part that matters. Not yet free of secrets."""


class SettingsAdapter(Protocol):
    """What is known of one agent's settings."""

    NAME: str

    def look(self, document: Document) -> Iterator[Hit]:
        """What is risky in one of its settings files, by its own keys."""
        ...


NAMES: tuple[str, ...] = tuple(name.replace("-", "_") for name, facts in AGENTS.items() if "settings" in facts.adapters)
"""The agents whose folder has a module `settings`."""


def settings_adapters() -> dict[str, SettingsAdapter]:
    """All adapters by the agent's name."""
    modules = (cast("SettingsAdapter", import_module(f"tallystick.agents.{name}.settings")) for name in NAMES)
    return {module.NAME: module for module in modules}
