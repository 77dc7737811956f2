"""Secrets in what is about to be recorded: steps and the openings of sessions.

Owns which parts of a step are looked at. Identity is not: ids and types are what imports are compared by, and the format's
own numbers, names and times cannot hold a secret.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

import msgspec
import orjson

from tallystick.model.recorded import Recorded
from tallystick.model.step import Json, Opening, Step
from tallystick.scrubbing.finding import Counts, may_hold_secrets
from tallystick.scrubbing.json_values import scrub_json, scrub_raw, scrub_string

_ToRecord = TypeVar("_ToRecord", Step, Opening)
_IDENTITY = frozenset(("corr", "source_id", "source_session"))
SCRUBBED = "scrubbed"
"""The member of `meta` that says how many secrets were replaced in a step; absent if none."""


def scrub_step(step: Step) -> Step:
    """The step with a marker for each secret in it; the very same object if none exists."""
    if not step.raw and not _is_worth_a_look(step.values, step.meta):
        return step
    counts: Counts = Counts()
    clean = _scrubbed(step, counts)
    if step.raw:
        raw = {name: scrub_raw(data, counts) for name, data in step.raw.items()}
        if counts:
            clean = msgspec.structs.replace(clean, raw=raw)
    return _counted(clean, counts)


def scrub_opening(opening: Opening) -> Opening:
    """The same for the beginning of a session."""
    if not _is_worth_a_look(opening.values, opening.meta):
        return opening
    counts: Counts = Counts()
    return _counted(_scrubbed(opening, counts), counts)


def scrub_recorded(step: Recorded) -> Recorded:
    """What an entry would hold if it were recorded now; its own count is left as it is."""
    if not step.raw and not _is_worth_a_look(step.values, step.meta):
        return step
    counts: Counts = Counts()
    values = _values(step.values, counts)
    meta = {key: _member(key, value, counts) for key, value in step.meta.items()}
    raw = {name: scrub_raw(data, counts) for name, data in step.raw.items()}
    if counts:
        return msgspec.structs.replace(step, values=values, meta=meta, raw=raw)
    return step


def _values(values: Mapping[str, Json], counts: Counts) -> dict[str, Json]:
    return {name: scrub_json(value, counts) for name, value in values.items()}


def _scrubbed(recorded: _ToRecord, counts: Counts) -> _ToRecord:
    values = _values(recorded.values, counts)
    meta = {key: _member(key, value, counts) for key, value in recorded.meta.items()}
    if counts:
        return msgspec.structs.replace(recorded, values=values, meta=meta)
    return recorded


def _member(key: str, value: Json, counts: Counts) -> Json:
    """A member of `meta` is a number, a name or an id: what its key says of it does not count, only its own form."""
    if key in _IDENTITY:
        return value
    if type(value) is str:
        return scrub_string(value, counts)
    return scrub_json(value, counts)


def _is_worth_a_look(values: Mapping[str, Json], meta: Mapping[str, Json]) -> bool:
    # One text of everything is quicker than a look at each string. JSON writes every literal that is looked for as it is.
    try:
        return may_hold_secrets(orjson.dumps([values, meta]))
    except (TypeError, RecursionError):  # a lone surrogate, a number beyond 64 bits: the walk knows what to do
        return True


def _counted(recorded: _ToRecord, counts: Counts) -> _ToRecord:
    if not counts:
        return recorded
    return msgspec.structs.replace(recorded, meta={**recorded.meta, SCRUBBED: counts.total()})
