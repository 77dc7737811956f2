"""Which entry of this import first has which event of an agent whose ids hold beyond one session.

Owns that memory while an index that another process keeps is behind: with it an event is found in another session exactly if
it would be in an index that is brought up to date after each file. Must not know files, nor what an event is.
"""

from __future__ import annotations

from array import array
from hashlib import blake2b
from typing import NamedTuple

from tallystick.model.ids import SessionId

_BITS = 40
"""Of a number that is within a session; the others say which session."""


class Place(NamedTuple):
    """An entry of a session, and its hash."""

    session: SessionId
    n: int
    hash: str


class SharedEvents:
    """The events of one import. About 150 bytes each."""

    def __init__(self) -> None:
        self._numbers: dict[int, int] = {}
        self._waiting: dict[int, int] = {}
        self._places = array("Q")
        self._hashes = bytearray()
        self._sessions: list[SessionId] = []
        self._known: dict[SessionId, tuple[int, int]] = {}

    def begin(self, session: SessionId, size: int) -> None:
        """Events are about to be added to a session, which has so many entries."""
        if session not in self._known:
            self._known[session] = (len(self._sessions), size)
            self._sessions.append(session)

    def is_new(self, place: Place) -> bool:
        """Whether an entry was added since this import began."""
        _, size = self._known.get(place.session, (0, place.n + 1))
        return place.n >= size

    def add(self, agent: str, source_id: str, place: Place) -> None:
        """An event was recorded. It is found once `publish` is called."""
        number = self._waiting.setdefault(_key(agent, source_id), len(self._places))
        if number == len(self._places):
            self._places.append(self._known[place.session][0] << _BITS | place.n)
            self._hashes += bytes.fromhex(place.hash)

    def publish(self) -> None:
        """A file was read to its end."""
        for key, number in self._waiting.items():
            self._numbers.setdefault(key, number)
        self._waiting = {}

    def find(self, agent: str, source_id: str) -> Place | None:
        """The entry that has an event."""
        number = self._numbers.get(_key(agent, source_id))
        if number is None:
            return None
        place, digest = self._places[number], self._hashes[32 * number : 32 * number + 32]
        return Place(self._sessions[place >> _BITS], place & (1 << _BITS) - 1, digest.hex())


def _key(agent: str, source_id: str) -> int:
    text = f"{agent}\0{source_id}".encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(text, digest_size=8).digest())
