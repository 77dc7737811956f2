"""The rows of one session in the file: finding a place for them, writing them, reading them back, taking them out.

Owns the SQL of projecting. Must not know journals, nor what the rows mean.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from msgspec.structs import astuple

from tallystick.graph.document import COLUMNS, Document, document_of
from tallystick.graph.graph import Graph
from tallystick.graph.pending import SessionRows
from tallystick.graph.projection.earlier import Read, RecordedCall
from tallystick.graph.projection.statements import columns, insertion, replacement
from tallystick.graph.session_ids import ids_of
from tallystick.graph.tables import (
    CheckpointRow,
    EdgeRow,
    EventRow,
    FlowRow,
    IntentRow,
    ObservationRow,
    RequestState,
    ScriptRow,
    SessionState,
    StepRow,
    SystemRow,
    UsageState,
)
from tallystick.lineage.access import CHANGING, DEEDS, Access
from tallystick.lineage.things import file_thing, thing_key
from tallystick.model.recorded import Recorded

_NEWEST_CALLS = """
    SELECT s.n, coalesce(
        (SELECT r.ts FROM agent_events r WHERE r.tool_use_id = s.corr AND r.type = 'PostToolUse'
            AND r.event_id > s.id AND r.event_id < ?2 ORDER BY r.event_id DESC LIMIT 1),
        CASE WHEN s.corr IS NULL THEN
            (SELECT r.at_us / 1000 FROM steps r WHERE r.id > s.id AND r.id < ?2 AND r.type = 'tool_result'
                AND r.corr IS NULL AND r.parent = s.n AND r.corroborates IS NULL ORDER BY r.id DESC LIMIT 1) END,
        CASE WHEN s.success IS NOT NULL THEN s.at_us / 1000 + coalesce(s.duration_ms, 0) END,
        (SELECT e.at_us / 1000 FROM steps e WHERE e.id > s.id AND e.id < ?2 AND e.type IN ('user', 'session_end')
            AND e.corroborates IS NULL ORDER BY e.id LIMIT 1))
    FROM steps s WHERE s.id >= ?1 AND s.id < ?2 AND s.type = 'tool_call' AND s.corroborates IS NULL
        AND EXISTS (SELECT 1 FROM intents i WHERE i.step_id = s.id) ORDER BY s.id DESC LIMIT ?3
"""
"""Calls and when they ended: with their newest result, or by themselves, or when a prompt or the session's end came."""
ROOM = 1 << 16
"""How many ids are free behind the first id of a new session, at least."""

_FEW = 100


