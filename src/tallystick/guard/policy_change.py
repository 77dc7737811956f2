"""That another set of policies came into force: what is told of it, and the step that it becomes.

Owns the form. It stands apart from `policies`, which brings the engine along, so that the recorder can listen before that
is loaded.
"""

from __future__ import annotations

import msgspec

from tallystick.model.step import Json, Source, Step
from tallystick.policy.settings import Profile
from tallystick.recording.own_session import SESSION


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """Another set of policies is in force than before, or the same although files have changed."""

    digest: str
    before: str | None
    """The digest of the set that was in force; None if that is not known."""
    profile: Profile
    rules: int
    files: tuple[tuple[str, str], ...] = ()
    """The user's files by name, with SHA-256 of each."""
    error: str | None = None
    """Why files could not be used, so that `digest` is not of what is in them."""


def step_of_change(change: Change) -> Step:
    """What the recorder's own session says of a change: DESIGN 7, policy edits are steps."""
    meta: dict[str, Json] = {
        "policy": change.digest,
        "profile": change.profile.value,
        "rules": change.rules,
        "reason": "broken" if change.error is not None else "changed",
    }
    if change.before is not None:
        meta["policy_before"] = change.before
    values: dict[str, Json] = {"content.files": [{"path": name, "sha256": sha} for name, sha in change.files]}
    if change.error is not None:
        values["content.error"] = change.error[:2000]
    return Step(session=SESSION, type="policy_change", source=Source.WATCH, meta=meta, values=values)
