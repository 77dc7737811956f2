"""opencode's settings: permissions, sharing, its server, and where its files are.

Owns the keys of opencode.json. Source: its configuration and permission pages.
"""

from __future__ import annotations

from collections.abc import Iterator

from tallystick.agents.settings import Hit, Where
from tallystick.agents.settings.environment import endpoint
from tallystick.agents.settings.mcp import is_loopback
from tallystick.agents.settings.parsed import Document
from tallystick.agents.settings.rules import rule_named
from tallystick.catalog.agents import Base
from tallystick.model.step import Json

NAME = "opencode"

ALLOWS_ALL = rule_named("opencode.allows-everything")
ALLOWS_SHELL = rule_named("opencode.allows-any-command")
OUTSIDE = rule_named("opencode.outside-project")
READS_SECRETS = rule_named("opencode.reads-env-files")
SHARES = rule_named("opencode.shares-sessions")
OPEN_SERVER = rule_named("opencode.open-server")
REMOTE_INSTRUCTIONS = rule_named("opencode.remote-instructions")
UNPINNED_PLUGIN = rule_named("opencode.unpinned-plugin")


def look(document: Document) -> Iterator[Hit]:
    """What is risky in one of its settings files, by itself and for each of its agents."""
    yield from _permission(document.at("permission"), ("permission",))
    for name, agent in document.members("agent"):
        if isinstance(agent, dict):
            yield from _permission(agent.get("permission"), ("agent", name, "permission"))
    if document.at("share") == "auto":
        yield Hit(rule=SHARES, where=("share",), said="auto")
    yield from _server(document)
    yield from _fetched(document)


def _permission(value: Json, where: Where) -> Iterator[Hit]:
    if value == "allow":
        yield Hit(rule=ALLOWS_ALL, where=where, said="allow")
    if not isinstance(value, dict):
        return
    if value.get("*") == "allow" and not any(_is_guarded(value.get(tool)) for tool in ("bash", "edit")):
        yield Hit(rule=ALLOWS_ALL, where=(*where, "*"), said="allow")
    for rule, tool in ((ALLOWS_SHELL, "bash"), (OUTSIDE, "external_directory")):
        if (place := _allows_all(value.get(tool))) is not None:
            yield Hit(rule=rule, where=(*where, tool, *place), said="allow")
    read = value.get("read")
    for pattern, action in read.items() if isinstance(read, dict) else ():
        if action == "allow" and pattern in ("*.env", "*.env.*", ".env", "**/.env"):
            yield Hit(rule=READS_SECRETS, where=(*where, "read", pattern), said=pattern)


def _is_guarded(value: Json) -> bool:
    return value in ("ask", "deny") or (isinstance(value, dict) and value.get("*") in ("ask", "deny"))


def _allows_all(value: Json) -> Where | None:
    """Where a tool's permission allows whatever comes: the last pattern that matches decides."""
    if value == "allow":
        return ()
    if isinstance(value, dict) and value.get("*") == "allow":
        after = list(value.values())[list(value).index("*") + 1 :]
        if "deny" in after or "ask" in after:
            return None
        return ("*",)
    return None


def _server(document: Document) -> Iterator[Hit]:
    host = document.at("server", "hostname")
    if isinstance(host, str) and not is_loopback(host):
        yield Hit(rule=OPEN_SERVER, where=("server", "hostname"), said=host)
    if document.is_on("server", "mdns"):
        yield Hit(rule=OPEN_SERVER, where=("server", "mdns"), said="true")


def _fetched(document: Document) -> Iterator[Hit]:
    for where, source in document.texts("instructions"):
        if source.startswith(("http://", "https://")):
            yield Hit(rule=REMOTE_INSTRUCTIONS, where=where, said=source)
    for where, plugin in document.texts("plugin"):
        name, _, version = plugin.rpartition("@")
        is_local = plugin.startswith(("file:", "./", "../", "/"))
        if not is_local and not (name and version[:1].isdigit()):
            yield Hit(rule=UNPINNED_PLUGIN, where=where, said=plugin)
    for name, provider in document.members("provider"):
        options = None
        if isinstance(provider, dict):
            options = provider.get("options")
        url = None
        if isinstance(options, dict):
            url = options.get("baseURL")
        if isinstance(url, str) and document.base is not Base.MANAGED:
            yield from endpoint(document.base, ("provider", name, "options", "baseURL"), url)
