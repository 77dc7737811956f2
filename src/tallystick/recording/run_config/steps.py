"""The step that says that a session goes on under another configuration.

Owns its form. Must not know who noticed. Source: decision 0022.
"""

from __future__ import annotations

from tallystick.model.ids import SessionId
from tallystick.model.step import Json, Source, Step
from tallystick.sessions.configuration import Configuration, Difference, differences, in_words
from tallystick.sessions.declared_config import Told

_MOST_NAMED = 100
_MOST_TEXT = 2_000


def change_step(
    sid: SessionId,
    told: Told,
    before: Configuration,
    now: Configuration,
    *,
    since: int,
) -> Step:
    """The step that says that a session goes on under another configuration, from entry `since` on."""
    changed = differences(before, now)
    names = [difference.section for difference in changed]
    meta, values = now.told(names)
    meta |= {"reason": "configuration", "sections": names, "config_before": before.fingerprint, "position": since}
    meta |= {name: text for name, text in (("model", told.model), ("permission_mode", told.mode)) if text is not None}
    values["content.text"] = "; ".join(f"{item.section}: {in_words(item)}" for item in changed)[:_MOST_TEXT]
    values["content.changes"] = [_named(difference) for difference in changed]
    return Step(session=sid, type="config_change", source=Source.WATCH, meta=meta, values=values)


def _named(difference: Difference) -> dict[str, Json]:
    names = {
        word: list(found[:_MOST_NAMED])
        for word, found in (
            ("changed", difference.changed),
            ("added", difference.added),
            ("removed", difference.removed),
            ("untold", difference.untold),
        )
        if found
    }
    return {"section": difference.section, **names}
