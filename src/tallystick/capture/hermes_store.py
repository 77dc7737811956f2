"""Hermes' own `state.db` as a store of sessions.

Owns `get_session`, with the rows as they are now: read only, whatever version of Hermes made them. Must not know what
follows from a row.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from tallystick.agents.kit.tables import Table
from tallystick.capture.sqlite_rows import read_rows, stamps
from tallystick.catalog.agents import AGENTS
from tallystick.errors import SourceError
from tallystick.model.step import Json
from tallystick.sessions.hermes_provenance import AGENT

_SESSIONS = Table(
    name="sessions",
    columns=("parent_session_id", "end_reason", "model_config", "source", "started_at", "ended_at", "title"),
)
_CHANGES_AT = slice(24, 28)  # the file change counter of SQLite's header: two writes may fall into one tick of a clock


def default_store(environment: Mapping[str, str], user_home: Path) -> Path:
    """Where Hermes keeps its `state.db`: that of the default profile."""
    facts = AGENTS[AGENT]
    folder = environment.get(facts.variables.folders[0])
    return (Path(folder) if folder else user_home / facts.folders[0]) / "state.db"


class HermesStore:
    """The sessions of a `state.db`, read only, for `build_session_provenance`; read again when the file has changed."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._rows: dict[str | int, Mapping[str, Json]] = {}
        self._fault: SourceError | None = None
        self._state: object = None

    def get_session(self, session_id: str, /) -> Mapping[str, Json] | None:
        """The row of a session: those columns of it that say where it comes from, and when. None: none exists.

        Raises:
            SourceError: the store cannot be read, or not as far as that row.
        """
        state = (stamps(self.path), self._head())
        if state != self._state:
            self._read()
            # what is locked now may not be soon
            if self._fault is None:
                self._state = state
            else:
                self._state = None
        found = self._rows.get(session_id)
        if found is None and self._fault is not None:
            raise self._fault
        return found

    def _read(self) -> None:
        self._rows, self._fault = {}, None
        try:
            for data, _ in read_rows(self.path, (_SESSIONS,)):
                row = json.loads(data)["row"]
                if isinstance(row.get("id"), (str, int)):
                    self._rows[row["id"]] = row
        except SourceError as error:
            self._fault = error

    def _head(self) -> bytes:
        if not self.path.is_file():
            return b""
        try:
            with self.path.open("rb") as file:
                return file.read(_CHANGES_AT.stop)[_CHANGES_AT]
        except OSError:
            return b""
