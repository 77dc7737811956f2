"""Which journal has which session of an agent, as the first line of each says it.

Owns that lookup, for readers and writers: it opens files to read, and takes no lock. Must not make a journal.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

import msgspec

from tallystick.journal.home import Home
from tallystick.journal.lines import LineFile
from tallystick.model.ids import SessionId
from tallystick.model.step import Json

Key: TypeAlias = tuple[str, str]
"""(agent, source session): what an agent's session is found by."""


class _Start(msgspec.Struct, frozen=True):
    fields: dict[str, Json] = {}


_START = msgspec.json.Decoder(_Start)


class SessionKeys:
    """The sessions of a store by their keys, as far as they were looked at."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._by_key: dict[Key, SessionId] = {}
        self._seen: set[str] = set()

    def find(self, agent: str, source_session: str) -> SessionId | None:
        """The journal of an agent's session, if there is one as far as this has looked (`look_again` looks again)."""
        if not self._seen:
            self.look_again()
        return self._by_key.get((agent, source_session))

    def of_agent(self, agent: str) -> list[str]:
        """The ids that an agent gave its sessions, as far as this has looked."""
        return sorted(session for name, session in self._by_key if name == agent)

    def known(self, key: Key) -> SessionId | None:
        """The journal with a key, as far as this has looked."""
        return self._by_key.get(key)

    def look_again(self) -> None:
        """Take note of the journals that were made meanwhile."""
        for sid in self._home.session_ids(self._seen):
            self._seen.add(sid)
            path = self._home.journal(sid)
            key = None
            if path is not None:
                key = start_key(next(iter(LineFile(path)), b""))
            if key is not None:
                self._by_key.setdefault(key, SessionId(sid))

    def add(self, sid: SessionId, key: Key | None) -> None:
        """Take note of a journal that was just made."""
        self._seen.add(sid)
        if key is not None:
            self._by_key[key] = sid


def start_key(line: bytes) -> Key | None:
    """The (agent, source session) of a journal's first line; None if it says none."""
    try:
        return key_of(_START.decode(line).fields)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def key_of(fields: Mapping[str, Json]) -> Key | None:
    """The same of the first line's fields."""
    meta, rest = fields.get("meta"), fields.get("content.meta")
    if not isinstance(meta, dict):
        return None
    source_session = meta.get("source_session")
    if source_session is None and isinstance(rest, dict):
        source_session = rest.get("source_session")  # an id that does not fit meta (6.2)
    agent = meta.get("agent")
    if isinstance(agent, str) and isinstance(source_session, str):
        return agent, source_session
    return None
