"""What of a step can be sealed: its values and raw bytes as the format takes them, and what is compared of these.

Owns what goes where if it does not fit (docs/format.md 3.2 and 6.2). Must not know journals.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from tallystick.model.step import Json, Step
from tallystick.recording.corroboration import compared
from tallystick.seal import limits
from tallystick.seal.names import fit_meta
from tallystick.seal.tagged import tag_cut


def fit_values(values: Mapping[str, Json], rest: Mapping[str, Json]) -> dict[str, Json]:
    """Field values that can be sealed, with members that do not fit `meta` under `content.meta`."""
    sealed = {name: value for name, value in values.items() if value is not None}
    own = sealed.get("content.meta", {})
    if not isinstance(own, dict):  # the name is the format's, and means members: 6.2
        own = sealed["content.meta"] = {"meta": own}
    if rest:
        sealed["content.meta"] = {**rest, **own}
    return sealed


def fit_raw(raw: Mapping[str, bytes], sealed: dict[str, Json]) -> dict[str, bytes]:
    """Raw values within the blob limit; of a larger one only its size is kept, as a tagged string (3.2)."""
    kept = dict(raw)
    for name, data in raw.items():
        if len(data) > limits.BLOB_BYTES:
            del kept[name]
            sealed[name] = tag_cut(len(data))
    return kept


def as_sealed(step: Step) -> Step:
    """A step with its values as they would be sealed."""
    values = fit_values(step.values, {})
    return msgspec.structs.replace(step, raw=fit_raw(step.raw, values), values=values)


def comparable(step: Step) -> bytes:
    """What docs/format.md 13.3 compares of a step with what is recorded of its event."""
    members: dict[str, Json] = dict(step.meta)
    members.pop("ts", None)
    if step.source_id is not None:
        members["source_id"] = step.source_id
    meta, rest = fit_meta(members)
    sealed = fit_values(step.values, rest)
    values = {name: value for name, value in sealed.items() if name.startswith("content.")}
    return compared(values, fit_raw(step.raw, values), meta)
