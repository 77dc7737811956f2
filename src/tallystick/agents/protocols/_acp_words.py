"""What agents call things over ACP, in the words of their own histories.

Owns the table of agents, and per agent the tool's name and the arguments of a call, so that the tap, the hooks and the
transcript of one agent say the same. Must not know the protocol's messages. Sources: captured traffic of each agent.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from tallystick.agents.kit.reading import dict_of, list_of, text_of
from tallystick.catalog.agents import AGENTS
from tallystick.model.step import Json

_AGENTS = {said: name for name, facts in AGENTS.items() for said in facts.calls_itself}
WITH_HISTORIES = frozenset(_AGENTS.values())
"""Agents whose own histories we read. They say what each model call used: to count a turn's sum too would count twice."""

_CODEX_OWN = frozenset(
    (
        "call_id", "turn_id", "process_id", "started_at_ms", "completed_at_ms", "parsed_cmd", "source", "auto_approved",
        "available_decisions", "proposed_execpolicy_amendment", "proposed_network_policy_amendments",
    )
)  # fmt: skip
_HERMES_NO_CALL = re.compile(r"(?:perm-check|edit-approval)-")
_HERMES_TITLES = {"write": "write_file", "read": "read_file", "search": "search_files", "web search": "web_search"}
_GEMINI_CALL = re.compile(r"(.+?)__(?=[^_])")


def agent_name(said: str) -> str:
    """The agent that calls itself so: the name of its histories if we know it, else its own, as a word of the format."""
    last = said.strip().lower().rsplit("/", 1)[-1]
    word = re.sub(r"[^A-Za-z0-9._:/@#~+-]+|\.\.+", "-", last).strip("-./:@#~+_")[:60]
    return _AGENTS.get(word, word) or "acp"


def tool_name(agent: str, update: Mapping[str, Json], args: Json) -> str | None:
    """The agent's own name of a tool, as far as one message of the call tells; None if it does not."""
    meta = dict_of(update.get("_meta"))
    told = text_of(dict_of(meta.get("claudeCode")).get("toolName")) or text_of(meta.get("toolName"))
    if told:
        return told
    guess = _GUESSES.get(agent)
    if guess is not None:
        return guess(update, dict_of(args))
    return None


def _codex_tool(update: Mapping[str, Json], args: Mapping[str, Json]) -> str | None:
    if "changes" in dict_of(update.get("rawInput")):
        return "apply_patch"
    if "cmd" in args or "command" in args:
        return "exec_command"
    return None


def _copilot_tool(update: Mapping[str, Json], args: Mapping[str, Json]) -> str | None:
    for member, tool in (("command", "bash"), ("file_text", "create"), ("old_str", "edit"), ("view_range", "view")):
        if member in args:
            return tool
    return None


def _gemini_tool(update: Mapping[str, Json], args: Mapping[str, Json]) -> str | None:
    found = _GEMINI_CALL.match(text_of(update.get("toolCallId")) or "")
    if found:
        return found[1]
    return None


def _opencode_tool(update: Mapping[str, Json], args: Mapping[str, Json]) -> str | None:
    """The first message of a call has the tool's name for a title; later ones say what it works on."""
    title = text_of(update.get("title"))
    is_first = update.get("sessionUpdate") == "tool_call" and update.get("status") == "pending"
    if title and is_first and re.fullmatch(r"[\w.-]{1,80}", title):
        return title
    return None


def _hermes_tool(update: Mapping[str, Json], args: Mapping[str, Json]) -> str | None:
    """Titles begin with the tool's name and a colon."""
    name, colon, _ = (text_of(update.get("title")) or "").partition(":")
    word = name.partition(" (")[0]
    if colon and re.fullmatch(r"[a-z_ ]{1,40}", word):
        return _HERMES_TITLES.get(word, word)
    return None


_GUESSES = {
    "codex": _codex_tool,
    "copilot": _copilot_tool,
    "gemini": _gemini_tool,
    "opencode": _opencode_tool,
    "hermes": _hermes_tool,
}


def arguments(agent: str, raw: Json) -> tuple[Json, str | None]:
    """The arguments of a call as the model gave them, and the folder it runs in, which some agents put among them."""
    if not isinstance(raw, dict):
        return raw, None
    if agent == "codex":
        return _codex_arguments(raw)
    if agent == "hermes" and raw.keys() == {"tool", "arguments"}:
        return raw["arguments"], None
    if agent == "opencode" and text_of(raw.get("cwd")) is not None:
        return {key: value for key, value in raw.items() if key != "cwd"} or None, raw["cwd"]
    return raw, None


def _codex_arguments(raw: Mapping[str, Json]) -> tuple[Json, str | None]:
    """A shell around a script is Codex' own, and so is a patch taken apart: the model gave neither."""
    rest = {key: value for key, value in raw.items() if key not in _CODEX_OWN}
    cwd, command = text_of(rest.pop("cwd", None)), rest.get("command")
    if isinstance(command, list) and len(command) == 3 and command[1] in ("-lc", "-c"):
        rest = {"cmd": command[2], **{key: value for key, value in rest.items() if key != "command"}}
    return (None if rest.keys() <= {"changes", "reason", "grant_root"} else rest), cwd


def is_call(agent: str, call: str) -> bool:
    """Whether the id is that of a tool call: some agents number their questions otherwise."""
    return not (agent == "hermes" and _HERMES_NO_CALL.match(call))


def output_of(agent: str, raw: Json) -> tuple[Json, Json]:
    """What the tool answered, and the rest of what the agent says of it (None: nothing more)."""
    members = dict_of(raw)
    if agent == "qwen" and members:
        return None, raw  # what the model was told is in the content
    for key in ("formatted_output", "aggregated_output", "output", "content", "stdout"):
        text = members.get(key)
        if isinstance(text, str):
            own: tuple[str, ...] = ()
            if agent == "codex":
                own = (*_CODEX_OWN, "command", "cwd")
            rest = {name: value for name, value in members.items() if value != text and name not in own}
            return text, rest or None
    return raw, None


def has_native_ids(agent: str) -> bool:
    """Whether a call's id over ACP is the one that the model gave it. Hermes makes its own for live calls."""
    return agent != "hermes"


def told_arguments(agent: str, title: str | None) -> Json:
    """Arguments that the title of a call tells whole, where the agent gives no others."""
    before, colon, command = (title or "").partition(": ")
    is_whole = agent == "hermes" and before == "terminal" and not command.endswith("...")
    if colon and is_whole:
        return {"command": command}
    return None


def tells_error(agent: str) -> bool:
    """Whether the agent's history has the output of a failed call as an error rather than as output."""
    return agent == "opencode"


def exit_code(raw: Json) -> int | None:
    """The exit code of a command, where the raw output has one."""
    members = dict_of(raw)
    shells = [dict_of(item).get("exitCode") for item in list_of(members.get("contents"))]
    told = (members.get("exit_code"), members.get("exitCode"), dict_of(members.get("metadata")).get("exit"), *shells)
    return next((code for code in told if type(code) is int), None)
