"""What one recorded step says about requests, folders and calls.

Owns these readings of a step. Must not know other steps.
"""

from __future__ import annotations

import enum

from tallystick.model.moments import microseconds
from tallystick.model.paths import placed
from tallystick.model.recorded import Recorded

_OF_ANOTHER_SOURCE = frozenset(("corroborates", "revises"))
_NOT_OF_A_PERSON = frozenset(("origin", "corroborates", "revises"))


class Outcome(enum.StrEnum):
    """What became of a call."""

    DENIED = "denied"
    ASKED = "asked"
    """The user is asked; if there is a result later, they said yes."""
    FAILED = "failed"
    MADE = "made"


def is_first_account(step: Recorded) -> bool:
    """Whether it tells something for the first time: no sighting, nor what another source adds to a step before it."""
    return step.type != "sighting" and _OF_ANOTHER_SOURCE.isdisjoint(step.meta)


def opens_request(step: Recorded) -> bool:
    """Whether it is a prompt that a human gave."""
    return step.type == "user" and _NOT_OF_A_PERSON.isdisjoint(step.meta)


def is_refusal(step: Recorded) -> bool:
    """Whether a decision, a permission or a result says no to a call."""
    return step.meta.get("effect") == "deny" or step.meta.get("decision") == "deny"


def outcome_of_decision(step: Recorded) -> Outcome | None:
    """What a decision or a permission makes of a call, if it says something against it."""
    said = step.meta.get("effect") or step.meta.get("decision")
    return {"deny": Outcome.DENIED, "ask": Outcome.ASKED}.get(str(said))


def outcome_of_result(step: Recorded) -> Outcome:
    """What the result of a call says of it."""
    if step.meta.get("decision") == "deny":
        return Outcome.DENIED
    if step.meta.get("success") is False:
        return Outcome.FAILED
    return Outcome.MADE


def folder_of(step: Recorded) -> str | None:
    """The folder that its session works in from now on, where it tells that."""
    folder = step.text("personal.cwd")
    if folder is not None and placed(folder, None).startswith("/"):
        return folder
    return None


def moment_of(step: Recorded) -> int:
    """When it happened, in microseconds since 1970; else when it was recorded."""
    return microseconds(step.meta.get("ts")) or microseconds(step.meta.get("recorded")) or 0


def tool_of(step: Recorded) -> str:
    """The tool of a call, with its server."""
    tool, server = step.member("tool"), step.member("server")
    name = tool if isinstance(tool, str) else ""
    if isinstance(server, str) and server and "mcp" not in name:
        return f"mcp__{server}__{name}"
    return name


def name_of(step: Recorded) -> str:
    """What evidence calls it: SESSION:n."""
    return f"{step.session[:12]}:{step.n}"
