"""What is asked before a call runs, and what policy answers.

Owns Call, Effect and Decision. Must not know how a decision is made, nor how an agent is told.
"""

from __future__ import annotations

import enum

import msgspec

from tallystick.model.raw import Raw, legible


class Effect(enum.StrEnum):
    """What policy answers. `deny` outweighs `ask`, that `warn`, that `allow`."""

    ALLOW = "allow"
    """No opinion: nothing is said to the agent, so that its own permission prompt still works."""
    WARN = "warn"
    """The call runs; the record says what spoke against it."""
    ASK = "ask"
    """A human must say yes."""
    DENY = "deny"


class Call(msgspec.Struct, frozen=True, kw_only=True):
    """A tool call that an agent is about to make."""

    agent: str
    session: str
    """The agent's own session id."""
    tool: str
    """The agent's own name of the tool."""
    args: Raw = None
    """The arguments as the agent gave them."""
    cwd: str | None = None
    call_id: str | None = None


def legible_call(call: Call) -> Call:
    """The call as it is judged: see `legible`."""
    tool, cwd = str(legible(call.tool)), call.cwd
    if cwd is not None:
        cwd = str(legible(cwd))
    return msgspec.structs.replace(call, tool=tool, args=legible(call.args), cwd=cwd)


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    """What made a rule speak: what would be done to what, and what that was seen in. Texts are safe to show, and short."""

    rule: str
    action: str
    target: str
    because: tuple[str, ...] = ()


class Decision(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to a call: its effect, the ids of the rules that spoke, why, and which policy set they are of."""

    effect: Effect = Effect.ALLOW
    rules: tuple[str, ...] = ()
    reason: str = ""
    """For the agent and its user, one sentence or a few."""
    remedy: str = ""
    """What to do instead."""
    severity: str = ""
    """Of the rules that decided, the gravest: info, low, medium, high, critical. Empty where none did."""
    evidence: tuple[Evidence, ...] = ()
    would: Effect | None = None
    """What would have been answered if the profile did more than observe."""
    policy: str | None = None
    """SHA-256 of the policy set, in hex."""


NO_OPINION = Decision()
