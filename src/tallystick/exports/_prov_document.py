"""A document of PROV-JSON (W3C submission of 24 April 2013): records by kind and name, and how values are spelled.

Owns the layout. Names are given without the prefix `tally`, which every name of ours has here. Must not know what is
reported.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from hashlib import sha256
from typing import TypeAlias

from tallystick.model.step import Json

NAMESPACE = "urn:tallystick:"
_PREFIX = "tally"
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]")
_LONGEST_NAME = 80
_LONGEST_TEXT = 65_536
_LAST_MS = 253_402_300_799_999  # the year 9999

Values: TypeAlias = dict[str, Json]


def qualified(name: str) -> dict[str, str]:
    """A value that is a name: `prov:Person`."""
    return {"$": name, "type": "prov:QUALIFIED_NAME"}


def time_of_ms(at_ms: int) -> str:
    """A time as PROV has it, from milliseconds since 1970."""
    moment = datetime.fromtimestamp(min(max(at_ms, 0), _LAST_MS) / 1000, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


class Document:
    """Records as they are added. A record of the same kind and name is added once."""

    def __init__(self) -> None:
        self._records: dict[str, dict[str, Values]] = {}
        self._count = 0

    def add(self, kind: str, name: str, values: Values) -> Values:
        """Add an entity, activity or agent; its values, which may still change."""
        return self._records.setdefault(kind, {}).setdefault(name, values)

    def add_named(self, kind: str, prefix: str, said: str, values: Values) -> str:
        """Add a record that bears a name of others, made fit for a name here; the name that it has."""
        safe = _UNSAFE.sub("_", said)[:_LONGEST_NAME]
        if safe == said:
            name = f"{prefix}-{safe}"
        else:
            name = f"{prefix}-{safe}-{sha256(said.encode()).hexdigest()[:8]}"
        self.add(kind, name, values)
        return name

    def has(self, kind: str, name: str) -> bool:
        """Whether there is such a record."""
        return name in self._records.get(kind, {})

    def values(self, kind: str, name: str) -> Values:
        """The values of a record that was added."""
        return self._records[kind][name]

    def relate(self, kind: str, ends: Mapping[str, str], values: Mapping[str, Json] | None = None) -> None:
        """Add a relation between records, by the roles of its ends."""
        self._count += 1
        named = {role: f"{_PREFIX}:{name}" for role, name in ends.items()}
        self._records.setdefault(kind, {})[f"_:r{self._count}"] = {**named, **(values or {})}

    def text(self) -> bytes:
        """The document as JSON on one line, with its LF."""
        records = {
            kind: {self._full(kind, name): _spelled(values) for name, values in found.items()}
            for kind, found in self._records.items()
        }
        document = {"prefix": {_PREFIX: NAMESPACE}, **records}
        return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace") + b"\n"

    def _full(self, kind: str, name: str) -> str:
        if kind in ("entity", "activity", "agent"):
            return f"{_PREFIX}:{name}"
        return name


def _spelled(values: Mapping[str, Json]) -> Values:
    return {key: _value(value) for key, value in values.items() if value is not None}


def _value(value: Json) -> Json:
    """A value with its type where JSON's own does not say it."""
    if isinstance(value, bool):
        return {"$": "true" if value else "false", "type": "xsd:boolean"}
    if isinstance(value, int):
        return {"$": str(value), "type": "xsd:int" if -(1 << 31) <= value < 1 << 31 else "xsd:long"}
    if isinstance(value, float):
        return {"$": repr(value), "type": "xsd:double"}
    if isinstance(value, dict) and value.get("type") == "prov:QUALIFIED_NAME":
        return value
    return (value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))[:_LONGEST_TEXT]
