"""Secrets in an event of a session log, before anyone is told of it.

Owns which of its members are looked at: what says which event it is, and when, is not, since others refer to it. Must not
know what events mean. Steps and openings are step.py's.
"""

from __future__ import annotations

from collections.abc import Mapping

import orjson

from tallystick.model.step import Json
from tallystick.scrubbing.finding import may_hold_secrets
from tallystick.scrubbing.json_values import scrub_json
from tallystick.scrubbing.known_values import KnownValues
from tallystick.scrubbing.search import Search

_IDENTITY = frozenset(("seq", "type", "timestamp", "corr_id", "parent", "agent", "agent_role"))


def scrub_members(event: Mapping[str, Json], known: KnownValues | None = None) -> Mapping[str, Json]:
    """The event with a marker for each secret in it; the very same object if none exists."""
    try:
        text = orjson.dumps(event)
        if not may_hold_secrets(text) and not (known and known.may_be_in(text)):
            return event
    except (TypeError, RecursionError):
        pass
    search = Search(known=known)
    clean = {key: item if key in _IDENTITY else _member(key, item, search) for key, item in event.items()}
    if search:
        return clean
    return event


def _member(key: str, value: Json, search: Search) -> Json:
    """A member's own name says nothing of what is in it: `tokens_in` is a number."""
    if key == "meta" and isinstance(value, dict):
        return {name: _member(name, item, search) for name, item in value.items()}
    return search.clean(value, scrub_json)
