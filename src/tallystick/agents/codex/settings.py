"""Codex's settings: approvals, the sandbox, the environment of commands, telemetry, and where its files are.

Owns the keys of config.toml. Source: its configuration reference and schema.
"""

from __future__ import annotations

from collections.abc import Iterator

from tallystick.agents.settings import Hit, Where
from tallystick.agents.settings.environment import endpoint
from tallystick.agents.settings.mcp import host_of, is_loopback
from tallystick.agents.settings.parsed import Document, walk
from tallystick.agents.settings.rules import rule_named
from tallystick.model.step import Json

NAME = "codex"

NO_GUARD = rule_named("codex.no-sandbox-no-approval")
NO_SANDBOX = rule_named("codex.no-sandbox")
NETWORK_UNASKED = rule_named("codex.network-without-approval")
NETWORK = rule_named("codex.network-on")
WIDE_ROOT = rule_named("codex.wide-writable-root")
WHOLE_ENVIRONMENT = rule_named("codex.keeps-secret-variables")
PROMPTS = rule_named("codex.telemetry-prompts")
PLAIN_COLLECTOR = rule_named("codex.telemetry-plaintext")
HISTORY = rule_named("codex.history-unbounded")
HOOKS_OFF = rule_named("codex.hooks-off")
TRUSTS_HOME = rule_named("codex.trusts-home")
KEY_FILE = rule_named("codex.key-in-file")

_SENSITIVE = (".ssh", ".aws", ".gnupg", ".codex", ".config/gcloud", ".kube", ".docker")
_WHOLE = frozenset(("/", "~", "~/", "$HOME", "/home", "/Users", "/etc", "/usr", "/var", "C:\\"))


def look(document: Document) -> Iterator[Hit]:
    """What is risky in one of its settings files, by itself and in each profile."""
    yield from _guard(document.value, ())
    for name, profile in document.members("profiles"):
        yield from _guard(profile, ("profiles", name))
    yield from _roots(document)
    yield from _environment(document)
    yield from _otel(document)
    yield from _rest(document)


def _member(value: Json, *names: str) -> Json:
    for name in names:
        if isinstance(value, dict):
            value = value.get(name)
        else:
            value = None
    return value


def _guard(value: Json, where: Where) -> Iterator[Hit]:
    """Approvals and the sandbox, of the file or of one of its profiles."""
    never = _member(value, "approval_policy") == "never"
    if (
        _member(value, "sandbox_mode") == "danger-full-access"
        or _member(value, "default_permissions") == ":danger-full-access"
    ):
        key = "default_permissions"
        if _member(value, "sandbox_mode") == "danger-full-access":
            key = "sandbox_mode"
        yield Hit(rule=NO_GUARD if never else NO_SANDBOX, where=(*where, key), said=str(_member(value, key)))
    if _member(value, "sandbox_workspace_write", "network_access") is True:
        place = (*where, "sandbox_workspace_write", "network_access")
        yield Hit(rule=NETWORK_UNASKED if never else NETWORK, where=place, said="true")


def _roots(document: Document) -> Iterator[Hit]:
    for where, root in document.texts("sandbox_workspace_write", "writable_roots"):
        plain = root.rstrip("/") or "/"
        parts = plain.split("/")
        is_home = plain in _WHOLE or (parts[:2] in (["", "home"], ["", "Users"]) and len(parts) == 3)
        if is_home or any(plain.endswith(f"/{name}") for name in _SENSITIVE):
            yield Hit(rule=WIDE_ROOT, where=where, said=root)


def _environment(document: Document) -> Iterator[Hit]:
    """Where nothing is said the defaults differ between versions: only what is said counts."""
    inherit = document.at("shell_environment_policy", "inherit")
    if document.is_on("shell_environment_policy", "ignore_default_excludes") and inherit in (None, "all"):
        yield Hit(rule=WHOLE_ENVIRONMENT, where=("shell_environment_policy", "ignore_default_excludes"), said="true")


def _otel(document: Document) -> Iterator[Hit]:
    if document.is_on("otel", "log_user_prompt"):
        yield Hit(rule=PROMPTS, where=("otel", "log_user_prompt"), said="true")
    for where, value in walk(document.at("otel"), ("otel",)):
        if where[-1] == "endpoint" and isinstance(value, str):
            found = host_of(value)
            if found is not None and found[0] == "http" and not is_loopback(found[1]):
                yield Hit(rule=PLAIN_COLLECTOR, where=where, said=f"http://{found[1]}")


def _rest(document: Document) -> Iterator[Hit]:
    if document.at("history", "persistence") == "save-all" and document.at("history", "max_bytes") is None:
        yield Hit(rule=HISTORY, where=("history", "persistence"), said="save-all")
    for key in ("hooks", "codex_hooks"):
        if document.is_off("features", key):
            yield Hit(rule=HOOKS_OFF, where=("features", key), said="false")
    for folder, trust in document.members("projects"):
        parts = folder.rstrip("/").split("/")
        is_home = folder in _WHOLE or (parts[:2] in (["", "home"], ["", "Users"]) and len(parts) == 3)
        if is_home and _member(trust, "trust_level") == "trusted":
            yield Hit(rule=TRUSTS_HOME, where=("projects", folder), said=folder)
    if document.at("cli_auth_credentials_store") == "file":
        yield Hit(rule=KEY_FILE, where=("cli_auth_credentials_store",), said="file")
    for name, provider in document.members("model_providers"):
        url = _member(provider, "base_url")
        if isinstance(url, str):
            yield from endpoint(document.base, ("model_providers", name, "base_url"), url)
