"""The rows of one session in the file: finding a place for them, writing them, reading them back, taking them out.

Owns the SQL of projecting. Must not know journals, nor what the rows mean.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import sha256

from msgspec.structs import astuple

from tallystick.model.recorded import Recorded
from tallystick.store.document import COLUMNS, Document, document_of
from tallystick.store.graph import Graph
from tallystick.store.session import SessionProjection
from tallystick.store.tables import EdgeRow, RequestState, SessionState, StepRow

ROOM = 1 << 16
"""How many ids are free behind the first id of a new session, at least."""

_FEW = 100
_ID_BITS = 62  # first_id + n stays below 2^63, whatever a journal may hold


def _columns(row: type[SessionState | RequestState | StepRow | EdgeRow]) -> str:
    return ", ".join(row.__struct_fields__)


def _insertion(table: str, row: type[SessionState | RequestState | StepRow | EdgeRow]) -> str:
    places = ", ".join("?" * len(row.__struct_fields__))
    return f"INSERT INTO {table} ({_columns(row)}) VALUES ({places})"


_WRITE_SESSION = _insertion("sessions", SessionState).replace("INSERT", "INSERT OR REPLACE", 1)
_WRITE_REQUEST = _insertion("requests", RequestState).replace("INSERT", "INSERT OR REPLACE", 1)
_WRITE_STEP = _insertion("steps", StepRow)
_WRITE_EDGE = _insertion("session_edges", EdgeRow)
_WRITE_DOCUMENT = f"INSERT INTO search (rowid, {', '.join(COLUMNS)}) VALUES (?{', ?' * len(COLUMNS)})"
_END_BELOW = "SELECT first_id + size FROM sessions WHERE first_id <= ? ORDER BY first_id DESC LIMIT 1"
_READ_SESSION = f"SELECT {_columns(SessionState)} FROM sessions WHERE session_id = ?"
_READ_REQUEST = f"SELECT {_columns(RequestState)} FROM requests WHERE request_id = ?"
_READ_STEP = f"SELECT {_columns(StepRow)} FROM steps WHERE id = ?"


def read_session(graph: Graph, session: str) -> SessionState | None:
    """What the index holds of a session, None if nothing."""
    row = graph.row(_READ_SESSION, (session,))
    return None if row is None else SessionState(*row)


def read_positions(graph: Graph, sessions: Sequence[str]) -> dict[str, tuple[int, ...]]:
    """Of the sessions that the index has: inode, schema, read_to, size and text_size."""
    few = len(sessions) <= _FEW
    where = f" WHERE session_id IN ({', '.join('?' * len(sessions))})" if few else ""
    rows = graph.rows(
        f"SELECT session_id, inode, schema, read_to, size, text_size FROM sessions{where}", sessions if few else ()
    )
    return {session: tuple(rest) for session, *rest in rows}


def new_session(graph: Graph, session: str, *, inode: int, room: int) -> SessionState:
    """The state of a session of which nothing is projected yet, with ids for at least `room` steps."""
    return SessionState(session, inode=inode, first_id=_free_id(graph, session, room))


def _free_id(graph: Graph, session: str, room: int) -> int:
    for candidate in _ids_of(session):
        below = graph.row(_END_BELOW, (candidate,))
        above = ceiling(graph, candidate)
        if (below is None or below[0] <= candidate) and (above is None or above - candidate >= room):
            return candidate
    raise AssertionError("the candidates never end")


def _ids_of(session: str) -> Iterator[int]:
    """Where the ids of a session may begin, most wanted first.

    The first digits of the session's id as a number: then sessions read in the order of their ids are written in the order
    of their steps' ids, which is when SQLite writes fastest. Those are taken in one of ten thousand stores of 100,000
    sessions each, or where somebody chose a session's id so; then a hash of it decides.
    """
    yield int(session[:16], 16) >> (64 - _ID_BITS)
    attempt = 0
    while True:
        digest = sha256(f"{session}/{attempt}".encode()).digest()
        yield int.from_bytes(digest[:8], "big") >> (64 - _ID_BITS)
        attempt += 1


def read_place(graph: Graph, state: SessionState, n: int) -> tuple[str, int]:
    """The hash of a step that is in the index, and where its line begins."""
    row = graph.row("SELECT hash, offset FROM steps WHERE id = ?", (state.first_id + n,))
    return ("", 0) if row is None else (row[0], row[1])


def ceiling(graph: Graph, first_id: int) -> int | None:
    """The first id above that belongs to another session, None if there is none."""
    row = graph.row("SELECT min(first_id) FROM sessions WHERE first_id > ?", (first_id,))
    return None if row is None else row[0]


def remove_session(graph: Graph, state: SessionState) -> bool:
    """Take all rows of a session out; True if that emptied the search index."""
    ids = (state.first_id, state.first_id + state.size)
    graph.change("DELETE FROM steps WHERE id >= ? AND id < ?", ids)
    for table in ("requests", "session_edges", "sessions"):
        graph.change(f"DELETE FROM {table} WHERE session_id = ?", (state.session_id,))
    if state.text_size == 0:
        return False
    graph.change("INSERT INTO search (search) VALUES ('delete-all')")
    graph.change("UPDATE sessions SET text_size = 0")
    return True


class Writer:
    """Writes the rows of one session as they are made, and finds those made before: session.Earlier."""

    def __init__(self, graph: Graph, state: SessionState) -> None:
        self.state = state
        self.projection = SessionProjection(state, self)
        self.documents: list[tuple[int, Document]] = []
        self.waiting_characters = 0
        self._graph = graph

    def step(self, n: int) -> StepRow | None:
        """The row of step `n`."""
        self.write_steps()
        row = self._graph.row(_READ_STEP, (self.state.first_id + n,))
        return None if row is None else StepRow(*row)

    def request(self, n: int) -> RequestState | None:
        """The row of the request that prompt `n` opened."""
        row = self._graph.row(_READ_REQUEST, (f"{self.state.session_id}:{n}",))
        return None if row is None else RequestState(*row)

    def take_text(self, step: Recorded) -> int:
        """Have the step's words found; how many characters they are."""
        document = document_of(step)
        self.state.text_size = step.n + 1
        if document is None:
            return 0
        self.documents.append((self.state.first_id + step.n, document))
        characters = sum(len(text) for text in document if text is not None)
        self.waiting_characters += characters
        return characters

    def write_steps(self) -> None:
        """Write the rows of steps, edges and documents that are waiting."""
        projection = self.projection
        if projection.steps:
            self._graph.change_many(_WRITE_STEP, map(astuple, projection.steps))
            projection.steps.clear()
        if projection.edges:
            self._graph.change_many(_WRITE_EDGE, map(astuple, projection.edges))
            projection.edges.clear()
        if projection.revised:
            self._graph.change_many("UPDATE steps SET revised_by = ? WHERE id = ?", projection.revised)
            projection.revised.clear()
        if self.documents:
            self._graph.change_many(_WRITE_DOCUMENT, _document_rows(self.documents))
            self.documents.clear()
            self.waiting_characters = 0

    def write(self) -> None:
        """Write everything that is waiting, and how far the session is projected."""
        self.write_steps()
        self._graph.change_many(_WRITE_REQUEST, map(astuple, self.projection.requests.values()))
        self.projection.requests.clear()
        self._graph.change(_WRITE_SESSION, astuple(self.state))


def _document_rows(documents: Sequence[tuple[int, Document]]) -> Iterator[tuple[object, ...]]:
    return ((row_id, *document) for row_id, document in documents)
