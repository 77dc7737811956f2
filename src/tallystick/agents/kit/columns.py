"""Columns of an agent's database as values. Whatever type a column has, reading it never fails.

Owns the few questions that readers of databases ask of a cell. Must not know any agent's tables.
"""

from __future__ import annotations

from collections.abc import Mapping

from tallystick.agents.kit.reading import BadJson, loads_text
from tallystick.model.moments import epoch_time
from tallystick.model.step import Json

_ENVIRONMENT = frozenset(("env", "env_variables", "propagate_env_variables", "forward_env"))
_OLDEST_S = 946_684_800  # a time before the year 2000 is none of an agent's


def word(value: Json) -> str | None:
    """Text that says something."""
    if isinstance(value, str) and value:
        return value
    return None


def number(value: Json) -> float | None:
    """A number of any kind."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value
    return None


def parsed(value: Json) -> Json:
    """What a cell of JSON text says; None if it holds none."""
    try:
        if isinstance(value, str):
            return loads_text(value).value
        return None
    except BadJson:
        return None


def moment(seconds: float | None) -> str | None:
    """Seconds since 1970 as a time."""
    if seconds is not None and seconds >= _OLDEST_S:
        return epoch_time(seconds)
    return None


def moment_ms(value: Json) -> str | None:
    """Milliseconds since 1970, if that is what the cell holds, as a time."""
    found = number(value)
    if found is None:
        return None
    return moment(found / 1000)


def micros(cost: Json) -> int | None:
    """A cost in dollars, in millionths, or None."""
    found = number(cost)
    if found is not None and abs(found) < 1e9:
        return round(found * 1_000_000) or None
    return None


def known(values: Mapping[str, Json]) -> dict[str, Json]:
    """The members that say something."""
    return {key: value for key, value in values.items() if value is not None}


def counted(counts: Mapping[str, int | None]) -> dict[str, int] | None:
    """The counts that are known; None if none of them says something."""
    found = {name: count for name, count in counts.items() if count is not None}
    if any(found.values()):
        return found
    return None


def arguments_of(call: Json, told: Json) -> Json:
    """The arguments of a call from what is told of them, often as JSON text; the whole call where nothing is."""
    opened = parsed(told)
    if isinstance(opened, dict):
        return opened
    if told is None:
        return call
    return told


def without_environment(config: Json) -> Json:
    """A configuration without the environment variables in it: they hold secrets, and are never recorded."""
    if isinstance(config, list):
        return [without_environment(item) for item in config]
    if not isinstance(config, dict):
        return config
    return {key: without_environment(item) for key, item in config.items() if key not in _ENVIRONMENT}