# Two statements instead of INSERT OR REPLACE: that one opens a savepoint, at which FTS5 writes out all that it holds back.
_REMOVE_SESSION = "DELETE FROM sessions WHERE session_id = ?"
_REMOVE_USAGE = "DELETE FROM usage WHERE session_id = ? AND model = ? AND day = ?"
_REPLACE_CHECKPOINT = "UPDATE checkpoints SET replaced_by = ? WHERE hash = ? AND session_id = ?"
_REMOVE_REQUEST = "DELETE FROM requests WHERE request_id = ?"
_WRITE_SESSION = insertion("sessions", SessionState)
_WRITE_REQUEST = insertion("requests", RequestState)
_WRITE_USAGE = insertion("usage", UsageState)
_WRITE_CHECKPOINT = insertion("checkpoints", CheckpointRow)
_WRITE_STEP = insertion("steps", StepRow)
_WRITE_EDGE = replacement("session_edges", EdgeRow)
_WRITE_EVENT = insertion("agent_events", EventRow)
_WRITE_SYSTEM = insertion("system_events", SystemRow)
_WRITE_INTENT = insertion("intents", IntentRow)
_WRITE_ACCESS = insertion("accesses", Access)
_WRITE_FLOW = insertion("flows", FlowRow).replace("INSERT", "INSERT OR IGNORE", 1)
_WRITE_SCRIPT = insertion("scripts", ScriptRow)
_WRITE_OBSERVATION = insertion("artifact_observations", ObservationRow)
_WRITE_THING = (  # of the spellings that name one file, the same whichever session is read first
    "INSERT INTO things (thing, kind, uri) VALUES (?, ?, ?)"
    " ON CONFLICT (thing) DO UPDATE SET uri = excluded.uri WHERE excluded.uri < uri"
)
_UNSETTLE = "INSERT OR IGNORE INTO unsettled (thing) VALUES (?)"
_UNSETTLE_STEPS = (
    "INSERT OR IGNORE INTO unsettled (thing) SELECT thing FROM accesses WHERE step_id >= ? AND step_id < ?"
)
_DECIDE = "UPDATE intents SET outcome = ? WHERE step_id = ? AND k BETWEEN ? AND ?"
_CHANGES_OF = (
    "SELECT step_id, operation, digest FROM accesses WHERE thing = ? AND step_id >= ? AND step_id < ? AND result < ?"
    " AND actor = 'agent_event' ORDER BY result DESC, step_id DESC, k DESC"
)
_NEWEST_READS = (
    "SELECT thing, step_id, k, request_id, result FROM accesses WHERE step_id >= ? AND step_id < ? AND shown = 1"
    " ORDER BY result DESC, step_id DESC, k DESC"
)
_WRITE_DOCUMENT = f"INSERT INTO search (rowid, {', '.join(COLUMNS)}) VALUES (?{', ?' * len(COLUMNS)})"
_END_BELOW = "SELECT first_id + size FROM sessions WHERE first_id <= ? ORDER BY first_id DESC LIMIT 1"
_READ_SESSION = f"SELECT {columns(SessionState)} FROM sessions WHERE session_id = ?"
_READ_REQUEST = f"SELECT {columns(RequestState)} FROM requests WHERE request_id = ?"
_READ_USAGE = f"SELECT {columns(UsageState)} FROM usage WHERE session_id = ? AND model = ? AND day = ?"
_READ_STEP = f"SELECT {columns(StepRow)} FROM steps WHERE id = ?"


def read_session(graph: Graph, session: str) -> SessionState | None:
    """What the index holds of a session, None if nothing."""
    row = graph.row(_READ_SESSION, (session,))
    if row is None:
        return None
    return SessionState(*row)


class Position(NamedTuple):
    """How far a session is in the index: which file, which rules, to which byte, how many steps and texts."""

    inode: int = -1
    rules: str = ""
    read_to: int = 0
    size: int = 0
    text_size: int = 0


def read_positions(graph: Graph, sessions: Sequence[str]) -> dict[str, Position]:
    """How far each of the sessions is that the index has."""
    few = len(sessions) <= _FEW
    where = ""
    if few:
        where = f" WHERE session_id IN ({', '.join('?' * len(sessions))})"
    rows = graph.rows(
        f"SELECT session_id, inode, rules, read_to, size, text_size FROM sessions{where}", sessions if few else ()
    )
    return {session: Position(*rest) for session, *rest in rows}


def new_session(graph: Graph, session: str, *, inode: int, room: int) -> SessionState:
    """The state of a session of which nothing is projected yet, with ids for at least `room` steps."""
    return SessionState(session, inode=inode, first_id=_free_id(graph, session, room))


def _free_id(graph: Graph, session: str, room: int) -> int:
    for candidate in ids_of(session):
        below = graph.row(_END_BELOW, (candidate,))
        above = ceiling(graph, candidate)
        if (below is None or below[0] <= candidate) and (above is None or above - candidate >= room):
            return candidate
    raise AssertionError("the candidates never end")


def read_place(graph: Graph, state: SessionState, n: int) -> tuple[str, int]:
    """The hash of a step that is in the index, and where its line begins."""
    row = graph.row("SELECT hash, offset FROM steps WHERE id = ?", (state.first_id + n,))
    if row is None:
        return "", 0
    return row[0], row[1]


