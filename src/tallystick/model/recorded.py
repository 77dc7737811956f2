"""A step unchanged in a journal: what every question about the record is asked of.

Owns the value. Must not know how it was read, nor whether the journal was verified.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from tallystick.model.raw import Raw, legible
from tallystick.model.step import Json


class Recorded(msgspec.Struct, frozen=True, kw_only=True):
    """One sealed step, read back. `hash` is its id; `session` the journal's id (32 hex digits).

    `values` are the disclosed values by field name, as they were said, without `meta`; values kept as JSON blobs are among
    them where the reader was asked to load them. `raw` are loaded raw blobs. `unloaded` names blobs that were not loaded,
    with their size in bytes; `withheld` names what was erased or is not shown.
    """

    session: str
    n: int
    hash: str
    prev: str
    parents: tuple[str, ...]
    meta: Mapping[str, Json]
    values: Mapping[str, Raw] = {}
    raw: Mapping[str, bytes] = {}
    unloaded: Mapping[str, int] = {}
    withheld: tuple[str, ...] = ()

    @property
    def type(self) -> str:
        """The step's type; `?` where `meta` is not shown."""
        kind = self.meta.get("type")
        if isinstance(kind, str):
            return kind
        return "?"

    @property
    def parent_path(self) -> tuple[str, ...]:
        """What it follows from: its `parents`, or the entry before it (docs/format.md 5)."""
        return self.parents or ((self.prev,) if self.n else ())

    def text(self, name: str) -> str | None:
        """A value that is text, else None."""
        value = self.values.get(name)
        if isinstance(value, str):
            return value
        return None

    def member(self, name: str) -> Json:
        """A member of `meta`, or the one that went to `content.meta` because it does not fit there (6.2)."""
        if name in self.meta:
            return self.meta[name]
        rest = self.values.get("content.meta")
        if isinstance(rest, dict):
            return rest.get(name)
        return None


class OddlyRecorded(Recorded, frozen=True, kw_only=True):
    """A step of which a value holds what JSON cannot, as it was said."""


def legible_step(step: Recorded) -> Recorded:
    """The step as it is judged and indexed: see `legible`. Nearly all are the very same object."""
    if not isinstance(step, OddlyRecorded):
        return step
    return msgspec.structs.replace(step, values={name: legible(value) for name, value in step.values.items()})
