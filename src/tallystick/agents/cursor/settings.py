"""Cursor's settings, as far as they are files: permissions of its CLI, lists of what runs by itself, its sandbox.

Owns the keys of cli-config.json, permissions.json and sandbox.json. What is switched in the editor's own window is kept in a
database of the editor and is not seen. Source: its reference pages; it was never run here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tallystick.agents.settings import Confidence, Hit, Rule, Severity
from tallystick.agents.settings.parsed import Document

NAME = "cursor"

UNRESTRICTED = Rule(
    "cursor.runs-everything",
    Severity.CRITICAL,
    Confidence.CONFIRMED,
    "Every tool call runs without a question.",
    "Set `approvalMode` to `allowlist`.",
)
ALLOWS_SHELL = Rule(
    "cursor.allows-any-command",
    Severity.HIGH,
    Confidence.CONFIRMED,
    "A rule lets every shell command run without a question.",
    "Name the commands: `Shell(git)`.",
)
ALLOWS_WRITES = Rule(
    "cursor.allows-any-write",
    Severity.MEDIUM,
    Confidence.CONFIRMED,
    "A rule lets the agent write every file.",
    "Name folders: `Write(src/**)`.",
)
ALLOWS_TOOLS = Rule(
    "cursor.allows-any-server-tool",
    Severity.MEDIUM,
    Confidence.CONFIRMED,
    "A rule lets the tools of every MCP server run without a question.",
    "Name server and tool.",
)
NO_SANDBOX = Rule(
    "cursor.sandbox-off",
    Severity.MEDIUM,
    Confidence.CONFIRMED,
    "Commands run without the sandbox.",
    "Set `sandbox.mode` to `enabled`, and `type` to `workspace_readwrite`.",
)
ANY_HOST = Rule(
    "cursor.sandbox-any-host",
    Severity.MEDIUM,
    Confidence.CONFIRMED,
    "Commands in the sandbox reach every host.",
    "Deny by default and name hosts in `networkPolicy.allow`.",
)
WIDE_PATH = Rule(
    "cursor.sandbox-wide-path",
    Severity.HIGH,
    Confidence.CONFIRMED,
    "The sandbox lets commands write in the whole home folder or the whole file system.",
    "Name the folders that are needed in `additionalReadwritePaths`.",
)

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
