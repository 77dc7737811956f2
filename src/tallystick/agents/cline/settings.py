"""Cline's settings: what is approved by itself, its MCP servers, and where its files are.

Owns the keys of its global state and of cline_mcp_settings.json, as its CLI keeps them; the editor's extension keeps its
state in a database of the editor, which is not seen. Source: its settings' source and its pages.
"""

from __future__ import annotations

from collections.abc import Iterator

from tallystick.agents.settings import Confidence, Hit, Rule, Severity
from tallystick.agents.settings.parsed import Document

NAME = "cline"

YOLO = Rule(
    "cline.yolo",
    Severity.CRITICAL,
    Confidence.CONFIRMED,
    "Every action is approved by itself: files, commands, the browser, MCP tools.",
    "Switch YOLO mode and approve-all off in the settings.",
)
ALL_COMMANDS = Rule(
    "cline.approves-any-command",
    Severity.HIGH,
    Confidence.CONFIRMED,
    "Every shell command runs without a question, those that the agent itself holds to be risky too.",
    "Approve safe commands only.",
)
OUTSIDE = Rule(
    "cline.edits-outside",
    Severity.HIGH,
    Confidence.CONFIRMED,
    "Files outside the project are written without a question.",
    "Switch `edit all files` off.",
)
HOOKS_OFF = Rule(
    "cline.hooks-off",
    Severity.MEDIUM,
    Confidence.CONFIRMED,
    "Hooks are switched off: a recorder sees nothing while the agent works.",
    "Switch hooks on in the settings.",
)


def look(document: Document) -> Iterator[Hit]:
    """What is risky in one of its settings files."""
    for rule, where in (
        (YOLO, ("yoloModeToggled",)),
        (YOLO, ("autoApproveAllToggled",)),
        (ALL_COMMANDS, ("autoApprovalSettings", "actions", "executeAllCommands")),
    ):
        if document.is_on(*where):
            yield Hit(rule=rule, where=where, said="true")
    actions = ("autoApprovalSettings", "actions")
    if document.is_on(*actions, "editFiles") and document.is_on(*actions, "editFilesExternally"):
        yield Hit(rule=OUTSIDE, where=(*actions, "editFilesExternally"), said="true")
    if document.is_off("hooksEnabled"):
        yield Hit(rule=HOOKS_OFF, where=("hooksEnabled",), said="false")
