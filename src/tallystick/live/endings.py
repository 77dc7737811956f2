"""Sessions that are about to be closed, and those that were.

Owns for how long a session that its agent has ended stays open for what its transcript still says, and what is said of an end
that no agent reported. Must not know how an end is recorded.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator

from tallystick.model.step import Json

_QUIET_SECONDS = 2.0
_MOST_ENDED = 256

Key = tuple[str, str]
"""The agent, and its own id of the session."""


class Endings:
    """The endings of one recorder."""

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._due: dict[Key, float] = {}
        self._said: dict[Key, dict[str, Json]] = {}
        self._ended: deque[Key] = deque(maxlen=_MOST_ENDED)

    def __contains__(self, key: Key) -> bool:
        return key in self._due

    def __len__(self) -> int:
        return len(self._due)

    def expect(self, key: Key) -> None:
        """Its agent has ended it: it is closed once its transcript is quiet."""
        self._due[key] = self._monotonic() + _QUIET_SECONDS

    def lose(self, key: Key, said: dict[str, Json]) -> None:
        """Its agent is gone: it is closed with these members."""
        self._said[key] = said
        self._due.setdefault(key, self._monotonic())

    def hasten(self, agent: str, session: str) -> None:
        """Another session of an agent begins, and may go on from one that has ended: they are closed now."""
        for key in self._due:
            if key[0] == agent and key[1] != session:
                self._due[key] = self._monotonic()

    def each(self) -> Iterator[tuple[Key, bool]]:
        """All of them, and whether it is time."""
        now = self._monotonic()
        for key, due in list(self._due.items()):
            yield key, now >= due

    def said(self, key: Key) -> dict[str, Json]:
        """The members of an end that no agent reported; nothing, if one did."""
        return self._said.get(key, {})

    def close(self, key: Key) -> None:
        """It is closed."""
        self._due.pop(key, None)
        self._said.pop(key, None)
        self._ended.append(key)

    def closed(self) -> Key | None:
        """A session that was closed and that was not given before."""
        return self._ended.popleft() if self._ended else None
