"""Claude Code's settings: permissions, the sandbox, hooks' switches, telemetry, and where its files are.

Owns the keys of settings.json, .claude.json and managed settings. Source: its settings reference.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tallystick.agents.settings import Hit
from tallystick.agents.settings.mcp import host_of, is_loopback
from tallystick.agents.settings.parsed import Document
from tallystick.agents.settings.rules import rule_named
from tallystick.catalog.agents import Base

NAME = "claude-code"

BYPASS = rule_named("claude.bypass-permissions")
SKIPS_WARNING = rule_named("claude.skips-bypass-warning")
ALLOWS_SHELL = rule_named("claude.allows-any-command")
ALLOWS_INTERPRETER = rule_named("claude.allows-interpreter")
ALLOWS_FETCH = rule_named("claude.allows-any-page")
ALLOWS_WRITES = rule_named("claude.allows-any-write")
WIDE_FOLDER = rule_named("claude.wide-folder")
ALL_SERVERS = rule_named("claude.all-project-servers")
SANDBOX_UNIX = rule_named("claude.sandbox-all-sockets")
SANDBOX_WEAK = rule_named("claude.sandbox-weakened")
SANDBOX_OPEN = rule_named("claude.sandbox-any-host")
MANAGED_HOOKS = rule_named("claude.managed-hooks-only")
PROMPTS = rule_named("claude.telemetry-prompts")
PLAIN_COLLECTOR = rule_named("claude.telemetry-plaintext")
LONG_HISTORY = rule_named("claude.long-history")
PROJECT_HELPER = rule_named("claude.project-key-helper")

_WHOLE_SHELL = re.compile(r"(?:Bash|PowerShell)(?:\(\s*(?:\*|:\*|\*:\*|\*\*|\* \*)?\s*\))?")
_INTERPRETER = re.compile(
    r"Bash\(\s*(?:sudo|(?:ba|z|da)?sh|python[\d.]*|node|deno|bun|perl|ruby|php|eval|exec|env|xargs|curl|wget|ssh|scp|docker|nc|npx|uvx"
    r"|osascript)(?:\s+(?:-c|-e|run|exec))?(?::\*|\s+\*|\s*\*)\s*\)"
)
_WRITE = re.compile(
    r"(?:Edit|Write|MultiEdit|NotebookEdit)(?:\(\s*(?:\*|\*\*|\*\*/\*|//\*\*|/\*\*/?\*?|~/\*\*|~/\*)?\s*\))?"
)
_FETCH = re.compile(r"WebFetch(?:\(\s*(?:domain:)?\*?\s*\))?")
_ALLOWED = (
    (ALLOWS_SHELL, _WHOLE_SHELL),
    (ALLOWS_INTERPRETER, _INTERPRETER),
    (ALLOWS_WRITES, _WRITE),
    (ALLOWS_FETCH, _FETCH),
)
_WHOLE = frozenset(("/", "~", "~/", "//", "$HOME", "${HOME}", "/home", "/Users", "C:\\", "/etc"))
_SOCKETS = re.compile(r"docker\.sock|podman\.sock|containerd\.sock|ssh-agent|/agent\.\d+")
_CONTENT_VARIABLES = ("OTEL_LOG_USER_PROMPTS", "OTEL_LOG_TOOL_CONTENT", "OTEL_LOG_RAW_API_BODIES")
_COLLECTORS = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_LOGS_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
_HELPERS = ("apiKeyHelper", "awsAuthRefresh", "awsCredentialExport", "otelHeadersHelper")
_MOST_DAYS = 366


def look(document: Document) -> Iterator[Hit]:
    """What is risky in one of its settings files."""
    yield from _permissions(document)
    yield from _sandbox(document)
    yield from _telemetry(document)
    if document.is_on("enableAllProjectMcpServers"):
        yield Hit(rule=ALL_SERVERS, where=("enableAllProjectMcpServers",), said="true")
    if document.base is Base.MANAGED and document.is_on("allowManagedHooksOnly"):
        yield Hit(rule=MANAGED_HOOKS, where=("allowManagedHooksOnly",), said="true")
    days = document.at("cleanupPeriodDays")
    if isinstance(days, int) and days > _MOST_DAYS:
        yield Hit(rule=LONG_HISTORY, where=("cleanupPeriodDays",), said=str(days))
    if document.base is Base.PROJECT:
        for key in _HELPERS:
            if isinstance(helper := document.at(key), str) and helper:
                yield Hit(rule=PROJECT_HELPER, where=(key,), said=helper)


def _permissions(document: Document) -> Iterator[Hit]:
    if document.at("permissions", "defaultMode") == "bypassPermissions":
        yield Hit(rule=BYPASS, where=("permissions", "defaultMode"), said="bypassPermissions")
    if document.is_on("skipDangerousModePermissionPrompt"):
        yield Hit(rule=SKIPS_WARNING, where=("skipDangerousModePermissionPrompt",), said="true")
    for where, allowed in document.texts("permissions", "allow"):
        for rule, pattern in _ALLOWED:
            if len(allowed) < 500 and pattern.fullmatch(allowed.strip()):
                yield Hit(rule=rule, where=where, said=allowed)
    for where, folder in document.texts("permissions", "additionalDirectories"):
        if folder in _WHOLE:
            yield Hit(rule=WIDE_FOLDER, where=where, said=folder)


def _sandbox(document: Document) -> Iterator[Hit]:
    if document.is_on("sandbox", "network", "allowAllUnixSockets"):
        yield Hit(rule=SANDBOX_UNIX, where=("sandbox", "network", "allowAllUnixSockets"), said="true")
    for where, socket in document.texts("sandbox", "network", "allowUnixSockets"):
        if _SOCKETS.search(socket):
            yield Hit(rule=SANDBOX_UNIX, where=where, said=socket)
    if document.is_on("sandbox", "enableWeakerNestedSandbox"):
        yield Hit(rule=SANDBOX_WEAK, where=("sandbox", "enableWeakerNestedSandbox"), said="true")
    for where, host in document.texts("sandbox", "network", "allowedDomains"):
        if host in ("*", "*.*"):
            yield Hit(rule=SANDBOX_OPEN, where=where, said=host)


def _telemetry(document: Document) -> Iterator[Hit]:
    for name in _CONTENT_VARIABLES:
        value = document.at("env", name)
        if isinstance(value, str | int) and str(value).lower() not in ("", "0", "false"):
            yield Hit(rule=PROMPTS, where=("env", name), said=name)
    for name in _COLLECTORS:
        url = document.at("env", name)
        found = None
        if isinstance(url, str):
            found = host_of(url)
        if found is not None and found[0] == "http" and not is_loopback(found[1]):
            yield Hit(rule=PLAIN_COLLECTOR, where=("env", name), said=f"http://{found[1]}")
