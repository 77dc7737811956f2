"""What `ask` does to each agent, and what we answer instead where it does harm.

Owns that table; observed by running each agent (docs/agents), or said to be documented only. Must not know how an answer is
spelled.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping

from msgspec.structs import replace

from tallystick.model.decision import Decision, Effect


class Asking(enum.StrEnum):
    """What becomes of a call on which we want a human's yes."""

    PROMPT = "prompt"
    """The agent asks its user, and refuses where no one can answer."""
    REFUSE = "refuse"
    """The agent cannot be made to ask: it would run the call, or wait for ever. So we refuse it, and say why."""


ASKS: Mapping[str, Asking] = {
    "claude-code": Asking.PROMPT,  # but for the mode bypassPermissions, in which a shell call just runs
    "codex": Asking.REFUSE,  # ignores the answer and runs the call
    "gemini": Asking.REFUSE,  # without a terminal it waits until it is killed
    "qwen": Asking.PROMPT,
    "copilot": Asking.PROMPT,
    "cursor": Asking.REFUSE,  # documented as not enforced before a tool; not run
    "cline": Asking.REFUSE,  # has no such answer
    "gptme": Asking.REFUSE,  # a plugin answers in the user's place, or not at all
    "hermes": Asking.PROMPT,  # but for --yolo and scheduled runs, in which no one is asked and the call runs
    "opencode": Asking.REFUSE,  # a plugin can only throw
    "pi": Asking.REFUSE,  # an extension can only block
}


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
    return replace(decision, effect=effect, reason=f"{reason} {decision.remedy}".strip())
