"""Hooks in settings: commands and addresses that an agent calls by itself while it works.

Owns finding them, whatever the agent's form of them, the rules on what they do, what one is called in a word, and whether it
is called before a call or after it. Whether ours is among them is
for the agent's hook adapter to say. Must not know files: who may write a hook's script, `setup.audit_config` sees.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from urllib.parse import urlsplit

import msgspec

from tallystick.agents.hooks.hook_identity import is_our_url, is_ours
from tallystick.agents.settings import Hit, Where
from tallystick.agents.settings.commands import downloads_and_runs, sends, temporary_program, words_of
from tallystick.agents.settings.mcp import host_of, is_loopback
from tallystick.agents.settings.parsed import Document, walk
from tallystick.agents.settings.rules import rule_named
from tallystick.catalog.agents import Base
from tallystick.model.step import Json

OURS = "tallystick"
"""What our own hook is called among an agent's."""

_MOST_HANDLERS = 500
_MOST_NAME = 80
_PRE = re.compile(
    r"pre[-_]?tool|before[-_]?(?:tool|shell|mcp|read|model|agent)|tool\.execute\.before|permission", re.IGNORECASE
)
_POST = re.compile(r"post[-_]?tool|after[-_]?(?:tool|shell|mcp|file|model|agent)|tool\.execute\.after", re.IGNORECASE)
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")
_INTERPRETER = re.compile(r"(?:python|node|ruby|perl|bash|zsh|dash|sh|deno|bun|uv|npx|uvx|env|sudo|exec)[\d.]*")


class Handler(msgspec.Struct, frozen=True, kw_only=True):
    """One hook of a settings file."""

    name: str
    """What it runs or calls, in a word: the program's name, the host."""
    event: str
    position: int
    """Its place among the file's hooks of this event, from 0."""
    is_enabled: bool = True
    value: Json = None
    """All that the file says of it, with what it matches."""

    @property
    def phase(self) -> str:
        """`pre` and `post` of a call, else the event's own name in small letters."""
        if _PRE.match(self.event):
            return "pre"
        if _POST.match(self.event):
            return "post"
        return re.sub(r"[^a-z0-9.]+", "-", _snake(self.event)).strip("-")[:40]


def handlers(hooks: Json) -> list[Handler]:
    """The hooks in the `hooks` of a settings file, in its order."""
    found: list[Handler] = []
    for event, items in hooks.items() if isinstance(hooks, dict) else ():
        if isinstance(items, list):
            listed = items
        else:
            listed = []
        for position, (item, handler) in enumerate(_each(listed)):
            if len(found) >= _MOST_HANDLERS:
                return found
            found.append(
                Handler(
                    name=_name(handler),
                    event=str(event)[:_MOST_NAME],
                    position=position,
                    is_enabled=handler.get("enabled") is not False and handler.get("disabled") is not True,
                    value=[item.get("matcher"), handler],
                )
            )
    return found


def _each(items: list[Json]) -> Iterator[tuple[dict[str, Json], dict[str, Json]]]:
    """Items with their handlers: a group has several, any other item is one itself."""
    for item in items:
        if not isinstance(item, dict):
            continue
        inner = item.get("hooks")
        if isinstance(inner, list):
            yield from ((item, handler) for handler in inner if isinstance(handler, dict))
        else:
            yield item, item


def _name(handler: Mapping[str, Json]) -> str:
    url = handler.get("url")
    if isinstance(url, str):
        if is_our_url(url):
            return OURS
        return _host(url)
    command = next((text for key in ("command", "bash", "powershell") if isinstance(text := handler.get(key), str)), "")
    if is_ours(command):
        return OURS
    return program(command)


def program(command: str) -> str:
    """The name of what a command runs; of an interpreter, that of the script that it is given."""
    words = [word for word in words_of(command) if not _ASSIGNMENT.match(word)]
    names = [word.rstrip("/").rpartition("/")[2] for word in words]
    if names and _INTERPRETER.fullmatch(names[0]):
        script = next((at for at in range(1, len(words)) if not words[at].startswith("-")), 0)
        if " " not in words[script]:
            names = names[script:]
    if names and names[0]:
        return names[0][:_MOST_NAME]
    return "?"


def _host(url: str) -> str:
    try:
        return (urlsplit(url).hostname or "?")[:_MOST_NAME]
    except ValueError:
        return "?"


def _snake(text: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", text).lower()


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
