"""Accesses, made up, for the tests of this folder."""

from __future__ import annotations

from tallystick.lineage.access import AGENT, SYSTEM, Access

SECOND = 1_000_000
THING = 77


def access(operation: str, at: float, *, request: int = 1, digest: str | None = None, thing: int = THING) -> Access:
    """What a call did at some second; its step has ten times that number."""
    return Access(thing, int(at * SECOND), int(at * 10), 0, operation, AGENT, request, 0.9, digest, evidence='{"a":1}')


def effect(operation: str, at: float, *, digest: str | None = None, thing: int = THING) -> Access:
    """What was observed at some second; its step has 1000 more than that of a call then."""
    return Access(
        thing, int(at * SECOND), int(at * 10) + 1000, 0, operation, SYSTEM, 0, 0.7, digest, evidence='{"b":1}'
    )
