"""The table of tools: which name is read by which rule.

Owns the names, as agents call their tools; `arguments.plain_name` makes one spelling of them. Must not know how a rule works.
Sources: the tool lists of the agents in docs/agents (Claude Code, Codex, Gemini CLI, Qwen Code, Copilot CLI and VS Code,
opencode, Cline, Cursor, gptme, Hermes, pi, mini-SWE-agent, SWE-agent, Windsurf, Droid), and of the reference MCP servers.
"""

from __future__ import annotations

from collections.abc import Callable

from tallystick.catalog.loading import load
from tallystick.intent.tools import files, running
from tallystick.intent.tools.arguments import plain_name
from tallystick.intent.tools.draft import Draft
from tallystick.intent.tools.memory import keeps_skill, memorizes
from tallystick.intent.tools.reaching import fetches, reads_resource, searches_web, sends_message

Rule = Callable[[Draft], None]


_RULES: dict[str, Rule] = {
    "nothing": running.nothing,
    "reads": files.reads,
    "lists": files.lists,
    "lists-all": files.lists_all,
    "searches": files.searches,
    "writes": files.writes,
    "saves": files.saves,
    "appends": files.appends,
    "edits": files.edits,
    "edits-or-writes": files.edits_or_writes,
    "patches": files.patches,
    "by-command": files.by_command,
    "deletes": files.deletes,
    "moves": files.moves,
    "copies": files.copies,
    "makes-folders": files.makes_folders,
    "looks": files.looks,
    "shells": running.shells,
    "runs-python": running.runs_python,
    "runs-javascript": running.runs_javascript,
    "runs-powershell": running.runs_powershell,
    "runs-sql": running.runs_sql,
    "runs-task": running.runs_task,
    "types-into": running.types_into,
    "stops": running.stops,
    "fetches": fetches,
    "searches-web": searches_web,
    "reads-resource": reads_resource,
    "starts-agent": running.starts_agent,
    "uses-skill": running.uses_skill,
    "schedules": running.schedules,
    "keeps-skill": keeps_skill,
    "memorizes": memorizes,
    "sends-message": sends_message,
}
"""Rules by the names that `catalog/tools.toml` gives them."""

TABLE: dict[str, Rule] = {
    plain_name(name): _RULES[rule]
    for rule, names in load("tools", dict[str, tuple[str, ...]]).items()
    for name in names
}
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


CALLING = frozenset(("exec", "multitooluseparallel", "parallel", "batch", "usemcptool", "callmcptool", "process"))
"""Tools that call other tools: `uses` reads them."""


def known_tools() -> frozenset[str]:
    """The plain names of all tools that are understood by name."""
    return CALLING | TABLE.keys()
