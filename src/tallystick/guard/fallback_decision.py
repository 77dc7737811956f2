"""The answer to a call on which nothing could be decided.

Owns its form. It stands apart from `decide`, which brings the engine along.
"""

from __future__ import annotations

from collections.abc import Iterable

from tallystick.errors import PolicyError, TallystickError
from tallystick.journal.home import Home
from tallystick.model.decision import Decision, Effect
from tallystick.workspace.settings import read_setting

UNDECIDED = "tally.undecided"
"""The rule that a decision names which no policy made."""
ON_ERROR = "hooks.on_error"
"""The setting that answers then, and the rule of a decision that a hook took from it alone."""
_NO_POLICY = frozenset((UNDECIDED, ON_ERROR))


def is_undecided(rules: Iterable[str]) -> bool:
    """Whether a decision that names these rules was made by no policy."""
    return not _NO_POLICY.isdisjoint(rules)


def undecided(on_error: Effect, error: PolicyError) -> Decision:
    """The answer when there is no policy to decide with: what the setting says, and why."""
    return Decision(effect=on_error, rules=(UNDECIDED,), reason=f"Tallystick could not decide on this call: {error}")


def undecided_in(home: Home, error: PolicyError) -> Decision:
    """The answer in a store: what its setting says; where that cannot be read, the user is asked."""
    try:
        return undecided(Effect(str(read_setting(home, ON_ERROR))), error)
    except TallystickError:
        return undecided(Effect.ASK, error)