def ceiling(graph: Graph, first_id: int) -> int | None:
    """The first id above that belongs to another session, None if not found."""
    row = graph.row("SELECT min(first_id) FROM sessions WHERE first_id > ?", (first_id,))
    return None if row is None else row[0]


def remove_session(graph: Graph, state: SessionState) -> bool:
    """Take all rows of a session out; True if that emptied the search index."""
    ids = (state.first_id, state.first_id + state.size)
    graph.change(_UNSETTLE_STEPS, ids)
    for table, column in _BY_STEP:
        graph.change(f"DELETE FROM {table} WHERE {column} >= ? AND {column} < ?", ids)
    graph.change("DELETE FROM agent_events WHERE type = 'file_intent' AND step_id >= ? AND step_id < ?", ids)
    graph.change("DELETE FROM relations WHERE src_kind = 'agent_event' AND src_id >= ? AND src_id < ?", ids)
    graph.change("DELETE FROM relations WHERE dst_kind = 'system_event' AND dst_id >= ? AND dst_id < ?", ids)
    for table in ("usage", "checkpoints", "requests", "session_edges", "sessions"):
        graph.change(f"DELETE FROM {table} WHERE session_id = ?", (state.session_id,))
    if state.text_size == 0:
        return False
    graph.change("INSERT INTO search (search) VALUES ('delete-all')")
    graph.change("UPDATE sessions SET text_size = 0")
    return True


_BY_STEP = (
    ("steps", "id"),
    ("agent_events", "event_id"),
    ("system_events", "event_id"),
    ("intents", "step_id"),
    ("accesses", "step_id"),
    ("flows", "target_step"),
    ("flows", "source_step"),
    ("artifact_observations", "agent_event_id"),
    ("scripts", "step_id"),
)
"""Tables with rows of steps, and the column that names the step."""


