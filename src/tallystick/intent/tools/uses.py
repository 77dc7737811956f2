"""A call of a tool, and what it does as far as its arguments tell: the values.

Owns ToolCall, Uses and Code. Must not know any tool, nor how arguments are read.
"""

from __future__ import annotations

import msgspec

from tallystick.model.intent import Flow, Intent
from tallystick.model.step import Json


class ToolCall(msgspec.Struct, frozen=True, kw_only=True):
    """A call of a tool, as an agent makes it."""

    tool: str
    """The agent's own name of it, also with the prefix of an MCP server."""
    args: Json
    """Its arguments, or their text."""
    folder: str | None
    """The absolute path that it runs in; None leaves relative paths as they are."""
    home: str | None = None
    """The user's home folder; None leaves `~`."""
    agent: str | None = None
    """The agent that calls (its name in `agents`), where a tool's name alone does not tell which file it keeps."""
    server: str | None = None
    """The MCP server, where `tool` does not name it (`resources/read`)."""


class Code(msgspec.Struct, frozen=True):
    """Text that a call runs and that is not a shell command. `language` is named as in `intent.actions.Code`."""

    language: str
    text: str

    @property
    def program(self) -> tuple[str, ...] | None:
        """The same as a program with its arguments, for `shell` to read; None of a language that has no such program."""
        words = _PROGRAMS.get(self.language)
        if words is None:
            return None
        return (*words, self.text)


_PROGRAMS = {"python": ("python", "-c"), "javascript": ("node", "-e"), "sql": ("sqlite3", ":memory:"),
             "powershell": ("pwsh", "-Command")}  # fmt: skip


class Uses(msgspec.Struct, frozen=True, kw_only=True):
    """What a call of a tool does, as far as its arguments tell."""

    intents: tuple[Intent, ...] = ()
    """What the tool itself does; not what the texts below do."""
    flows: tuple[Flow, ...] = ()
    commands: tuple[str, ...] = ()
    """Shell texts that it runs, one after the other."""
    programs: tuple[tuple[str, ...], ...] = ()
    """Programs with their arguments, started without a shell."""
    codes: tuple[Code, ...] = ()
    """Code in other languages that it runs."""
    folder: str | None = None
    """Absolute path of the folder that it runs in, as far as that is known."""
    agent: str | None = None
    """The kind or name of the sub-agent that it starts."""
    typed: tuple[str, ...] = ()
    """Texts that it gives to a program that runs already."""
    is_told: bool = True
    """False: the tool is in no table, and no verb in its name tells what it does to the paths that it is given."""
    searched: tuple[int, ...] = ()
    """Intents, by position, that list what the tool looks for text in: contents are read, of which files is unknown."""
    picked: tuple[str, ...] = ()
    """Patterns that say which files are looked through: absolute where the folder is known."""
