"""Gemini CLI's settings: what runs without a question, and where its files are.

Owns its own keys of settings.json; those that Qwen Code has too are in `genai`. Source: its configuration reference.
"""

from __future__ import annotations

from collections.abc import Iterator

from tallystick.agents.settings import Confidence, Hit, Rule, Severity, genai
from tallystick.agents.settings.parsed import Document

NAME = "gemini"

AUTO_EDIT = Rule(
    "gemini.edits-unasked",
    Severity.LOW,
    Confidence.CONFIRMED,
    "Sessions begin in the mode that writes files without a question.",
    "Set `general.defaultApprovalMode` to `default`.",
)
AUTO_ACCEPT = Rule(
    "gemini.auto-accept",
    Severity.LOW,
    Confidence.CONFIRMED,
    "Tool calls that the agent itself holds to be safe run without a question.",
    "Take `tools.autoAccept` out.",
)
KEEPS_APPROVALS = Rule(
    "gemini.permanent-approval",
    Severity.LOW,
    Confidence.CONFIRMED,
    "The question about a tool offers an approval for all future sessions.",
    "Take `security.enablePermanentToolApproval` out.",
)
NO_RETENTION = Rule(
    "gemini.history-unbounded",
    Severity.LOW,
    Confidence.CONFIRMED,
    "Old sessions are never deleted.",
    "Take `general.sessionRetention.enabled = false` out.",
)


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
