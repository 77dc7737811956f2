"""One thing that the doctor looked at, and how it came out."""

from __future__ import annotations

import enum

import msgspec


class State(enum.StrEnum):
    """How a check came out."""

    OK = "ok"
    NOTE = "note"
    """Worth knowing; nothing is lost by it."""
    WARN = "warn"
    """Something is not recorded, or soon will not be."""
    BAD = "bad"
    """Nothing is recorded, or it cannot be trusted."""


class Check(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that was looked at."""

    name: str
    state: State
    found: str
    mend: str | None = None
    """What to do, as a command where there is one."""
