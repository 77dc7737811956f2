"""Qwen Code's settings: what runs without a question, and where its files are.

Owns its own keys of settings.json; those that Gemini CLI has too are in `genai`. Source: its settings reference and schema.
"""

from __future__ import annotations

from collections.abc import Iterator

from tallystick.agents.settings import Hit, genai
from tallystick.agents.settings.parsed import Document
from tallystick.agents.settings.rules import rule_named

NAME = "qwen"

YOLO = rule_named("qwen.yolo")
AUTO_EDIT = rule_named("qwen.edits-unasked")
BYPASS = rule_named("qwen.bypass-permissions")


def look(document: Document) -> Iterator[Hit]:
    """What is risky in one of its settings files."""
    yield from genai.look(document, (("tools", "allowed"), ("permissions", "allow")))
    mode = document.at("tools", "approvalMode")
    for rule, value in ((YOLO, "yolo"), (AUTO_EDIT, "auto-edit")):
        if mode == value:
            yield Hit(rule=rule, where=("tools", "approvalMode"), said=value)
    if document.at("general", "defaultPermissionMode") == "bypass_permissions":
        yield Hit(rule=BYPASS, where=("general", "defaultPermissionMode"), said="bypass_permissions")
