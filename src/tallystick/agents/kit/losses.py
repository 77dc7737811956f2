"""Naming what a reader does not know.

Owns the rule that a kind of loss is a word of the format (docs/format.md 6.2), whatever the source calls it. Must not
know any agent's format.
"""

from __future__ import annotations

import re

from tallystick.model.step import Json, Loss

_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,30}(?:[.-][A-Za-z0-9_]{1,30}){0,3}\Z", re.ASCII)


def unknown(name: Json, where: str) -> Loss:
    """The loss that a line, event or item of an unknown kind is: by its name, if that is a word."""
    if isinstance(name, str) and _WORD.match(name):
        return Loss(kind=f"unknown_{name}", detail=where)
    return Loss(kind="unknown_kind", detail=f"{where}: {str(name)[:80]!r}")
