"""What a session tells of its configuration itself: its agent, its model, the mode in which it asks for leave.

Owns these inputs, and that what was reported once holds until something else is reported. Must not know what is in
files.
"""

from __future__ import annotations

import msgspec

from tallystick.sessions.configuration import (
    AGENT,
    ENVIRONMENT,
    PERMISSIONS,
    Configuration,
    Digested,
    Given,
    digested,
)


class Told(msgspec.Struct, frozen=True, kw_only=True):
    """What a session says of itself. None: it has not said."""

    agent: str
    version: str | None = None
    model: str | None = None
    mode: str | None = None
    """The mode in which the agent asks for leave, or does not."""
    switches: tuple[str, ...] | None = None
    """Names of variables of its environment; None: they are not seen."""


def told_inputs(told: Told, key: bytes) -> Digested:
    """What a session tells itself, under a store's key."""
    said = (
        (AGENT, "agent", told.agent),
        (AGENT, "version", told.version),
        (AGENT, "model", told.model),
        (PERMISSIONS, "mode", told.mode),
    )
    given = [Given(section=section, name=name, data=text.encode()) for section, name, text in said if text is not None]
    if told.switches is None:
        return digested(key, given)
    names = [Given(section=ENVIRONMENT, name=name) for name in told.switches]
    return digested(key, [*given, *names], sections=(ENVIRONMENT,))


def carried(before: Configuration | None, told: Told) -> Digested:
    """What a session has reported earlier, and not again since."""
    if before is None:
        return Digested()
    silent = {
        (section, name)
        for section, name, said in (
            (AGENT, "version", told.version),
            (AGENT, "model", told.model),
            (PERMISSIONS, "mode", told.mode),
        )
        if said is None
    }
    environment = told.switches is None and ENVIRONMENT in before.sections
    return Digested(
        inputs=tuple(
            (section, item)
            for section, items in before.inputs.items()
            for item in items
            if (section, item.name) in silent or (section == ENVIRONMENT and environment)
        ),
        sections=(ENVIRONMENT,) if environment else (),
    )
