"""Hermes Agent's `state.db`: one SQLite database with all sessions of a profile.

Sessions come in the order in which they began, each followed by its usage and its messages: a parent is recorded before
what belongs to it. Message ids are row ids, unique in one database only. A compaction in place (same session id) opens
`<id>~k`; one that changes the id opens the session that Hermes made. What a compaction or a branch copies is recognised
and left out: it is recorded where it was said first.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from tallystick.agents import Reader, Shape, SourceFile
from tallystick.agents.hermes.context import Beginning, Carried, Carry, flat_text, says_summary
from tallystick.agents.hermes.rows import MessageRow, SessionRow, message_row, session_row, usage_row
from tallystick.agents.hermes.session import NAME, Session, closing_steps, ending_steps, opening
from tallystick.agents.hermes.steps import answered, delegated_goals, delegation_of, delegation_steps, message_steps
from tallystick.agents.hermes.tree import Relation, parent_id, relation
from tallystick.agents.kit.columns import moment, word
from tallystick.agents.kit.reading import BadJson, bad_line, dict_of, loads, text_of
from tallystick.agents.kit.tables import Tables
from tallystick.agents.kit.trail import Trail
from tallystick.agents.recognition import IN_ITS_PLACE
from tallystick.catalog.agents import AGENTS
from tallystick.model.step import Event, Json, Loss, Opening, Ref, SessionKind, Step

__all__ = ["COMPANIONS", "GLOBAL_IDS", "NAME", "SHAPE", "TABLES", "locate", "reader", "recognises"]

SHAPE = Shape.SQLITE
GLOBAL_IDS = False
COMPANIONS: tuple[str, ...] = ()
TABLES: Tables = AGENTS[NAME].tables
_COPIED_ON = (Relation.COMPRESSION, Relation.ROLLOVER, Relation.BRANCH)
_KNOWN = {table.name for top in TABLES for table in (top, *top.below)}
_INDEXES = ("messages_fts", "sqlite_")


def locate() -> tuple[str, ...]:
    """Globs below the home folder that match Hermes' databases: the default profile's and the others'."""
    return AGENTS[NAME].histories["transcript"].patterns


def recognises(path: str, head: bytes) -> int:
    """Whether a file is a Hermes database: by its place, or by tables that only Hermes has."""
    if not head.startswith(b"SQLite format 3\0"):
        return 0
    in_place = path.endswith("/state.db") and "/.hermes/" in path
    has_tables = b"TABLE messages" in head and b"TABLE session_model_usage" in head
    return (IN_ITS_PLACE if in_place else 0) + (2 if has_tables else 0)


def reader(file: SourceFile) -> Reader:
    """A reader for one database."""
    return _Reader()


