"""What the settings of an agent and of those that came from it have in common: Gemini CLI and Qwen Code.

Owns the rules on these keys. Must not know where either keeps its files.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tallystick.agents.settings import Hit
from tallystick.agents.settings.mcp import host_of, is_loopback
from tallystick.agents.settings.parsed import Document
from tallystick.agents.settings.rules import rule_named

ALLOWS_SHELL = rule_named("genai.allows-any-command")
ALLOWS_WRITES = rule_named("genai.allows-any-write")
NO_TRUST = rule_named("genai.folder-trust-off")
PROMPTS = rule_named("genai.telemetry-prompts")
PLAIN_COLLECTOR = rule_named("genai.telemetry-plaintext")

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
