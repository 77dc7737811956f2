"""Secrets that are in settings as they are.

Owns where they stand: what a secret is, the caller's function says, which gives a value back without them. What the value was
is never told. Must not know the agent, nor how secrets are recognised.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tallystick.agents.hooks.hook_identity import is_our_url
from tallystick.agents.settings import Hit, Where
from tallystick.agents.settings.parsed import Document
from tallystick.agents.settings.rules import rule_named
from tallystick.model.step import Json

REDACTED = "<redacted>"

IN_SETTINGS = rule_named("settings.literal-secret")
IN_SERVER = rule_named("mcp.embedded-secret")
_SERVERS = frozenset(("mcpServers", "mcp_servers", "mcp"))
_MOST = 100
_MOST_DEPTH = 60


def look(document: Document, scrub: Callable[[Json], Json]) -> Iterator[Hit]:
    """Where secrets stand.

    Args: scrub: a value without the secrets in it, of the same shape; the very same object if none exists.
    """
    value = _without_ours(document.value, 0)
    changed = _changed(value, scrub(value), ())
    for _, where in zip(range(_MOST), changed, strict=False):
        in_server = any(name in _SERVERS for name in where[:-1])
        yield Hit(rule=IN_SERVER if in_server else IN_SETTINGS, where=where, said=REDACTED)


def _changed(value: Json, clean: Json, where: Where) -> Iterator[Where]:
    """Where two values of the same shape differ."""
    if value is clean or len(where) > _MOST_DEPTH:
        return
    if isinstance(value, dict) and isinstance(clean, dict):
        for (key, item), other in zip(value.items(), clean.values(), strict=False):
            yield from _changed(item, other, (*where, key))
    elif isinstance(value, list) and isinstance(clean, list):
        for number, (item, other) in enumerate(zip(value, clean, strict=False)):
            yield from _changed(item, other, (*where, number))
    elif value != clean:
        yield where


def _without_ours(value: Json, depth: int) -> Json:
    """The value with our own handlers emptied: the token in them opens our port on this machine, and belongs there."""
    if depth > _MOST_DEPTH:
        return value
    if isinstance(value, dict):
        url = value.get("url")
        if isinstance(url, str) and is_our_url(url):
            return {}
        return {key: _without_ours(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list):
        return [_without_ours(item, depth + 1) for item in value]
    return value