class _Reader:
    def __init__(self) -> None:
        self._sessions: dict[str, Session] = {}
        self._beginnings: dict[str, list[Session]] = {}
        self._current: Session | None = None
        self._trail = Trail()
        self._schema: Json = None

    def feed(self, data: bytes, offset: int) -> Iterator[Event]:
        """The events of one row."""
        try:
            value = dict_of(loads(data).value)
        except BadJson as error:
            yield bad_line(error, offset)
            return
        table, row = text_of(value.get("table")), dict_of(value.get("row"))
        if table == "sessions":
            yield from self._take_session(row)
        elif table == "messages":
            yield from self._take_message(row, offset)
        elif table == "session_model_usage":
            yield from self._take_usage(row)
        elif table == "async_delegations":
            yield from self._take_delegation(row)
        elif table == "sqlite_master":
            yield from _unread_table(row)
        else:
            if table == "schema_version":
                self._schema = row.get("version")
            yield Loss(kind=table or "unknown_row")

    def finish(self) -> Iterator[Event]:
        """The end of the last session."""
        yield from self._close()

    # Sessions --------------------------------------------------------------------------------------------------------

    def _take_session(self, row: dict[str, Json]) -> Iterator[Event]:
        yield from self._close()
        found = session_row(row)
        if found is None:
            yield Loss(kind="bad_row", detail="a session without an id", fault=True)
        elif found.id in self._sessions:
            yield Loss(kind="duplicate_row", detail=f"session {found.id}", fault=True)
        else:
            self._begin(found)

    def _begin(self, row: SessionRow) -> Session:
        parent = self._sessions.get(parent_id(row) or "")
        session = Session(row, relation(row, parent.row if parent else None), parent)
        self._sessions[row.id] = self._current = session
        if parent is not None and session.relation in _COPIED_ON:
            is_branch = session.relation is Relation.BRANCH
            session.carry = Carry(parent.history, Beginning(since=row.started, is_whole=is_branch))
        return session

    def _take_usage(self, row: dict[str, Json]) -> Iterator[Event]:
        session = self._current
        if session is None or session.row.id != row.get("session_id"):
            yield Loss(kind="usage_of_no_session", detail=f"session {row.get('session_id')}")
        else:
            session.usage.append(usage_row(row))

    def _open(self, session: Session, parent: Ref | None = None) -> Iterator[Event]:
        """The opening of a session, and the prompt that it runs under."""
        if session.is_open:
            return
        session.is_open = True
        yield opening(session, parent, self._schema)
        if session.row.system_prompt is not None:
            values = {"content.text": session.row.system_prompt}
            yield self._trail.along(Step(session=session.name, type="system", source_id="system", values=values))
            session.live = "system"
            session.row = msgspec.structs.replace(session.row, system_prompt=None)

    def _close(self) -> Iterator[Event]:
        session, self._current = self._current, None
        if session is None:
            return
        yield from self._settle(session)
        yield from self._open(session)
        yield from self._discard(session)
        if not session.is_closed:
            session.is_closed = True
            for step in closing_steps(session):
                yield self._trail.beside(step)
            yield from ending_steps(session)

    def _take_delegation(self, row: dict[str, Json]) -> Iterator[Event]:
        session = self._sessions.get(word(row.get("parent_session_id")) or word(row.get("origin_session")) or "")
        if session is None:
            yield Loss(kind="delegation_of_no_session", detail=f"delegation {row.get('delegation_id')}")
            return
        yield from self._settle(session)
        yield from self._open(session)
        call = session.delegations.get(word(row.get("delegation_id")) or "")
        for event in delegation_steps(row, session.name, call):
            if isinstance(event, Step):
                yield self._trail.beside(event)
            else:
                yield event

    # Messages --------------------------------------------------------------------------------------------------------

    def _take_message(self, row: dict[str, Json], offset: int) -> Iterator[Event]:
        message = message_row(row, offset)
        if message is None:
            yield Loss(kind="bad_row", detail=f"row {offset}: a message without a session or a role", fault=True)
            return
        if self._current is None or self._current.row.id != message.session:
            yield from self._close()
            self._current = self._sessions.get(message.session) or self._begin(SessionRow(id=message.session))
        yield from self._place(self._current, message)

    def _place(self, session: Session, message: MessageRow) -> Iterator[Event]:
        """Hold a message back if it may be a copy, else record it."""
        if session.carry is None:
            session.carry = self._new_carry(session, message)
        if session.carry is not None:
            if session.carry.take(message):
                session.last = message
                return
            yield from self._settle(session)
        yield from self._record(session, message)

    def _new_carry(self, session: Session, message: MessageRow) -> Carry | None:
        """What to hold back from here on, if a new context may begin at this message."""
        last = session.last
        if last is None:
            return self._twin(session, message)
        is_certain = last.is_compacted and message.is_active and not message.is_compacted
        if not is_certain:
            repeats_first = session.history.find(message, session.begins - 1) == session.begins
            if not len(session.history) or not (repeats_first or says_summary(message)):
                return None
        since = None
        if not is_certain:
            since = last.time
        beginning = Beginning(since=since, after=session.begins - 1, is_certain=is_certain)
        return Carry(session.history, beginning)

    def _twin(self, session: Session, message: MessageRow) -> Carry | None:
        """An editor's fork names no parent: it begins with what another session began with, written at once."""
        if session.row.surface != "acp" or session.relation is not None or message.role != "user":
            return None
        twins = self._beginnings.setdefault(flat_text(message.content), [])
        twins.append(session)
        if len(twins) < 2:
            return None
        session.parent = twins[-2]
        beginning = Beginning(since=session.row.started, is_certain=False, is_whole=True)
        return Carry(twins[-2].history, beginning)

    def _settle(self, session: Session) -> Iterator[Event]:
        """Decide about the rows that were held back: which are copies, and of what."""
        carry, session.carry = session.carry, None
        rows = []
        if carry is not None:
            rows = carry.settle()
        if carry is None or not rows:
            return
        copies = [row.original for row in rows if row.original is not None]
        is_in_place = carry.history is session.history
        if is_in_place:
            proof = any(row.is_summary for row in rows)
        else:
            proof = len(copies) > 1
        if not (carry.is_certain or proof):
            for row in rows:
                yield from self._record(session, row.message)
            return
        kept = [carry.history.refs[place] for place in copies]
        if is_in_place:
            yield from self._compact(session, rows[0].message, kept)
        elif session.relation in (None, Relation.BRANCH):
            session.relation = Relation.BRANCH
            yield from self._open(session, kept[-1] if kept else None)
        yield from self._record_carried(session, rows, carry, [] if is_in_place else kept)

    def _record_carried(self, session: Session, rows: list[Carried], carry: Carry, kept: list[Ref]) -> Iterator[Event]:
        """The rows at the beginning of a context: copies only counted, the summary with what was `kept` beside it."""
        for row in rows:
            if row.original is None:
                yield from self._record(session, row.message, kept=kept if row.is_summary else None)
                continue
            original = carry.history.refs[row.original]
            session.history.add(row.message, original)
            session.extra, session.sees_all = (original,), False
            detail = f"message {row.message.id} repeats {original.source_id} of {original.session}"
            yield Loss(kind="repeated_message", detail=detail)

    def _compact(self, session: Session, first: MessageRow, kept: list[Ref]) -> Iterator[Event]:
        """A compaction in place: the session goes on as the next `<id>~k`."""
        yield from self._discard(session)
        old, source_id, ts = session.name, f"{first.id}/compaction", moment(first.time)
        taken = len(session.history) - session.begins - len(kept)
        meta: dict[str, Json] = {"mode": "in-place", "kept": len(kept), "summarized": max(0, taken)}
        values = {}
        if kept:
            values = {"content.kept": [ref.source_id for ref in kept]}
        yield Step(session=old, type="compaction", source_id=source_id, ts=ts, meta=meta, values=values)
        session.generation += 1
        session.begins, session.live, session.extra, session.sees_all = len(session.history), None, (), True
        kind = SessionKind.CONTINUATION
        yield Opening(session=session.name, agent=NAME, kind=kind, parent=Ref(source_id, old), ts=ts)

    def _record(self, session: Session, message: MessageRow, *, kept: list[Ref] | None = None) -> Iterator[Event]:
        """The steps of a message. `kept`: it is the summary of a compaction that kept these messages as they were."""
        is_first = not len(session.history)
        session.last = message
        yield from self._open(session)
        if not message.is_rewound:
            yield from self._discard(session)
        is_summary = kept is not None or (is_first and says_summary(message))
        for event in message_steps(message, session.speaker(is_first=is_first, is_summary=is_summary), session.calls):
            if isinstance(event, Step):
                event = self._along(session, event, answered(message, session.calls))
                event = _with_kept(event, kept or [])
                _remember(session, event)
            yield event
        session.history.add(message, Ref(self._trail.end(session.name), session.name))
        if message.is_rewound:
            session.rewound.append(message.id)
        else:
            session.live = self._trail.end(session.name)

    def _along(self, session: Session, step: Step, answers: str | None) -> Step:
        end = self._trail.end(session.name)
        if session.extra and end is not None:
            step = msgspec.structs.replace(step, after=(Ref(end), *session.extra))
        session.extra = ()
        return self._trail.along(step, answers=answers)

    def _discard(self, session: Session) -> Iterator[Event]:
        """What a rewind took back; the conversation goes on from before it."""
        if session.rewound:
            taken, session.rewound = session.rewound, []
            meta: dict[str, Json] = {"reason": "rewind", "messages": len(taken)}
            discard = Step(session=session.name, type="discard", source_id=f"{taken[-1]}/discard", meta=meta)
            yield self._trail.beside(discard)
            self._trail.turn_back(session.name, session.live)


def _remember(session: Session, step: Step) -> None:
    """Keep what a later row may refer to: goals of sub-agents, and delegations."""
    session.goals += [(goal, Ref(step.source_id, session.name)) for goal in delegated_goals(step)]
    delegation = delegation_of(step)
    if delegation is not None and step.source_id is not None:
        session.delegations[delegation] = step.source_id


def _with_kept(step: Step, kept: list[Ref]) -> Step:
    if not kept or step.type not in ("user", "assistant"):
        return step
    values: dict[str, Any] = {**step.values, "content.kept": [ref.source_id for ref in kept]}
    return msgspec.structs.replace(step, values=values, meta={**step.meta, "kept": len(kept)})


def _unread_table(row: dict[str, Json]) -> Iterator[Loss]:
    """A table that is not read: newer versions may keep something there."""
    name = text_of(row.get("name")) or ""
    if row.get("type") == "table" and name not in _KNOWN and not name.startswith(_INDEXES):
        yield Loss(kind="unknown_table", detail=name)
