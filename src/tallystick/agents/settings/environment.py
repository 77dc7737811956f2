"""Variables that settings give an agent and what it starts: those that turn protection off or lead elsewhere.

Owns these variables and the rules on them. Must not know which agent reads the file.
"""

from __future__ import annotations

from collections.abc import Iterator

from tallystick.agents.settings import Hit, Where
from tallystick.agents.settings.mcp import host_of, is_loopback
from tallystick.agents.settings.parsed import Document, walk
from tallystick.agents.settings.rules import rule_named
from tallystick.catalog.agents import AGENTS, Base
from tallystick.catalog.loads import loads_file
from tallystick.model.step import Json

TLS_OFF = rule_named("settings.tls-off")
PLAIN_ENDPOINT = rule_named("settings.plaintext-endpoint")
PROJECT_ENDPOINT = rule_named("settings.project-endpoint")
PRELOAD = rule_named("settings.preload")

_CHECKS: dict[str, frozenset[str]] = {
    "NODE_TLS_REJECT_UNAUTHORIZED": frozenset(("0",)),
    "PYTHONHTTPSVERIFY": frozenset(("0",)),
    "GIT_SSL_NO_VERIFY": frozenset(("1", "true", "yes")),
    "NPM_CONFIG_STRICT_SSL": frozenset(("false", "0")),
}
_ENDPOINTS = frozenset(name for facts in AGENTS.values() for name in facts.variables.endpoints)
_TABLES = frozenset(("env", "environment", "set"))
"""What agents call a table of variables; `set` is Codex's, under shell_environment_policy."""


def look(document: Document) -> Iterator[Hit]:
    """What is risky in the tables of variables, of the agent's and of each server's."""
    for where, value in walk(document.value):
        if where and where[-1] in _TABLES and isinstance(value, dict):
            for name, item in value.items():
                yield from _variable(document.base, (*where, name), name, item)


def _variable(base: Base, where: Where, name: str, item: Json) -> Iterator[Hit]:
    text = ""
    if isinstance(item, str | int | bool):
        text = str(item).strip().lower()
    if text in _CHECKS.get(name.upper(), ()):
        yield Hit(rule=TLS_OFF, where=where, said=f"{name}={text}")
    if loads_file(name, text):
        yield Hit(rule=PRELOAD, where=where, said=name)
    if name in _ENDPOINTS and isinstance(item, str):
        yield from endpoint(base, where, item)


def endpoint(base: Base, where: Where, url: str) -> Iterator[Hit]:
    """What is risky about the address at which a model is called."""
    found = host_of(url)
    if found is None or is_loopback(found[1]):
        return
    if found[0] == "http":
        yield Hit(rule=PLAIN_ENDPOINT, where=where, said=f"http://{found[1]}")
    if base is Base.PROJECT:
        yield Hit(rule=PROJECT_ENDPOINT, where=where, said=f"{found[0]}://{found[1]}")
