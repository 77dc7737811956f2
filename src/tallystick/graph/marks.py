"""Checkpoints on their way into the index: what a step says of the position that it marks.

Owns which steps mark a position, and how that is read. A compaction marks itself; the headless agent's own checkpoints
name no position and mark the entry before them. Must not know SQL.
"""

from __future__ import annotations

import orjson

from tallystick.graph.json_columns import plain
from tallystick.graph.rows import text_or_none, whole_or_none
from tallystick.graph.tables import CheckpointRow, StepRow
from tallystick.model.recorded import Recorded
from tallystick.model.step import Json
from tallystick.sessions.checkpoints import Trigger

_TRIGGERS = frozenset(Trigger)
_MOST_LABEL = 1_000
_MOST_JSON = 65_536


def checkpoint_row(step: Recorded, row: StepRow) -> CheckpointRow:
    """The row of a step of type `checkpoint` or `compaction`."""
    trigger, position, digest = _marked(step)
    label = step.text("content.label") or step.text("content.ckpt_id")
    return CheckpointRow(
        row.id,
        step.session,
        step.n,
        step.hash,
        trigger,
        plain(label, _MOST_LABEL) if label is not None else None,
        position,
        digest,
        text_or_none(step.member("run")),
        row.at_us,
        _json(step.values.get("content.git")),
        _json(step.meta.get("tokens_used")),
        text_or_none(step.meta.get("config_fingerprint")),
        _json(step.values.get("content.metadata")),
        None,
        int("content.label" in step.withheld),
    )


def _marked(step: Recorded) -> tuple[str, int, str]:
    """What triggered it, and the number and hash of the entry that it marks, as it says them."""
    if step.type == "compaction":
        return "compaction", step.n, step.hash
    trigger = text_or_none(step.meta.get("trigger"))
    position, digest = whole_or_none(step.meta.get("position")), text_or_none(step.meta.get("position_hash"))
    if trigger not in _TRIGGERS or position is None or digest is None:
        return "phase", max(step.n - 1, 0), step.prev
    return trigger, position, digest


def replaced_checkpoints(step: Recorded) -> list[str]:
    """Hashes of the checkpoints of its session whose place this one takes."""
    found = step.meta.get("replaces")
    if isinstance(found, list):
        return [digest for digest in found if isinstance(digest, str)]
    return []


def _json(value: Json) -> str | None:
    if not isinstance(value, dict | list):
        return None
    try:
        text = orjson.dumps(value, option=orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS).decode()
    except (TypeError, ValueError):
        return None
    if len(text) <= _MOST_JSON:
        return text
    return None
