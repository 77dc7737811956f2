"""Whether a value of a secret file is in what a call sends, whatever way it came into the call.

Owns which files are looked into, the values in them, and the forms in which a value is recognized. Must not know what is
sent, nor what follows. The record has no secrets, so a value is compared with the files as they are now: those that the
session has read, and those in the workspace that are secrets by their names.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from itertools import islice

from tallystick.policy.world import Content, Past, World

_VALUE = re.compile(r"[A-Za-z0-9]{16,400}")
_MIXED = re.compile(r"[0-9][A-Za-z]{1,400}[0-9]")
"""Digits among letters: no name with a year or a number at its end."""
_LIKELY = re.compile(r"[A-Za-z0-9+]{16,400}")
_MOST_FILES = 12
_MOST_VALUES = 200
_MOST_TEXT = 64 << 10
_MOST_LIKELY = 200


def may_betray(text: str) -> bool:
    """Whether a text has anything that could be such a value. Most have not, and no file is opened for them."""
    return any(_is_value(found[0]) for found in islice(_LIKELY.finditer(text[:_MOST_TEXT]), _MOST_LIKELY))


def betrayed(text: str, past: Past, secrets: Iterator[str], world: World) -> Iterator[str]:
    """The files of which a value is in a text, as it is or written backwards, in base64 or in hexadecimal."""
    read = (what.rpartition(" (")[0] for what in past.sensitive if what.startswith("/"))
    shown = text[:_MOST_TEXT]
    lower = shown.lower()
    for path in islice(dict.fromkeys((*read, *secrets)), _MOST_FILES):
        found = world.content(path)
        held = ""
        if isinstance(found, Content):
            held = found.text[:_MOST_TEXT]
        values = (one[0] for one in _VALUE.finditer(held) if _is_value(one[0]))
        if any(_stands(value, shown, lower) for value in islice(dict.fromkeys(values), _MOST_VALUES)):
            yield path


def _is_value(text: str) -> bool:
    return _MIXED.search(text) is not None


def _stands(value: str, text: str, lower: str) -> bool:
    raw = value.encode("ascii")
    coded = base64.b64encode(raw).decode("ascii").rstrip("=")[:-1]  # the last letter depends on what comes after
    return value in text or value[::-1] in text or coded in text or raw.hex() in lower
