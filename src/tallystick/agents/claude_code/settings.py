"""Claude Code's settings: permissions, the sandbox, hooks' switches, telemetry, and where its files are.

Owns the keys of settings.json, .claude.json and managed settings. Source: its settings reference.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tallystick.agents.settings import Confidence, Hit, Rule, Severity
from tallystick.agents.settings.mcp import host_of, is_loopback
from tallystick.agents.settings.parsed import Document
from tallystick.catalog.agents import Base

NAME = "claude-code"

BYPASS = Rule(
    "claude.bypass-permissions",
    Severity.CRITICAL,
    Confidence.CONFIRMED,
    "Sessions begin in the mode that asks about nothing: every tool call runs.",
    "Set `permissions.defaultMode` to `default` or `acceptEdits`.",
)
SKIPS_WARNING = Rule(
    "claude.skips-bypass-warning",
    Severity.HIGH,
    Confidence.CONFIRMED,
    "The warning before the mode that asks about nothing is switched off.",
    "Take `skipDangerousModePermissionPrompt` out.",
)
ALLOWS_SHELL = Rule(
    "claude.allows-any-command",
    Severity.HIGH,
    Confidence.CONFIRMED,
    "A rule lets every shell command run without a question.",
    "Name the commands: `Bash(npm test)`, `Bash(git status:*)`.",
)
ALLOWS_INTERPRETER = Rule(
    "claude.allows-interpreter",
    Severity.MEDIUM,
    Confidence.CONFIRMED,
    "A rule lets a program run without a question that runs any code it is given, or sends and fetches anything.",
    "Name the script or the whole command instead of the program.",
)
ALLOWS_FETCH = Rule(
    "claude.allows-any-page",
    Severity.LOW,
    Confidence.CONFIRMED,
    "A rule lets the agent fetch any page without a question: what it has read can leave in an address.",
    "Name the hosts: `WebFetch(domain:docs.example.com)`.",
)
ALLOWS_WRITES = Rule(
    "claude.allows-any-write",
    Severity.HIGH,
    Confidence.CONFIRMED,
    "A rule lets the agent write files anywhere, its own settings and your shell's start files among them.",
    "Name folders of the project: `Edit(src/**)`.",
)
WIDE_FOLDER = Rule(
    "claude.wide-folder",
    Severity.MEDIUM,
    Confidence.CONFIRMED,
    "The agent may work in the whole home folder or the whole file system.",
    "Name the folders that it needs in `permissions.additionalDirectories`.",
)
ALL_SERVERS = Rule(
    "claude.all-project-servers",
    Severity.HIGH,
    Confidence.CONFIRMED,
    "Every MCP server that a project names is started without a question.",
    "Take `enableAllProjectMcpServers` out and approve servers by name.",
)
SANDBOX_UNIX = Rule(
    "claude.sandbox-all-sockets",
    Severity.HIGH,
    Confidence.CONFIRMED,
    "Commands in the sandbox may talk to Unix sockets such as Docker's, and through them to the whole machine.",
    "Take the socket out of `sandbox.network`.",
)
SANDBOX_WEAK = Rule(
    "claude.sandbox-weakened",
    Severity.MEDIUM,
    Confidence.CONFIRMED,
    "The sandbox runs in its weaker form, which relies on a container around it.",
    "Take `enableWeakerNestedSandbox` out unless the agent runs in a container.",
)
SANDBOX_OPEN = Rule(
    "claude.sandbox-any-host",
    Severity.MEDIUM,
    Confidence.CONFIRMED,
    "Commands in the sandbox may reach every host.",
    "Name hosts in `sandbox.network.allowedDomains`.",
)
MANAGED_HOOKS = Rule(
    "claude.managed-hooks-only",
    Severity.MEDIUM,
    Confidence.CONFIRMED,
    "Only the administrator's hooks are run: a recorder in your own settings sees nothing.",
    "Have the administrator add our hook to the managed settings, or rely on `tally import`.",
)
PROMPTS = Rule(
    "claude.telemetry-prompts",
    Severity.MEDIUM,
    Confidence.CONFIRMED,
    "Telemetry carries the words of prompts or the contents of tool calls.",
    "Take OTEL_LOG_USER_PROMPTS, OTEL_LOG_TOOL_CONTENT and OTEL_LOG_RAW_API_BODIES out.",
)
PLAIN_COLLECTOR = Rule(
    "claude.telemetry-plaintext",
    Severity.MEDIUM,
    Confidence.CONFIRMED,
    "Telemetry is sent over plain HTTP to another machine.",
    "Use https:// for the collector.",
)
LONG_HISTORY = Rule(
    "claude.long-history",
    Severity.LOW,
    Confidence.CONFIRMED,
    "Transcripts are kept for more than a year, with all that the agent has read.",
    "Set `cleanupPeriodDays` to what you need; what `tally` recorded stays.",
)
PROJECT_HELPER = Rule(
    "claude.project-key-helper",
    Severity.HIGH,
    Confidence.POTENTIAL,
    "A project's settings name a program that the agent runs to get its key.",
    "Keep `apiKeyHelper` and the like in your own settings.",
)

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
        found = host_of(url) if isinstance(url, str) else None
        if found is not None and found[0] == "http" and not is_loopback(found[1]):
            yield Hit(rule=PLAIN_COLLECTOR, where=("env", name), said=f"http://{found[1]}")
