"""Tools that keep something for later sessions.

Owns the files in which agents keep it, where that is known. Must not know what a memory says.
"""

from __future__ import annotations

from tallystick.model.intent import Operation
from tallystick.tools.arguments import text_among
from tallystick.tools.draft import Draft

_FILES = {"gemini": "~/.gemini/GEMINI.md", "qwen": "~/.qwen/QWEN.md"}
"""Where `save_memory` of these agents adds a line, unless it is told to keep it with the project."""
_PROJECT_FILES = {"gemini": "GEMINI.md", "qwen": "QWEN.md"}
_CHANGES = (
    "add",
    "create",
    "replace",
    "remove",
    "delete",
    "insert",
    "strreplace",
    "update",
    "rename",
    "write",
    "save",
    "",
)


def memorizes(draft: Draft) -> None:
    """A tool that adds to the agent's memory, changes or reads it."""
    path = text_among(draft.members, "path", "filepath")
    action = (text_among(draft.members, "action", "command", "operation") or "").lower().replace("_", "")
    if path is not None and not path.startswith(
        "/memories"
    ):  # those are in a store of the agent's, not in the file system
        draft.file(Operation.EDIT if action in _CHANGES else Operation.READ, path, is_authored=action in _CHANGES)
        return
    files = _PROJECT_FILES if draft.members.get("scope") == "project" else _FILES
    place = files.get(draft.agent or "")
    if place is not None and draft.members.get("fact") is not None:
        draft.file(Operation.APPEND, place, is_authored=True)
    elif action in _CHANGES:
        draft.files(Operation.APPEND, (), is_authored=True)
    else:
        draft.files(Operation.READ, ())
