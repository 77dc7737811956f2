"""One JSON payload of a hook, and safe ways to ask it.

Owns the tolerant reading of members. Must not know any agent.
"""

from __future__ import annotations

from tallystick.agents.kit.reading import BadJson, loads
from tallystick.errors import FormatError
from tallystick.model.step import Json


class Said:
    """An agent's JSON object, whose members may be of any type."""

    __slots__ = ("json",)

    def __init__(self, json: dict[str, Json]) -> None:
        self.json = json

    def text(self, key: str) -> str | None:
        """A member that is text and not empty, else None."""
        value = self.json.get(key)
        if isinstance(value, str) and value:
            return value
        return None

    def need(self, key: str) -> str:
        """A member without which the payload says nothing.

        Raises: FormatError: it is not there, or is not text.
        """
        value = self.text(key)
        if value is None:
            raise FormatError(f"the hook's payload has no {key}", hint="is this agent's version supported?")
        return value

    def members(self, *names: tuple[str, str]) -> dict[str, Json]:
        """Members as `meta` names them: pairs of the payload's key and ours; those that are absent or null are left out."""
        return {ours: self.json[theirs] for theirs, ours in names if self.json.get(theirs) is not None}

    def values(self, *names: tuple[str, str]) -> dict[str, Json]:
        """Text members as field values: pairs of the payload's key and our field name."""
        return {ours: text for theirs, ours in names if (text := self.text(theirs)) is not None}


def payload_of(data: bytes) -> Said:
    """The JSON object in a payload.

    Raises:
        FormatError: it is not JSON, or no object.
    """
    try:
        value = loads(data).value
    except BadJson as error:
        raise FormatError(f"the hook's payload is no JSON: {error}", hint="nothing is recorded of it") from error
    if not isinstance(value, dict):
        raise FormatError("the hook's payload is no JSON object", hint="nothing is recorded of it")
    return Said(value)
