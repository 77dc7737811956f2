"""Where one step of a source is: its session, its own name there, and when it was.

Owns making a step from that and from what it says. Must not know any agent's format, nor what comes before or after.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from tallystick.agents.kit.columns import known
from tallystick.model.step import Input, Json, Ref, SessionKind, Source, Step

_NOTHING: Mapping[str, Json] = {}


class Point(msgspec.Struct, frozen=True):
    """One point of a session."""

    session: str
    source_id: str | None = None
    ts: str | None = None
    source: Source = Source.TRANSCRIPT
    common: Mapping[str, Json] = _NOTHING
    """Members that every step of the same record has."""

    def part(self, name: str | int) -> Point:
        """A part of what is there, which has a step of its own."""
        return self.named(f"{self.source_id}/{name}")

    def named(self, source_id: str | None) -> Point:
        """The same point under another name."""
        return msgspec.structs.replace(self, source_id=source_id)

    def step(
        self,
        kind: str,
        meta: Mapping[str, Json] = _NOTHING,
        values: Mapping[str, Json] = _NOTHING,
        raw: Mapping[str, bytes] = _NOTHING,
    ) -> Step:
        """The step that is there. Members and values that are None are left out."""
        return Step(
            session=self.session,
            type=kind,
            source=self.source,
            source_id=self.source_id,
            ts=self.ts,
            meta=known({**meta, **self.common}),
            values=known(values),
            raw=raw,
        )

    def model_call(
        self, meta: Mapping[str, Json], values: Mapping[str, Json] = _NOTHING, *, is_shown: bool = True
    ) -> Step:
        """A model call that is there. `is_shown`: whether the steps before it are all that the model was given."""
        step = self.step("model_call", meta, values)
        return msgspec.structs.replace(step, input=Input.PATH if is_shown else Input.HIDDEN)


def after(step: Step, *sources: str | None) -> Step:
    """A step that follows from others of its session, main parent first; as it is where these are not known."""
    found = tuple(Ref(source) for source in sources if source is not None)
    if found:
        return msgspec.structs.replace(step, after=found)
    return step


def below(parent: str | None) -> tuple[SessionKind, Ref | None]:
    """The kind of a session, and what it belongs to, by the session that began it."""
    if parent is None:
        return SessionKind.ROOT, None
    return SessionKind.CHILD, Ref(None, parent)
