"""What the settings of Gemini CLI and of Qwen Code have in common, the one having come from the other.

Owns the rules on these keys. Must not know where either keeps its files.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tallystick.agents.settings import Confidence, Hit, Rule, Severity
from tallystick.agents.settings.mcp import host_of, is_loopback
from tallystick.agents.settings.parsed import Document

ALLOWS_SHELL = Rule(
    "genai.allows-any-command",
    Severity.HIGH,
    Confidence.CONFIRMED,
    "Every shell command runs without a question (Gemini CLI, Qwen Code).",
    "Name the commands: `run_shell_command(git status)`.",
)
ALLOWS_WRITES = Rule(
    "genai.allows-any-write",
    Severity.MEDIUM,
    Confidence.CONFIRMED,
    "Files are written without a question (Gemini CLI, Qwen Code).",
    "Take the tool out of the list.",
)
NO_TRUST = Rule(
    "genai.folder-trust-off",
    Severity.MEDIUM,
    Confidence.CONFIRMED,
    "A project's settings are obeyed in every folder without asking whether it is trusted (Gemini CLI, Qwen Code).",
    "Take `security.folderTrust.enabled = false` out.",
)
PROMPTS = Rule(
    "genai.telemetry-prompts",
    Severity.MEDIUM,
    Confidence.CONFIRMED,
    "Telemetry is on and carries the words of prompts (Gemini CLI, Qwen Code).",
    "Set `telemetry.logPrompts` to false.",
)
PLAIN_COLLECTOR = Rule(
    "genai.telemetry-plaintext",
    Severity.MEDIUM,
    Confidence.CONFIRMED,
    "Telemetry is sent without TLS to another machine (Gemini CLI, Qwen Code).",
    "Use https:// for `telemetry.otlpEndpoint`.",
)

_ANY_SHELL = re.compile(r"(?:run_shell_command|ShellTool|Bash)(?:\(\s*\**\s*\))?|\*")
_ANY_WRITE = re.compile(r"(?:write_file|replace|edit|WriteFileTool|EditTool|Edit|Write)(?:\(\s*\**\s*\))?")


def look(document: Document, allowed: tuple[tuple[str, ...], ...]) -> Iterator[Hit]:
    """What is risky by the keys of both.

    Args:
        allowed: where the lists of tools stand that run without a question.
    """
    for place in allowed:
        for where, tool in document.texts(*place):
            if _ANY_SHELL.fullmatch(tool.strip()[:200]):
                yield Hit(rule=ALLOWS_SHELL, where=where, said=tool)
            elif _ANY_WRITE.fullmatch(tool.strip()[:200]):
                yield Hit(rule=ALLOWS_WRITES, where=where, said=tool)
    if document.is_off("security", "folderTrust", "enabled"):
        yield Hit(rule=NO_TRUST, where=("security", "folderTrust", "enabled"), said="false")
    if document.is_on("telemetry", "enabled"):
        yield from _telemetry(document)


def _telemetry(document: Document) -> Iterator[Hit]:
    """Prompts are reported unless that is switched off."""
    if not document.is_off("telemetry", "logPrompts"):
        said = "on by default"
        if document.is_on("telemetry", "logPrompts"):
            said = "true"
        yield Hit(rule=PROMPTS, where=("telemetry", "logPrompts"), said=said)
    url = document.at("telemetry", "otlpEndpoint")
    found = None
    if isinstance(url, str):
        found = host_of(url)
    if found is not None and found[0] == "http" and not is_loopback(found[1]):
        yield Hit(rule=PLAIN_COLLECTOR, where=("telemetry", "otlpEndpoint"), said=f"http://{found[1]}")
