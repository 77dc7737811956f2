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
from tallystick.scrubbing.budget import Counts
from tallystick.scrubbing.finding import may_hold_secrets
from tallystick.scrubbing.json_values import scrub_json, scrub_raw, scrub_repeats
from tallystick.scrubbing.known_values import KnownValues
from tallystick.scrubbing.search import Search

_ToRecord = TypeVar("_ToRecord", Step, Opening, Recorded)
_IDENTITY = frozenset(("corr", "source_id", "source_session"))
LOGINS = frozenset(("password", "url-password"))
"""Kinds of secrets that one logs in with."""


def scrub_step(step: Step, known: KnownValues | None = None, shown: dict[bytes, str] | None = None) -> Step:
    """The step with a marker for each secret in it; the very same object if none exists.

    Args:
        known: the values that are known to be secrets; it learns those that are found.
        shown: gets those as well, and their kinds.
    """
    if not step.raw and not _is_worth_a_look(step.values, step.meta, known):
        return step
    search = Search(known=known)
    clean = _scrubbed(step, search)
    raw = {name: search.clean(data, scrub_raw) for name, data in step.raw.items()}
    if not search:
        return step
    search.learn()
    if shown is not None:
        shown |= search.counts.repeats.shown()
    return msgspec.structs.replace(clean, **_parts(clean.values, raw), meta={**clean.meta, **search.told()})


def scrub_opening(opening: Opening, known: KnownValues | None = None) -> Opening:
    """The same for the beginning of a session."""
    if not _is_worth_a_look(opening.values, opening.meta, known):
        return opening
    search = Search(known=known)
    clean = _scrubbed(opening, search)
    if not search:
        return opening
    search.learn()
    return msgspec.structs.replace(clean, meta={**clean.meta, **search.told()})


def scrub_recorded(step: Recorded, known: KnownValues | None = None) -> Recorded:
    """What an entry would hold if it were recorded now; its own counts are left as they are."""
    if not step.raw and not _is_worth_a_look(step.values, step.meta, known):
        return step
    search = Search(known=known)
    clean = _scrubbed(step, search)
    raw = {name: search.clean(data, scrub_raw) for name, data in step.raw.items()}
    if not search:
        return step
    return msgspec.structs.replace(clean, **_parts(clean.values, raw))


def secrets_of(step: Recorded, known: KnownValues | None = None) -> dict[str, Counts]:
    """How many secrets of which kind each field of a recorded step has, by today's rules; `meta` counts as one field.

    A field that takes too long to search is among them, with no kind.
    """
    found: dict[str, Counts] = {}
    if not step.raw and not _is_worth_a_look(step.values, step.meta, known):
        return found
    for name, value in {"meta": dict(step.meta), **step.values}.items():
        search = Search(known=known)
        search.clean(value, scrub_json)
        if search:
            search.learn()
            found[name] = search.counts
    for name, data in step.raw.items():
        search = Search(known=known)
        search.clean(data, scrub_raw)
        if search:
            search.learn()
            found[name] = search.counts
    return found


def _scrubbed(recorded: _ToRecord, search: Search) -> _ToRecord:
    values: dict[str, Json] = {}
    looked_for: dict[str, int] = {}
    for name, value in recorded.values.items():
        values[name] = search.clean(value, scrub_json)
        if isinstance(value, str):  # all values found by then were looked for in it
            looked_for[name] = len(search.counts.repeats)
    meta = {key: _member(key, value, search) for key, value in recorded.meta.items()}
    for name, value in values.items():
        if looked_for.get(name, 0) < len(search.counts.repeats):
            values[name] = search.clean(value, scrub_repeats)
    if search:
        return msgspec.structs.replace(recorded, values=values, meta=meta)
    return recorded


def _parts(values: Mapping[str, Json], raw: Mapping[str, bytes | str]) -> dict[str, Mapping[str, object]]:
    """Values and raw values, where what is kept instead of a raw one is a value."""
    kept = {name: data for name, data in raw.items() if isinstance(data, bytes)}
    instead = {name: data for name, data in raw.items() if isinstance(data, str)}
    return {"values": {**values, **instead}, "raw": kept}


def _member(key: str, value: Json, search: Search) -> Json:
    """A member of `meta` is a number, a name or an id: what its key says of it does not count, only its own form."""
    if key in _IDENTITY:
        return value
    return search.clean(value, scrub_json)


def _is_worth_a_look(values: Mapping[str, Json], meta: Mapping[str, Json], known: KnownValues | None) -> bool:
    # One text of everything is quicker than a look at each string. JSON writes every literal that is looked for as it is.
    try:
        text = orjson.dumps([values, meta])
        return may_hold_secrets(text) or (known is not None and known.may_be_in(text))
    except (TypeError, RecursionError):  # a lone surrogate, a number beyond 64 bits: the walk knows what to do
        return True
