"""Cline's settings: what is approved by itself, its MCP servers, and where its files are.

Owns the keys of its global state and of cline_mcp_settings.json, as its CLI keeps them; the editor's extension keeps its
state in a database of the editor, which is not seen. Source: its settings' source and its pages.
"""

from __future__ import annotations

from collections.abc import Iterator

from tallystick.agents.settings import Hit
from tallystick.agents.settings.parsed import Document
from tallystick.agents.settings.rules import rule_named

NAME = "cline"

YOLO = rule_named("cline.yolo")
ALL_COMMANDS = rule_named("cline.approves-any-command")
OUTSIDE = rule_named("cline.edits-outside")
HOOKS_OFF = rule_named("cline.hooks-off")


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
