"""Qwen Code's settings: what runs without a question, and where its files are.

Owns its own keys of settings.json; those that Gemini CLI has too are in `genai`. Source: its settings reference and schema.
"""

from __future__ import annotations

from collections.abc import Iterator

from tallystick.agents.settings import Confidence, Hit, Kind, Rule, Severity, genai, managed, project, user
from tallystick.agents.settings.parsed import Document

NAME = "qwen"
_HOME = "QWEN_HOME"
PLACES = (
    user(".qwen/settings.json", variable=_HOME),
    user(".qwen/QWEN.md", Kind.INSTRUCTIONS, variable=_HOME),
    user(".qwen/skills", Kind.SKILL, variable=_HOME, endings=(".md",)),
    user(".qwen/skills", Kind.PROGRAM, variable=_HOME, endings=(".sh", ".py", ".js")),
    user(".qwen/agents", Kind.SKILL, variable=_HOME, endings=(".md",)),
    project(".qwen/settings.json"),
    project("QWEN.md", Kind.INSTRUCTIONS),
    project("AGENTS.md", Kind.INSTRUCTIONS),
    project(".qwen/skills", Kind.SKILL, endings=(".md",)),
    project(".qwen/skills", Kind.PROGRAM, endings=(".sh", ".py", ".js")),
    project(".qwen/agents", Kind.SKILL, endings=(".md",)),
    managed("etc/qwen-code/settings.json"),
    managed("etc/qwen-code/system-defaults.json"),
    managed("Library/Application Support/QwenCode/settings.json"),
)
SERVERS = (("mcpServers",),)
UNSEEN = ("extensions",)

YOLO = Rule(
    "qwen.yolo",
    Severity.CRITICAL,
    Confidence.CONFIRMED,
    "Sessions begin in the mode that asks about nothing: every tool call runs.",
    "Set `tools.approvalMode` to `default` or `auto-edit`.",
)
AUTO_EDIT = Rule(
    "qwen.edits-unasked",
    Severity.LOW,
    Confidence.CONFIRMED,
    "Sessions begin in the mode that writes files without a question.",
    "Set `tools.approvalMode` to `default`.",
)
BYPASS = Rule(
    "qwen.bypass-permissions",
    Severity.CRITICAL,
    Confidence.CONFIRMED,
    "Sessions begin in the permission mode that skips ordinary questions.",
    "Set `general.defaultPermissionMode` to `default`.",
)


def look(document: Document) -> Iterator[Hit]:
    """What is risky in one of its settings files."""
    yield from genai.look(document, (("tools", "allowed"), ("permissions", "allow")))
    mode = document.at("tools", "approvalMode")
    for rule, value in ((YOLO, "yolo"), (AUTO_EDIT, "auto-edit")):
        if mode == value:
            yield Hit(rule=rule, where=("tools", "approvalMode"), said=value)
    if document.at("general", "defaultPermissionMode") == "bypass_permissions":
        yield Hit(rule=BYPASS, where=("general", "defaultPermissionMode"), said="bypass_permissions")
