"""Texts that take the place of a value, for people.

Owns what is said of a value that is not there. JSON answers have the tagged string itself (docs/format.md 3.2): there no one
must guess what was tagged.
"""

from __future__ import annotations

import re

from tallystick.model.raw import Placeholder
from tallystick.model.step import Json

_GONE = re.compile(r"\x10tally:(cut|unsearched):([0-9]+)(?::([0-9a-f]+))?\Z")


def readable(value: Json) -> Json:
    """A value as it was said, with what is known of those that were not kept."""
    if isinstance(value, Placeholder):
        return _told(value)
    if isinstance(value, dict):
        return {readable(key): readable(item) for key, item in value.items()}
    if isinstance(value, list):
        return [readable(item) for item in value]
    return value


def _told(text: Placeholder) -> str:
    found = _GONE.match(text)
    if found is None:
        return str(text)
    kind, size, digest = found.groups()
    if kind == "cut":
        return f"(a value of {size} bytes, too large to keep)"
    return f"(a value of {size} bytes, not recorded: searching it for secrets takes too long; SHA-256 {digest})"
