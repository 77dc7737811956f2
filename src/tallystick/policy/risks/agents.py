"""What a command does to an agent: starts one that no one watches, or changes what agents load.

Owns those words, the agents' programs, and their switches and verbs. Must not know the record's own places: `guarded` does.
Sources: the agents' command-line references (docs/agents).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tallystick.intent.tools.arguments import strings
from tallystick.policy.prompt_injection import tags_of
from tallystick.policy.reading import CallReading
from tallystick.policy.risks.programs import Started, programs
from tallystick.policy.risks.risk import Risk
from tallystick.policy.settings import Settings

RISKS: dict[str, str] = {
    "unguarded-agent": "An agent is started that asks nobody, or without its sandbox or its hooks.",
    "moved-agent": "An agent is started that looks for its settings, or the record, in another place.",
    "changes-agent": "An agent gets another server, plugin or setting by a command of its own.",
    "remembers-orders": "Text that orders an agent against its user goes into what it keeps for later sessions.",
}

_PROGRAMS = """
claude codex gemini qwen copilot cursor-agent cursor agent opencode cline hermes gptme pi aider goose amp droid crush auggie
kiro-cli q openhands mini claude-code claude-agent-acp codex-acp
"""
_NAMES = frozenset(_PROGRAMS.split())
_PACKAGES = {
    "@anthropic-ai/claude-code": "claude",
    "@openai/codex": "codex",
    "@google/gemini-cli": "gemini",
    "@qwen-code/qwen-code": "qwen",
    "@github/copilot": "copilot",
    "opencode-ai": "opencode",
    "aider-chat": "aider",
    "@sourcegraph/amp": "amp",
}
_RUNNERS = frozenset(("npx", "bunx", "pnpx", "uvx", "pipx", "npm", "pnpm", "yarn", "bun", "uv"))
_SWITCHES = """
--dangerously-skip-permissions --allow-dangerously-skip-permissions --dangerously-bypass-approvals-and-sandbox --yolo
--dangerously-bypass-hook-trust --yes-always --full-auto --allow-all-tools --allow-all --auto-approve --dangerously-allow-all
--skip-permissions-unsafe --trust-all-tools --no-sandbox --no-hooks --force-auto --always-approve
--dangerously-skip-approvals --unsafe --setting-sources --settings --bare
"""
_UNGUARDED = frozenset(_SWITCHES.split())
_SHORT = {
    **dict.fromkeys(("gemini", "qwen", "mini"), ("-y",)),
    "cursor-agent": ("-f", "--force"),
    "agent": ("--force",),
    "gptme": ("-y", "--no-confirm"),
    "aider": ("--yes",),
}
_SETTINGS = {
    "--permission-mode": frozenset(("bypasspermissions", "dontask", "auto")),
    "--approval-mode": frozenset(("yolo", "full-auto", "never", "auto-edit", "auto_edit")),
    "--ask-for-approval": frozenset(("never",)),
    "-a": frozenset(("never",)),
    "--sandbox": frozenset(("danger-full-access", "false", "none", "off")),
    "-s": frozenset(("danger-full-access",)),
}
_OFF = re.compile(
    r"disableallhooks|hooksconfig|bypasspermissions|approval_policy|danger-full-access|sandbox_mode|features\.(?:codex_)?hooks|"
    r"(?:^|\.)hooks\b|defaultmode|trust_level",
    re.IGNORECASE,
)
_CHANGING = {
    "mcp": ("add", "add-json", "add-from-claude-desktop", "remove", "enable", "disable", "install", "import", "set"),
    "config": ("set", "add", "remove", "unset", "edit"),
    "plugin": ("install", "add", "enable", "disable", "uninstall", "remove", "marketplace", "update"),
    "plugins": ("install", "add", "enable", "disable", "uninstall", "remove"),
    "extensions": ("install", "link", "enable", "disable", "uninstall", "update"),
    "extension": ("install", "link", "enable", "disable", "uninstall"),
    "hooks": ("add", "install", "remove", "disable", "enable", "migrate", "trust"),
    "skills": ("install", "add", "link"),
    "trust": ("add",),
}
_MOVED = re.compile(
    r"\b(?:TALLY_HOME|CLAUDE_CONFIG_DIR|CODEX_HOME|GEMINI_CLI_HOME|GEMINI_CLI_SYSTEM_SETTINGS_PATH|QWEN_HOME|COPILOT_HOME|HERMES_HOME|"
    r"OPENCODE_CONFIG\w{0,20}|XDG_CONFIG_HOME|CLAUDE_CODE_SIMPLE|(?<![\w-])HOME)=(?!\$\{?HOME\}?(?:\s|$))"
)
_TELLS = ("--help", "--version", "-V", "-v", "help", "version")


def risks(reading: CallReading, settings: Settings) -> Iterator[Risk]:
    """What a call does as a whole, of RISKS."""
    for started in programs(reading):
        found = _agent(started)
        if found is None or any(word in _TELLS for word in found[1][:1]):
            continue
        name, words = found
        if _is_unguarded(name, words):
            yield Risk("unguarded-agent", started.spelled)
        if _changes(words):
            yield Risk("changes-agent", started.spelled)
        if any(_MOVED.search(text[: 64 << 10]) for text in reading.texts):
            yield Risk("moved-agent", started.spelled)
    if _remembers(reading.call.tool):
        tags = tags_of("\n".join(text for key, text in strings(reading.call.args) if key not in _OLD))
        if tags:
            yield Risk("remembers-orders", ", ".join(sorted(tags)))


def _agent(started: Started) -> tuple[str, tuple[str, ...]] | None:
    """The agent that is started, and its arguments; also by a program that runs packages."""
    if started.name in _NAMES:
        return started.name, started.words
    if started.name in _RUNNERS:
        for n, word in enumerate(started.words[:6]):
            bare = word if word.startswith("@") and word.count("@") == 1 else word.rpartition("@")[0] or word
            if bare in _PACKAGES:
                return _PACKAGES[bare], started.words[n + 1 :]
    return None


def _is_unguarded(name: str, words: tuple[str, ...]) -> bool:
    for n, word in enumerate(words):
        flag, _, value = word.partition("=")
        if (flag in _UNGUARDED or word in _SHORT.get(name, ())) and value not in ("false", "0"):
            return True
        value = value or (words[n + 1] if n + 1 < len(words) else "")
        if value.lower() in _SETTINGS.get(flag, ()):
            return True
        if flag in ("-c", "--config") and _OFF.search(f"{word}={value}"):
            return True
    return False


def _changes(words: tuple[str, ...]) -> bool:
    operands = [word for word in words[:8] if word[:1] != "-"]
    return len(operands) > 1 and operands[1] in _CHANGING.get(operands[0], ())


# Memories ------------------------------------------------------------------------------------------------------------

_OLD = ("oldstring", "oldtext", "oldstr", "query", "search")
_MEMORY = re.compile(
    r"memor(?:y|ies|ize)|remember|mem0|knowledge.?graph|\bzep\b|graphiti|supermemory|observations|openmemory",
    re.IGNORECASE,
)
_LOOKS = re.compile(r"(?:^|_|\b)(?:search|read|get|list|query|find|recall|open|view|delete|remove)", re.IGNORECASE)


def _remembers(tool: str) -> bool:
    """Whether a tool, by its name, keeps something for later sessions."""
    return _MEMORY.search(tool[:400]) is not None and _LOOKS.search(tool.rpartition("__")[2][:400]) is None
