"""The answer to a call on which nothing could be decided.

Owns its form. It stands apart from `decide`, which brings the engine along.
"""

from __future__ import annotations

from tallystick.errors import PolicyError
from tallystick.model.decision import Decision, Effect

UNDECIDED = "tally.undecided"
"""The rule that a decision names which no policy made."""


def undecided(on_error: Effect, error: PolicyError) -> Decision:
    """The answer when there is no policy to decide with: what the setting `hooks.on_error` says, and why."""
    return Decision(effect=on_error, rules=(UNDECIDED,), reason=f"Tallystick could not decide on this call: {error}")
