"""One line of a Codex rollout, whatever its age.

Owns the envelope: bare items (2025), `{timestamp, type, payload}`, and that with an `ordinal`. Must not know what a
payload means.
"""

from __future__ import annotations

import msgspec

from tallystick.agents.kit.reading import dict_of, int_of, text_of
from tallystick.model.step import Json


class Line(msgspec.Struct, frozen=True):
    """A line: its kind, what it says, and when."""

    kind: str
    payload: dict[str, Json]
    at: str
    """The source id of an event that has no native one: its number, else where it stands."""
    ts: str | None = None
    notes: dict[str, Json] = {}

    @property
    def name(self) -> str:
        """The type of the payload, which is the item or event."""
        return text_of(self.payload.get("type")) or "untyped"

    @property
    def id(self) -> str:
        """The native id, if there is one."""
        return text_of(self.payload.get("id")) or self.at

    @property
    def call(self) -> str:
        """The id of the call that the line is about."""
        return text_of(self.payload.get("call_id")) or self.id

    def text(self, member: str) -> str | None:
        """A member of the payload that should be text."""
        return text_of(self.payload.get(member))


def parse(value: dict[str, Json], offset: int) -> Line:
    """The line that `value`, read at byte `offset`, is."""
    ordinal = int_of(value.get("ordinal"))
    if ordinal is None:
        at = f"@{offset}"
    else:
        at = f"#{ordinal}"
    ts, kind = text_of(value.get("timestamp")), text_of(value.get("type"))
    if "payload" in value:
        return Line(kind or "untyped", dict_of(value["payload"]), at, ts, dict_of(value.get("metadata")))
    if kind is not None:
        return Line("response_item", value, at, ts)
    if "record_type" in value:
        return Line("state", value, at, ts)
    return Line("session_meta" if "id" in value else "untyped", value, at, ts)


def known(**members: Json) -> dict[str, Json]:
    """The members that have a value."""
    return {name: value for name, value in members.items() if value is not None}
