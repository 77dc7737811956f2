"""Settings: what agents may do because of files that people, projects and administrators wrote.

Owns the values of an audit and the list of the agents whose settings are known. A module an agent says where its files
are and which of their values are risky; `mcp`, `hooks`, `environment`, `secret_values`, `instructions` and `skills` say
what is risky anyone who reads it. Nothing here opens a file: `setup.audit_config` reads them. Keys are those that the
agents document; a key that could not be confirmed has no rule.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator
from importlib import import_module
from typing import TYPE_CHECKING, Protocol, cast

import msgspec

__all__ = [
    "audit",
    "commands",
    "files",
    "handlers",
    "hooks",
    "inputs",
    "parsed",
    "secret_values",
    "skills",
    "variables",
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


class Base(enum.StrEnum):
    """Whose settings they are."""

    USER = "user"
    PROJECT = "project"
    MANAGED = "managed"
    """An administrator's: the path is below the root of the file system."""


class Kind(enum.StrEnum):
    """What a file holds."""

    SETTINGS = "settings"
    """JSON, with comments where the agent reads them, or TOML by the name's end."""
    INSTRUCTIONS = "instructions"
    """Text that the agent's model reads in every session: instructions, rules, memory."""
    SKILL = "skill"
    """Text with front matter that the model reads when it is asked for: skills, commands, sub-agents."""
    PROGRAM = "program"
    """Code that the agent runs: hook files, plugins, the scripts of skills."""


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """A file, or with `endings` a folder, in which an agent looks."""

    path: str
    base: Base
    kind: Kind = Kind.SETTINGS
    variable: str | None = None
    """An environment variable that, if set, names the folder that stands for the first part of `path`."""
    endings: tuple[str, ...] = ()
    """It is a folder: the files below it whose names end so. The empty ending means every file."""


class SettingsAdapter(Protocol):
    """What is known of one agent's settings."""

    NAME: str
    PLACES: tuple[Place, ...]
    SERVERS: tuple[tuple[str, ...], ...]
    """Where objects of MCP servers stand; `*` for every member."""
    UNSEEN: tuple[str, ...]
    """What its files do not tell, in words."""

    def look(self, document: Document) -> Iterator[Hit]:
        """What is risky in one of its settings files, by its own keys."""
        ...


NAMES: tuple[str, ...] = ("claude_code", "codex", "gemini", "qwen", "copilot", "cursor", "opencode", "cline")
"""The agents whose folder has a module `settings`."""


def settings_adapters() -> dict[str, SettingsAdapter]:
    """All adapters by the agent's name."""
    modules = (cast("SettingsAdapter", import_module(f"tallystick.agents.{name}.settings")) for name in NAMES)
    return {module.NAME: module for module in modules}


def user(path: str, kind: Kind = Kind.SETTINGS, *, variable: str | None = None, endings: tuple[str, ...] = ()) -> Place:
    """A place below the user's home folder."""
    return Place(path=path, base=Base.USER, kind=kind, variable=variable, endings=endings)


def project(path: str, kind: Kind = Kind.SETTINGS, *, endings: tuple[str, ...] = ()) -> Place:
    """A place below a project's folder."""
    return Place(path=path, base=Base.PROJECT, kind=kind, endings=endings)


def managed(path: str, kind: Kind = Kind.SETTINGS, *, endings: tuple[str, ...] = ()) -> Place:
    """A place of the administrator's."""
    return Place(path=path, base=Base.MANAGED, kind=kind, endings=endings)
