"""Cursor's settings, as far as they are files: permissions of its CLI, lists of what runs by itself, its sandbox.

Owns the keys of cli-config.json, permissions.json and sandbox.json. What is switched in the editor's own window is kept in a
database of the editor and is not seen. Source: its reference pages; it was never run here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tallystick.agents.settings import Hit
from tallystick.agents.settings.parsed import Document
from tallystick.agents.settings.rules import rule_named

NAME = "cursor"

UNRESTRICTED = rule_named("cursor.runs-everything")
ALLOWS_SHELL = rule_named("cursor.allows-any-command")
ALLOWS_WRITES = rule_named("cursor.allows-any-write")
ALLOWS_TOOLS = rule_named("cursor.allows-any-server-tool")
NO_SANDBOX = rule_named("cursor.sandbox-off")
ANY_HOST = rule_named("cursor.sandbox-any-host")
WIDE_PATH = rule_named("cursor.sandbox-wide-path")

_SHELL = re.compile(r"Shell\(\s*(?:\*|\*\*|\*:\*)?\s*\)|Shell")
_WRITE = re.compile(r"Write\(\s*(?:\*|\*\*|\*\*/\*|/\*\*|~/\*\*)\s*\)|Write")
_TOOL = re.compile(r"Mcp\(\s*(?:\*\*?|\*\s*[,:]\s*\*)\s*\)|Mcp")
_WHOLE = frozenset(("/", "~", "~/", "$HOME", "/home", "/Users", "/etc", "/usr"))


def look(document: Document) -> Iterator[Hit]:
    """What is risky in one of its settings files."""
    if document.at("approvalMode") == "unrestricted":
        yield Hit(rule=UNRESTRICTED, where=("approvalMode",), said="unrestricted")
    for where, allowed in document.texts("permissions", "allow"):
        for rule, pattern in ((ALLOWS_SHELL, _SHELL), (ALLOWS_WRITES, _WRITE), (ALLOWS_TOOLS, _TOOL)):
            if pattern.fullmatch(allowed.strip()[:200]):
                yield Hit(rule=rule, where=where, said=allowed)
    for where, allowed in document.texts("terminalAllowlist"):
        if allowed.strip() in ("*", "**"):
            yield Hit(rule=ALLOWS_SHELL, where=where, said=allowed)
    for where, allowed in document.texts("mcpAllowlist"):
        if allowed.strip() in ("*", "*:*"):
            yield Hit(rule=ALLOWS_TOOLS, where=where, said=allowed)
    yield from _sandbox(document)


def _sandbox(document: Document) -> Iterator[Hit]:
    for rule, place, value in (
        (NO_SANDBOX, ("sandbox", "mode"), "disabled"),
        (NO_SANDBOX, ("type",), "insecure_none"),
        (ANY_HOST, ("sandbox", "networkAccess"), "allow_all"),
        (ANY_HOST, ("networkPolicy", "default"), "allow"),
    ):
        if document.at(*place) == value:
            yield Hit(rule=rule, where=place, said=value)
    for where, path in document.texts("additionalReadwritePaths"):
        parts = path.rstrip("/").split("/")
        if path in _WHOLE or (parts[:2] in (["", "home"], ["", "Users"]) and len(parts) == 3):
            yield Hit(rule=WIDE_PATH, where=where, said=path)
