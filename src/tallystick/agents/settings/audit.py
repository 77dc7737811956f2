"""One file of an agent, judged by all rules that are about it.

Owns which rules are asked for which kind of file, and the rules whose facts only the file system and the adapters have: on
files, and on our own hook. Must not know where the file was, nor how it was read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tallystick.agents.settings import (
    Hit,
    SettingsAdapter,
    environment,
    hooks,
    instructions,
    mcp,
    secret_values,
    skills,
)
from tallystick.agents.settings.parsed import Document
from tallystick.agents.settings.rules import rule_named
from tallystick.catalog.agents import AGENTS, Kind
from tallystick.model.step import Json

WRITABLE = rule_named("files.writable-by-others")
FOLDER_WRITABLE = rule_named("files.folder-writable-by-others")
OTHER_OWNER = rule_named("files.other-owner")
LINK = rule_named("files.link-elsewhere")
LINKED_FOLDER = rule_named("files.linked-folder")
INVALID = rule_named("files.invalid")
SECRET_READABLE = rule_named("files.secret-readable")
SCRIPT_WRITABLE = rule_named("hooks.script-writable")
NO_HOOK = rule_named("hook.missing")
SOME_HOOKS = rule_named("hook.partial")
HOOKS_OFF = rule_named("hook.switched-off")


def settings_hits(adapter: SettingsAdapter, document: Document, scrub: Callable[[Json], Json]) -> Iterator[Hit]:
    """What is risky in a settings file. `scrub` is what `secret_values.look` takes."""
    yield from adapter.look(document)
    yield from mcp.look(document, AGENTS[adapter.NAME].settings.servers)
    yield from hooks.look(document)
    yield from environment.look(document)
    yield from secret_values.look(document, scrub)


def text_hits(kind: Kind, text: str) -> Iterator[Hit]:
    """What is risky in a text: instructions, a skill or a program."""
    if kind is Kind.PROGRAM:
        yield from instructions.downloads(text, skills.SCRIPT_DOWNLOADS)
        return
    if kind is Kind.SKILL:
        yield from skills.look(text)
    yield from instructions.look(text)


def key_text(hit: Hit) -> str:
    """The way to a hit's value as people write it: `permissions.allow[3]`."""
    text = ""
    for name in hit.where:
        if isinstance(name, int):
            text += f"[{name}]"
        elif text:
            text += f".{name}"
        else:
            text = name
    return text
