"""One JSON object a step, for people and their scripts.

Owns the layout. Members, in this order, absent where empty:

    session    what the session is called            ts        when it happened, if the source says so
    n          the step's number, from 0             recorded  when it was sealed
    hash       its id                                meta      its other operational members
    parents    ids of the steps it follows from      content   what was said, asked, returned; by field name
    type       what kind of step it is               personal  who and where; by field name
    source     how it reached the record             bytes     name and size of images and other bytes
                                                     withheld  names of values that are erased or not shown

Times are UTC with microseconds. Without content, `content` and `personal` are left out and their names are in `withheld`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from tallystick.model.recorded import Recorded
from tallystick.model.step import Json
from tallystick.seal.tagged import as_sealed

NAME = "jsonl"
LOSSES: tuple[str, ...] = (
    "images and other bytes: their names and sizes are there",
    "seeds, salts and commitments: the export cannot be verified, the journal can",
)

_AT_TOP = ("type", "source", "ts", "recorded")


def write(steps: Iterable[Recorded], *, session: str, with_content: bool) -> Iterator[bytes]:
    """The steps of a session unchanged in the record, revisions included, one a line."""
    for step in map(as_sealed, steps):
        members = _members(step, session, with_content=with_content)
        shown = {name: value for name, value in members.items() if value not in (None, {}, [])}
        yield json.dumps(shown, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def _members(step: Recorded, session: str, *, with_content: bool) -> dict[str, Json]:
    names = [name for name in (*step.values, *step.raw, *step.unloaded) if not name.startswith("local.")]
    withheld = [name for name in step.withheld if not name.startswith("local.")]
    sizes = {**{name: len(data) for name, data in step.raw.items()}, **step.unloaded}
    said: dict[str, Json] = {"content": {}, "personal": {}, "bytes": {}}
    if with_content:
        shown = {name: size for name, size in sorted(sizes.items()) if name in names}
        said = {"content": _of_class(step, "content."), "personal": _of_class(step, "personal."), "bytes": shown}
    else:
        withheld += names
    return {
        "session": session,
        "n": step.n,
        "hash": step.hash,
        "parents": list(step.parent_path),
        **{key: step.meta.get(key) for key in _AT_TOP},
        "meta": {key: value for key, value in sorted(step.meta.items()) if key not in _AT_TOP},
        **said,
        "withheld": sorted(set(withheld)),
    }


def _of_class(step: Recorded, prefix: str) -> dict[str, Json]:
    return {name.removeprefix(prefix): value for name, value in sorted(step.values.items()) if name.startswith(prefix)}
