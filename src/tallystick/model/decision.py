"""What is asked before a call runs, and what policy answers.

Owns Call, Effect and Decision. Must not know how a decision is made, nor how an agent is told.
"""

from __future__ import annotations

import enum

import msgspec

from tallystick.model.grant import Scope
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
    home: str | None = None
    """The home folder that the process of the hook has; None: it was not seen."""


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
    asked: tuple[Scope, ...] = ()
    """What the user is asked about, as far as a yes can be remembered."""
    grants: tuple[str, ...] = ()
    """What a person allowed earlier and this rests on: names of steps."""
    kept: str = ""
    """Under which name it was kept aside what the call would remove."""
    is_refused: bool = False
    """It asks, and the answer to the agent is no: it asks no one."""
    is_plain: bool = False
    """It is known to be harmless, and the user wants such calls answered with *allow*."""

    @property
    def is_told(self) -> bool:
        """Whether the record has a step of it: it is more than silence."""
        return self.effect is not Effect.ALLOW or self.would is not None or bool(self.grants)


NO_OPINION = Decision()
