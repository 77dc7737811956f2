"""A step of a Claude Code transcript before it has its place in the graph.

Owns the value. Must not know which steps come before it.
"""

from __future__ import annotations

from typing import TypeAlias

import msgspec

from tallystick.model.step import Input, Json

Place: TypeAlias = tuple[str, str]
"""A session as it is recorded, and a source id in it."""


class Draft(msgspec.Struct):
    """A step whose place in the graph is not settled yet."""

    type: str
    source_id: str
    line_id: str
    """What it is called if `source_id` has been given away in this file."""
    ts: str | None
    meta: dict[str, Json]
    values: dict[str, Json]
    raw: dict[str, bytes] = {}
    parent: Place | None = None
    follows: bool = False
    """It comes after the step before it, whatever its line names as parent."""
    branches: bool = False
    """It may go back to an earlier step: a prompt after a rewind."""
    call: Place | None = None
    """The call that it answers."""
    joins: str | None = None
    """The agent id of the sub-agent whose work ends in it."""
    opens_request: bool = False
    input: Input | None = None
