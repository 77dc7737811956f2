"""The table of tools: which name is read by which rule.

Owns the rule for each of the catalogue's words; which agent calls its tools what is in the catalogue, and
`arguments.plain_name` makes one spelling of it. Must not know how a rule works.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tallystick.catalog.agents import AGENTS, SHARED_TOOLS
from tallystick.intent.tools import files, running
from tallystick.intent.tools.arguments import plain_name
from tallystick.intent.tools.draft import Draft
from tallystick.intent.tools.memory import keeps_skill, memorizes
from tallystick.intent.tools.reaching import fetches, reads_resource, searches_web, sends_message

Rule = Callable[[Draft], None]

_RULES: dict[str, Rule] = {
    "append": files.appends,
    "by_command": files.by_command,
    "copy": files.copies,
    "delete": files.deletes,
    "edit": files.edits,
    "edit_or_write": files.edits_or_writes,
    "fetch": fetches,
    "javascript": running.runs_javascript,
    "keep_skill": keeps_skill,
    "list": files.lists,
    "look": files.looks,
    "make_folder": files.makes_folders,
    "memory": memorizes,
    "message": sends_message,
    "move": files.moves,
    "nothing": running.nothing,
    "patch": files.patches,
    "powershell": running.runs_powershell,
    "python": running.runs_python,
    "read": files.reads,
    "read_resource": reads_resource,
    "save": files.saves,
    "schedule": running.schedules,
    "search": files.searches,
    "search_web": searches_web,
    "shell": running.shells,
    "skill": running.uses_skill,
    "sql": running.runs_sql,
    "start_agent": running.starts_agent,
    "stop": running.stops,
    "task": running.runs_task,
    "tree": files.lists_all,
    "type": running.types_into,
    "write": files.writes,
}
"""What a tool does, by the catalogue's word for it. `calls` is a tool that calls other tools."""
_CALLS = "calls"


def _named() -> Iterator[tuple[str, str]]:
    """The plain names of all tools, each with the word for what it does."""
    for tools in (SHARED_TOOLS, *(facts.tools for facts in AGENTS.values())):
        yield from ((plain_name(name), word) for word, names in tools.items() for name in names)


TABLE: dict[str, Rule] = {name: _RULES[word] for name, word in _named() if word != _CALLS}
"""Rules by the plain names of tools."""

FILE_RULES = frozenset(
    (
        files.reads, files.lists, files.lists_all, files.searches, files.writes, files.saves, files.appends, files.edits,
        files.patches, files.by_command, files.deletes, files.moves, files.copies, files.makes_folders, files.looks,
    )
)  # fmt: skip
"""Rules that take paths: of an MCP server they hold if its paths are on this machine."""

REACHING_RULES = frozenset(
    (running.shells, running.runs_python, running.runs_javascript, running.runs_powershell, running.runs_sql, fetches,
     searches_web, running.types_into)
)  # fmt: skip
"""Rules that hold for a tool of any MCP server."""

CALLING = frozenset(name for name, word in _named() if word == _CALLS)
"""Tools that call other tools: `uses` reads them."""


def known_tools() -> frozenset[str]:
    """The plain names of all tools that are understood by name."""
    return CALLING | TABLE.keys()
