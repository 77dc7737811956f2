"""Hooks that are not ours: commands and addresses that an agent calls by itself while it works.

Owns finding them in settings, whatever the agent's form of them, and the rules on what they do. Whether ours is among them is
for the agent's hook adapter to say. Must not know files: who may write a hook's script, `setup.audit_config` sees.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from tallystick.agents.hooks.hook_identity import is_our_url, is_ours
from tallystick.agents.settings import Hit, Where
from tallystick.agents.settings.commands import downloads_and_runs, sends, temporary_program
from tallystick.agents.settings.mcp import host_of, is_loopback
from tallystick.agents.settings.parsed import Document, walk
from tallystick.agents.settings.rules import rule_named
from tallystick.catalog.agents import Base

DOWNLOADS = rule_named("hooks.download-and-run")
SENDS = rule_named("hooks.sends-data")
PLAIN_HTTP = rule_named("hooks.plaintext-http")
TEMPORARY = rule_named("hooks.temporary-script")
APPROVES = rule_named("hooks.approves-everything")
PROJECT = rule_named("hooks.of-project")

_APPROVAL = re.compile(
    r"""\\?["'](?:permissionDecision|decision|permission|behavior)\\?["']\s*:\s*\\?["'](?:allow|approve)\\?["']"""
)
_COMMAND_KEYS = ("command", "bash", "powershell")
_MOST_COMMANDS = 500


class Command(msgspec.Struct, frozen=True, kw_only=True):
    """What a hook runs or calls."""

    where: Where
    text: str
    is_url: bool = False

    @property
    def is_ours(self) -> bool:
        """Whether it is our hook."""
        if self.is_url:
            return is_our_url(self.text)
        return is_ours(self.text)


def commands(document: Document) -> list[Command]:
    """The commands and addresses of all hooks in a settings file."""
    found: list[Command] = []
    for where, value in walk(document.at("hooks"), ("hooks",)):
        if isinstance(value, dict):
            found += [
                Command(where=(*where, key), text=text)
                for key in _COMMAND_KEYS
                if isinstance(text := value.get(key), str)
            ]
            if isinstance(url := value.get("url"), str):
                found.append(Command(where=(*where, "url"), text=url, is_url=True))
    return found[:_MOST_COMMANDS]


def look(document: Document) -> Iterator[Hit]:
    """What is risky about hooks that are not ours."""
    for command in commands(document):
        if command.is_ours:
            continue
        if document.base is Base.PROJECT:
            yield Hit(rule=PROJECT, where=command.where, said=command.text)
        yield from _called(command) if command.is_url else _run(command)


def _called(command: Command) -> Iterator[Hit]:
    found = host_of(command.text)
    if found is not None and not is_loopback(found[1]):
        rule = SENDS
        if found[0] == "http":
            rule = PLAIN_HTTP
        yield Hit(rule=rule, where=command.where, said=f"{found[0]}://{found[1]}")


def _run(command: Command) -> Iterator[Hit]:
    if downloads_and_runs(command.text):
        yield Hit(rule=DOWNLOADS, where=command.where, said=command.text)
    elif sends(command.text):
        yield Hit(rule=SENDS, where=command.where, said=command.text)
    loose = temporary_program(command.text)
    if loose is not None:
        yield Hit(rule=TEMPORARY, where=command.where, said=loose)
    if _APPROVAL.search(command.text):
        yield Hit(rule=APPROVES, where=command.where, said=command.text)
