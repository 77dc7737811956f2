"""What becomes of an `ask`: it is passed on to the agent, or answered with a refusal where the agent cannot ask.

Owns that choice; which agent does what is in the catalogue, as observed or as documented. Must not know how an answer is
spelled.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from tallystick.agents.hooks import Payload
from tallystick.catalog.agents import AGENTS, Asking
from tallystick.model.decision import Decision, Effect
from tallystick.model.raw import legible

ASKS: Mapping[str, Asking] = {name: facts.hooks.asking for name, facts in AGENTS.items() if facts.hooks is not None}
"""By agent."""


def answer_to(agent: str, payload: Payload, decision: Decision) -> Decision | None:
    """The decision as the agent is told it; None if no call waits, or there is nothing to tell."""
    if payload.asks is None:
        return None
    return told(agent, decision, never_asks=payload.never_asks)


def told(agent: str, decision: Decision, *, never_asks: bool = False) -> Decision | None:
    """The decision as the agent is told it, what to do instead after the reason; None if there is nothing to tell.

    Args: never_asks: the agent is in a mode in which it asks no one.
    """
    if decision.effect not in (Effect.ASK, Effect.DENY):
        return None
    reason, effect = decision.reason, decision.effect
    if effect is Effect.ASK and (ASKS.get(agent) is not Asking.PROMPT or never_asks):
        reason = f"{reason or 'A human must agree to this call.'} Nobody can be asked here, so it is refused."
        effect = Effect.DENY
    return replace(decision, effect=effect, reason=str(legible(f"{reason} {decision.remedy}".strip())))
