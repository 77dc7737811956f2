"""What a call of a tool does.

Owns the way from a tool's name to its rule: namespaces, MCP servers, tools that call other tools. Must not know the rules.
"""

from __future__ import annotations

import re
from functools import lru_cache

from msgspec import structs

from tallystick.intent.tools.arguments import objects_among, plain_name, text_among
from tallystick.intent.tools.draft import Draft
from tallystick.intent.tools.known import CALLING, FILE_RULES, REACHING_RULES, TABLE, Rule
from tallystick.intent.tools.unlisted import is_local, unlisted
from tallystick.intent.tools.uses import Code, ToolCall, Uses
from tallystick.model.pattern import pattern_of
from tallystick.model.raw import legible
from tallystick.model.step import Json

__all__ = ["Code", "Uses", "uses_of"]

_MOST_NESTED = 3
_MOST_CALLS = 50
_MCP = pattern_of(r"mcp__(.{1,100}?)__(.{1,200})\Z", re.DOTALL)
_MCP_PLAIN = pattern_of(r"(?:mcp_([A-Za-z0-9-]{1,100})_|MCP:)(.{1,200})\Z", re.DOTALL)
_MCP_JOINED = pattern_of(r"((?:[A-Za-z0-9]{1,50}-){0,4}mcp(?:-server)?)[-_](.{1,200})\Z")
_SPLIT = pattern_of(r"(?:([^/.\s]{1,100})[/.])?([^/.\s]{1,200})\Z")
_FORMS = (_MCP, _MCP_PLAIN, _MCP_JOINED, _SPLIT)
_OWN_NAMESPACES = frozenset(("functions", "function", "tools", "default_api", "collaboration", "builtin", "native"))
_SUFFIX = pattern_of(r"[-_.:/]")


def uses_of(call: ToolCall) -> Uses:
    """What a call does, as far as its arguments tell. Never raises for anything that JSON can hold."""
    draft = Draft(structs.replace(call, tool=str(legible(call.tool)), args=legible(call.args)))
    _read(draft, call.tool, 0)
    return draft.done()


def _read(draft: Draft, tool: str, depth: int) -> None:
    rule, of_server, method = _found(tool[:400])
    nested = None
    if rule is None:
        nested = _NESTED.get(plain_name(method))
    if rule is not None and _holds(draft, rule, of_server):
        rule(draft)
    elif nested is not None and of_server is None and depth < _MOST_NESTED and nested(draft, depth):
        pass
    else:
        unlisted(draft, of_server if of_server is not None else draft.server, method)


@lru_cache(maxsize=1024)
def _found(tool: str) -> tuple[Rule | None, str | None, str]:
    """The rule for a tool, the MCP server it belongs to, and its name there."""
    tool = tool.strip()
    rule = TABLE.get(plain_name(tool))
    if rule is not None or plain_name(tool) in CALLING:
        return rule, None, tool
    named = next((found for form in _FORMS if (found := form.match(tool))), None)
    if named is not None and (named[1] or tool.startswith("MCP:")):
        server, method = named[1] or "", named[2]
        rule = TABLE.get(plain_name(method))
        return rule, None if server in _OWN_NAMESPACES else server, method
    # opencode and Copilot CLI put a server's name and a `_` or `-` before the tool's: a name of two words tells the place.
    for joint in _SUFFIX.finditer(tool):
        method = tool[joint.end() :]
        if "_" in method and plain_name(method) in TABLE:
            return TABLE[plain_name(method)], tool[: joint.start()], method
    return None, None, tool


def _holds(draft: Draft, rule: Rule, server: str | None) -> bool:
    """Whether a rule holds for a tool of this server: its paths may be of another machine."""
    if server is None or rule in REACHING_RULES:
        return True
    if rule not in FILE_RULES:
        return False
    return is_local(server) or any(
        isinstance(value, str) and value.startswith(("/", "~/", "file://")) and "\n" not in value
        for value in draft.members.values()
    )


# Tools that call tools ------------------------------------------------------------------------------------------------


def _call(draft: Draft, tool: str | None, args: Json, depth: int) -> bool:
    """Read a call inside of a call, into the same draft."""
    if tool is None:
        return False
    _read(draft.inner(tool, args), tool, depth + 1)
    return True


def _parallel(draft: Draft, depth: int) -> bool:
    """`multi_tool_use.parallel`, opencode's `batch`: several calls, each with its name and arguments."""
    calls = objects_among(draft.members, "tooluses", "toolcalls", "calls", "invocations")[:_MOST_CALLS]
    for call in calls:
        name = text_among(call, "recipientname", "tool", "name", "toolname")
        inner = next((call[key] for key in ("parameters", "args", "arguments", "input") if key in call), None)
        _call(draft, name, inner, depth)
    return bool(calls)


def _of_mcp(draft: Draft, depth: int) -> bool:
    """Cline's `use_mcp_tool`, Cursor's `CallMcpTool`: a server, a tool and its arguments."""
    members = draft.members
    server, name = text_among(members, "servername", "server"), text_among(members, "toolname", "tool", "name")
    inner = members.get("arguments", members.get("args"))
    return _call(draft, f"mcp__{server or '?'}__{name}" if name is not None else None, inner, depth)


def _script(draft: Draft, depth: int) -> bool:
    """Codex's code mode: a script that calls tools. What else it does is for `shell.code` to read."""
    text = draft.text
    if text is None:
        text = text_among(draft.members, "code", "input", "source")
    if text is None:
        return False
    draft.codes.append(Code("javascript" if "tools." in text or "await " in text else "python", text))
    return True


def _process(draft: Draft, depth: int) -> bool:
    """Hermes' `process`: what becomes of a command in the background."""
    action = (text_among(draft.members, "action") or "").lower()
    rule = {"kill": "stopbash", "write": "writestdin", "submit": "writestdin"}.get(action)
    if rule is not None:
        TABLE[rule](draft)
    return True


_NESTED = {
    "exec": _script,
    "multitooluseparallel": _parallel,
    "parallel": _parallel,
    "batch": _parallel,
    "usemcptool": _of_mcp,
    "callmcptool": _of_mcp,
    "process": _process,
}
