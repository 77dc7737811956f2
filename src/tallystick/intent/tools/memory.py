"""Tools that keep something for later sessions.

Owns what such a tool does to the files that the catalogue names. Must not know what a memory says.
"""

from __future__ import annotations

from tallystick.catalog.agents import AGENTS
from tallystick.intent.tools.arguments import NAMES, plain_name, text_among
from tallystick.intent.tools.draft import Draft
from tallystick.model.intent import Operation

_FILES = {name: facts.memory.user_file for name, facts in AGENTS.items() if facts.memory.user_file is not None}
"""Where `save_memory` of these agents adds a line, unless it is told to keep it with the project."""
_PROJECT_FILES = {
    name: facts.memory.project_file for name, facts in AGENTS.items() if facts.memory.project_file is not None
}
_SKILLS = next(facts.memory.skills for facts in AGENTS.values() if facts.memory.skills is not None)
"""Only one agent has a tool that keeps skills."""


def memory_file(tool: str, agent: str | None) -> str | None:
    """The file, as `~/…`, in which a tool of an agent keeps what it is known; None: it is another tool."""
    if plain_name(tool) == "savememory":
        return _FILES.get(agent or "")
    return None


def keeps_skill(draft: Draft) -> None:
    """A tool that keeps skills: a skill is a folder of files, the first of which says what it is for."""
    name, members = text_among(draft.members, "name"), draft.members
    if name is None or "/" in name:
        draft.unknown()
        return
    action = (text_among(members, "action") or "").lower()
    place = f"{_SKILLS}/{name}"
    if action in ("delete", "remove_file"):
        file = text_among(members, "filepath")
        draft.file(Operation.DELETE, f"{place}/{file}" if file is not None else place, is_deep=file is None)
        return
    file = text_among(members, "filepath") or "SKILL.md"
    if action in ("edit", "patch"):
        operation = Operation.EDIT
    else:
        operation = Operation.WRITE
    content = text_among(members, "content", "filecontent")
    if action == "patch":
        content = None
    draft.author(operation, f"{place}/{file}", content)


def memorizes(draft: Draft) -> None:
    """A tool that adds to the agent's memory, changes or reads it."""
    path = text_among(draft.members, "path", "filepath")
    action = (text_among(draft.members, "action", "command", "operation") or "").lower().replace("_", "")
    if path is not None and not path.startswith(
        "/memories"
    ):  # those are in a store of the agent's, not in the file system
        if action in NAMES.changing:
            draft.author(Operation.EDIT, path)
        else:
            draft.file(Operation.READ, path)
        return
    if draft.members.get("scope") == "project":
        files = _PROJECT_FILES
    else:
        files = _FILES
    place = files.get(draft.agent or "")
    if place is not None and draft.members.get("fact") is not None:
        draft.author(Operation.APPEND, place)
    elif action in NAMES.changing:
        draft.files(Operation.APPEND, (), is_authored=True)
    else:
        draft.files(Operation.READ, ())