class Writer:
    """Writes the rows of one session as they are made, and finds those made before: session.Earlier."""

    def __init__(self, graph: Graph, state: SessionState, read: Callable[[int], Recorded | None]) -> None:
        """`read` gives the step whose line begins at an offset of the journal."""
        self.state = state
        self._read = read
        self.rows = SessionRows()
        self.documents: list[tuple[int, Document]] = []
        self.waiting_characters = 0
        self._graph = graph

    def step(self, n: int) -> StepRow | None:
        """The row of step `n`."""
        self.write_steps()
        row = self._graph.row(_READ_STEP, (self.state.first_id + n,))
        if row is None:
            return None
        return StepRow(*row)

    def request(self, n: int) -> RequestState | None:
        """The row of the request that prompt `n` opened."""
        row = self._graph.row(_READ_REQUEST, (self.state.first_id + n,))
        if row is None:
            return None
        return RequestState(*row)

    def usage(self, model: str, day: int) -> UsageState | None:
        """What a model used in the session on a day."""
        row = self._graph.row(_READ_USAGE, (self.state.session_id, model, day))
        if row is None:
            return None
        return UsageState(*row)

    # Earlier calls --------------------------------------------------------------------------------------------------

    def call_of(self, corr: str) -> int | None:
        """n of the newest call with this id."""
        self.write_steps()
        row = self._graph.row(
            "SELECT max(id) FROM steps WHERE corr = ? AND type = 'tool_call' AND corroborates IS NULL AND id >= ? AND id < ?",
            (corr, *self._ids),
        )
        return None if row is None or row[0] is None else row[0] - self.state.first_id

    def call_again(self, n: int) -> RecordedCall | None:
        """Call `n` as an earlier run projected it."""
        row = self.step(n)
        id_ = self.state.first_id + n
        outcome = self._graph.row("SELECT outcome FROM intents WHERE step_id = ? ORDER BY k LIMIT 1", (id_,))
        if row is None or row.type != "tool_call" or outcome is None:
            return None
        before = self._graph.row(
            "SELECT n FROM steps WHERE id >= ? AND id < ? AND type = 'model_call' ORDER BY id DESC LIMIT 1",
            (self.state.first_id, id_),
        )
        step = self._read(row.offset)
        if step is None or step.hash != row.hash:
            return None
        scripts = self._graph.rows("SELECT path, source_step FROM scripts WHERE step_id = ?", (id_,))
        known = {path: source - self.state.first_id for path, source in scripts}
        return RecordedCall(step, row, self._folder_of(n), before[0] if before is not None else None, outcome[0], known)

    def writer_of(self, path: str, n: int) -> int | None:
        """The step that had left a file as a whole when call `n` was made, if nothing of the session changed it since."""
        self.write_steps()
        thing = thing_key(file_thing(path), self.state.session_id)
        for step_id, operation, digest in self._graph.rows(_CHANGES_OF, (thing, *self._ids, n)):
            if DEEDS.get(operation) in CHANGING:
                return step_id - self.state.first_id if digest is not None else None
        return None

    def content_at(self, n: int, path: str) -> str | None:
        """What call `n` left in a file."""
        from tallystick.graph.calls import content_of, effects_of, uses_of_call

        row, folder = self.step(n), self._folder_of(n)
        step = None
        if row is not None:
            step = self._read(row.offset)
        if row is None or step is None or step.hash != row.hash:
            return None
        return content_of(effects_of(uses_of_call(step, folder, row.agent_id), folder), path)

    def _folder_of(self, n: int) -> str | None:
        row = self._graph.row("SELECT cwd FROM agent_events WHERE event_id = ?", (self.state.first_id + n,))
        if row is None:
            return None
        return row[0] or None

    def newest_calls(self, most: int) -> list[tuple[RecordedCall, int | None]]:
        """The newest calls that have intents, oldest first, and when each ended."""
        self.write_steps()
        rows = self._graph.rows(_NEWEST_CALLS, (*self._ids, most))
        found = [(self.call_again(n), end_ms) for n, end_ms in reversed(rows)]
        return [(again, end_ms) for again, end_ms in found if again is not None]

    def request_of(self, n: int) -> int | None:
        """The request that call `n` belongs to."""
        row = self._graph.row("SELECT request_id FROM agent_events WHERE event_id = ?", (self.state.first_id + n,))
        return None if row is None else row[0]

    def reads(self, most: int) -> list[Read]:
        """The newest read of each thing that the model was shown, newest last, so many at most."""
        self.write_steps()
        newest: dict[int, Read] = {}
        for row in self._graph.rows(_NEWEST_READS, self._ids):
            read = Read(*row)
            newest.setdefault(read.thing, read)
            if len(newest) >= most:
                break
        return list(reversed(newest.values()))

    def files_below(self, folder: str, most: int) -> list[str]:
        """Absolute paths below a folder that this session touched."""
        self.write_steps()
        begin = f"file://{folder.rstrip('/')}/"
        rows = self._graph.rows(
            "SELECT DISTINCT t.uri FROM accesses a JOIN things t ON t.thing = a.thing WHERE a.step_id >= ? AND a.step_id < ?"
            " AND t.kind = 'file' AND t.uri >= ? AND t.uri < ? ORDER BY t.uri LIMIT ?",
            (*self._ids, begin, begin[:-1] + "0", most),
        )
        return [row[0].removeprefix("file://") for row in rows]

    def undo_call(self, n: int) -> None:
        """Take out the intents of call `n` and the result of them."""
        self.undo_result(n)
        id_ = (self.state.first_id + n,)
        self._graph.change("DELETE FROM intents WHERE step_id = ?", id_)
        self._graph.change("DELETE FROM scripts WHERE step_id = ?", id_)
        self._graph.change("DELETE FROM agent_events WHERE type = 'file_intent' AND step_id = ?", id_)

    def undo_result(self, n: int) -> None:
        """Take out the result of the intents of call `n`."""
        self.write_steps()
        id_ = self.state.first_id + n
        self._graph.change(_UNSETTLE_STEPS, (id_, id_ + 1))
        for table, column in (
            ("accesses", "step_id"),
            ("flows", "target_step"),
            ("flows", "source_step"),
            ("artifact_observations", "agent_event_id"),
        ):
            self._graph.change(f"DELETE FROM {table} WHERE {column} = ?", (id_,))

    @property
    def _ids(self) -> tuple[int, int]:
        return self.state.first_id, self.state.first_id + self.state.size

    # Writing --------------------------------------------------------------------------------------------------------

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
        rows = self.rows
        if rows.steps:
            self._graph.change_many(_WRITE_STEP, map(astuple, rows.steps))
            rows.steps.clear()
        if rows.edges:
            self._graph.change_many(_WRITE_EDGE, map(astuple, rows.edges))
            rows.edges.clear()
        if rows.checkpoints:
            self._graph.change_many(_WRITE_CHECKPOINT, map(astuple, rows.checkpoints))
            rows.checkpoints.clear()
        if rows.replaced:
            self._graph.change_many(_REPLACE_CHECKPOINT, [(*pair, self.state.session_id) for pair in rows.replaced])
            rows.replaced.clear()
        if rows.revised:
            self._graph.change_many("UPDATE steps SET revised_by = ? WHERE id = ?", rows.revised)
            rows.revised.clear()
        self._write_lineage()
        if self.documents:
            self._graph.change_many(_WRITE_DOCUMENT, _document_rows(self.documents))
            self.documents.clear()
            self.waiting_characters = 0

    def _write_lineage(self) -> None:
        rows = self.rows.lineage
        for sql, waiting in (
            (_WRITE_EVENT, rows.events),
            (_WRITE_SYSTEM, rows.system),
            (_WRITE_INTENT, [intent for intents in rows.intents.values() for intent in intents]),
            (_WRITE_ACCESS, rows.accesses),
            (_WRITE_FLOW, rows.flows),
            (_WRITE_SCRIPT, rows.scripts),
            (_WRITE_OBSERVATION, rows.observations),
        ):
            if waiting:
                self._graph.change_many(sql, map(astuple, waiting))
        if rows.outcomes:
            self._graph.change_many(_DECIDE, rows.outcomes)
        if rows.accesses:
            self._graph.change_many(_UNSETTLE, {(access.thing,) for access in rows.accesses})
        if rows.things:
            self._graph.change_many(_WRITE_THING, [(id_, *thing) for id_, thing in rows.things.items()])
            rows.things.clear()
        for done in (
            rows.events,
            rows.system,
            rows.intents,
            rows.accesses,
            rows.flows,
            rows.outcomes,
            rows.observations,
            rows.scripts,
        ):
            done.clear()

    def write(self) -> None:
        """Write everything that is waiting, and how far the session is projected."""
        self.write_steps()
        requests = self.rows.requests
        self._graph.change_many(_REMOVE_REQUEST, [(request.request_id,) for request in requests.values()])
        self._graph.change_many(_WRITE_REQUEST, map(astuple, requests.values()))
        requests.clear()
        usage = self.rows.usage
        self._graph.change_many(_REMOVE_USAGE, [(used.session_id, used.model, used.day) for used in usage.values()])
        self._graph.change_many(_WRITE_USAGE, [astuple(used) for used in usage.values() if used.calls])
        usage.clear()
        self._graph.change(_REMOVE_SESSION, (self.state.session_id,))
        self._graph.change(_WRITE_SESSION, astuple(self.state))


def _document_rows(documents: Sequence[tuple[int, Document]]) -> Iterator[tuple[object, ...]]:
    return ((row_id, *document) for row_id, document in documents)
