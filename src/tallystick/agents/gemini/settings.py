"""Gemini CLI's settings: what runs without a question, and where its files are.

Owns its own keys of settings.json; those that Qwen Code has too are in `genai`. Source: its configuration reference.
"""

from __future__ import annotations

from collections.abc import Iterator

from tallystick.agents.settings import Hit, genai
from tallystick.agents.settings.parsed import Document
from tallystick.agents.settings.rules import rule_named

NAME = "gemini"

AUTO_EDIT = rule_named("gemini.edits-unasked")
AUTO_ACCEPT = rule_named("gemini.auto-accept")
KEEPS_APPROVALS = rule_named("gemini.permanent-approval")
NO_RETENTION = rule_named("gemini.history-unbounded")


def look(document: Document) -> Iterator[Hit]:
    """What is risky in one of its settings files."""
    yield from genai.look(document, (("tools", "allowed"),))
    if document.at("general", "defaultApprovalMode") == "auto_edit":
        yield Hit(rule=AUTO_EDIT, where=("general", "defaultApprovalMode"), said="auto_edit")
    for rule, where in (
        (AUTO_ACCEPT, ("tools", "autoAccept")),
        (KEEPS_APPROVALS, ("security", "enablePermanentToolApproval")),
    ):
        if document.is_on(*where):
            yield Hit(rule=rule, where=where, said="true")
    if document.is_off("general", "sessionRetention", "enabled"):
        yield Hit(rule=NO_RETENTION, where=("general", "sessionRetention", "enabled"), said="false")
