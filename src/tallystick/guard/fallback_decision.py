"""The answer to a call on which nothing could be decided.

Owns its form. It stands apart from `decide`, which brings the engine along.
"""

from __future__ import annotations

from collections.abc import Iterable

from tallystick.errors import PolicyError
from tallystick.model.decision import Decision, Effect

UNDECIDED = "tally.undecided"
"""The rule that a decision names which no policy made."""
ON_ERROR = "hooks.on_error"
"""The setting that answers then, and the rule of a decision that a hook took from it alone."""
_NO_POLICY = frozenset((UNDECIDED, ON_ERROR))


def is_undecided(rules: Iterable[str]) -> bool:
    """Whether a decision that names these rules was made by no policy."""
    return not _NO_POLICY.isdisjoint(rules)


def undecided(on_error: Effect, error: PolicyError) -> Decision:
    """The answer when there is no policy to decide with: what the setting `hooks.on_error` says, and why."""
    return Decision(effect=on_error, rules=(UNDECIDED,), reason=f"Tallystick could not decide on this call: {error}")
