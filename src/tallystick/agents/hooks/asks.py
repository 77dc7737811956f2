"""What becomes of an `ask`: it is passed on to the agent, or answered with a refusal where the agent cannot ask.

Owns that choice; which agent does what is in the catalogue, as observed or as documented. Must not know how an answer is
spelled.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from tallystick.agents.hooks import SILENT, Payload, Reply
from tallystick.agents.hooks.answers import permission_reply
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
    if effect is Effect.ASK and not _can_ask(agent, never_asks=never_asks):
        reason = f"{reason or 'A human must agree to this call.'} Nobody can be asked here, so it is refused."
        effect = Effect.DENY
    return replace(decision, effect=effect, reason=str(legible(f"{reason} {decision.remedy}".strip())))


def _can_ask(agent: str, *, never_asks: bool) -> bool:
    return ASKS.get(agent) is Asking.PROMPT and not never_asks


def as_told(agent: str, payload: Payload, decision: Decision | None) -> Decision | None:
    """A decision with whether the agent is refused what is asked about, because it asks no one."""
    if decision is None:
        return None
    is_refused = decision.effect is Effect.ASK and not _can_ask(agent, never_asks=payload.never_asks)
    return replace(decision, is_refused=is_refused or (decision.effect is Effect.DENY and bool(decision.asked)))


def allowing(agent: str, payload: Payload) -> Reply:
    """The answer that keeps the agent's own question away, where its hooks have one; else silence."""
    facts = AGENTS[agent].hooks if agent in AGENTS else None
    if payload.asks is None or facts is None or not facts.allows:
        return SILENT
    return permission_reply("allow", "It only looks at the project.")


def with_command(decision: Decision, step: str | None) -> Decision:
    """A question that no one can be asked, with the one command by which a person answers it.

    Args: step: the name of the decision in the record; None: it is not in it.
    """
    if not decision.is_refused or not decision.asked or step is None:
        return decision
    said = f"If it is needed, name this command to the user, who runs it in a terminal: tally policy grants add {step}"
    return replace(decision, remedy=f"{decision.remedy} {said}".strip())
