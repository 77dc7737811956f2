"""Qwen Code's settings: what runs without a question, and where its files are.

Owns its own keys of settings.json; those that Gemini CLI has too are in `genai`. Source: its settings reference and schema.
"""

from __future__ import annotations

from collections.abc import Iterator

from tallystick.agents.settings import Confidence, Hit, Rule, Severity, genai
from tallystick.agents.settings.parsed import Document

NAME = "qwen"

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
