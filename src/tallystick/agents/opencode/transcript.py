"""opencode's database: all sessions of all projects in one SQLite file.

A session is a row of `session`, its messages are rows of `message`, what they hold rows of `part`. Of the tables beside
them only names are read: `account`, `credential` and `session_share` hold secrets, `event` repeats what the others say.
Ids of messages and parts are random, but those of calls are the provider's, so they count as unique in a session only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TypeAlias

import msgspec

from tallystick.agents import Reader, Shape, SourceFile
from tallystick.agents.kit.columns import known, moment_ms, number, parsed, word
from tallystick.agents.kit.reading import BadJson, bad_line, dict_of, loads, text_of
from tallystick.agents.kit.tables import Tables
from tallystick.agents.kit.trail import Trail
from tallystick.agents.opencode.parts import (
    Message,
    Part,
    Place,
    answered_call,
    call_steps,
    changes_step,
    compaction_step,
    model_calls,
    prompt_steps,
    spawned,
)
from tallystick.agents.recognition import IN_ITS_PLACE
from tallystick.catalog.agents import AGENTS
from tallystick.model.step import Event, Json, Loss, Opening, Ref, SessionKind, Step

NAME = "opencode"
SHAPE = Shape.SQLITE
GLOBAL_IDS = False
COMPANIONS: tuple[str, ...] = ()
TABLES: Tables = AGENTS[NAME].tables
_LEFT = re.compile(
    r"sqlite_.*|__drizzle_migrations|message|part|session|session_(context_epoch|input|message|share)|todo|migration|"
    r"data_migration|account|account_state|control_account|credential|event|event_sequence|permission|project|"
    r"project_directory|workspace"
)
"""The tables that 1.18 has: those that are read, and those that are left for a reason."""
_MARKS = (
    b"fk_event_aggregate_id_event_sequence_aggregate_id_fk",
    b"fk_workspace_project_id_project_id_fk",
    b"fk_message_session_id_session_id_fk",
    b"fk_part_message_id_message_id_fk",
    b"CREATE TABLE `control_account`",
)
"""Names in its schema, which may begin in the first pages and go on anywhere."""
_BESIDE = ("file_effect", "warning")
"""Steps that no model is shown."""
_Key: TypeAlias = tuple[str | None, float]


def locate() -> tuple[str, ...]:
    """Globs below the home folder that match opencode's databases: releases and other channels have their own."""
    return AGENTS[NAME].histories["transcript"].patterns


def recognises(path: str, head: bytes) -> int:
    """Whether a file is an opencode database: by its place, or by its tables."""
    if not head.startswith(b"SQLite format 3\0"):
        return 0
    in_place = "/opencode/" in path and path.rpartition("/")[2].startswith("opencode")
    seen = sum(name in head for name in _MARKS)
    return (IN_ITS_PLACE if in_place else 0) + (seen if seen > 1 else 0)


def reader(file: SourceFile) -> Reader:
    """A reader for one database."""
    return _Rows()


class _Session(msgspec.Struct):
    """A session while it is read."""

    id: str
    row: dict[str, Json]
    parent: str | None = None
    created: float | None = None
    generation: int = 0
    """How often its context was compacted."""
    asked: Message | None = None
    """A prompt that asks for a compaction, until it is done."""
    calls: set[str] = set()
    changes: Step | None = None
    """What was changed since the last prompt."""
    origin: Ref | None = None
    """The last step of another session that this one began with."""
    is_open: bool = False
    has_messages: bool = False
    sees_all: bool = True

    @property
    def name(self) -> str:
        return self.name_of(self.generation)

    def name_of(self, generation: int) -> str:
        if generation:
            return f"{self.id}~{generation}"
        return self.id


class _Rows:
    """Reads the rows of a database."""

    def __init__(self) -> None:
        self._sessions = Sessions()

    def feed(self, data: bytes, offset: int) -> Iterator[Event]:
        """The events that one row lets us know: a message is complete when the next one begins."""
        try:
            value = dict_of(loads(data).value)
        except BadJson as error:
            yield bad_line(error, offset)
            return
        table, row = text_of(value.get("table")), dict_of(value.get("row"))
        if table == "session":
            yield from self._sessions.session(row)
        elif table == "message":
            yield from self._sessions.message(row, parsed(row.get("data")))
        elif table == "part":
            yield from self._sessions.part(row, parsed(row.get("data")))
        elif table == "sqlite_master":
            name = text_of(row.get("name")) or ""
            if row.get("type") == "table" and not _LEFT.fullmatch(name):
                yield Loss(kind="unknown_table", detail=name)
        else:
            yield Loss(kind=table or "unknown_row")

    def finish(self) -> Iterator[Event]:
        """The last message and the end of the last session."""
        yield from self._sessions.finish()


class Sessions:
    """Sessions, their messages and the parts of these, in this order, as steps.

    Rows are given as the database has them; the value of a column that holds JSON text may be given as it is.
    """

    def __init__(self) -> None:
        self._trail = Trail()
        self._session: _Session | None = None
        self._message: Message | None = None
        self._spawned: dict[str, Ref] = {}
        self._said: dict[_Key, Ref] = {}

    def finish(self) -> Iterator[Event]:
        """The last message and the end of the last session."""
        yield from self._close()

    # Rows ------------------------------------------------------------------------------------------------------------

    def session(self, row: dict[str, Json]) -> Iterator[Event]:
        """A session begins: the one before is complete."""
        yield from self._close()
        key = word(row.get("id"))
        if key is None:
            yield Loss(kind="bad_row", detail="a session without an id", fault=True)
            return
        parent = word(row.get("parent_id"))
        self._session = _Session(key, row, parent if parent != key else None, number(row.get("time_created")))

    def message(self, row: dict[str, Json], data: Json) -> Iterator[Event]:
        """A message begins: the one before is complete."""
        yield from self._flush()
        key, session = word(row.get("id")), word(row.get("session_id"))
        if key is None or session is None or not isinstance(data, dict):
            yield Loss(kind="bad_row", detail=f"message {key}: no id, no session or no data", fault=True)
            return
        if self._session is None or self._session.id != session:
            yield from self._close()
            self._session = _Session(session, {})
        self._message = Message(key, row.get("time_created"), data)

    def part(self, row: dict[str, Json], data: Json) -> Iterator[Event]:
        """A part of the message that was given last."""
        key = word(row.get("id"))
        if key is None or not isinstance(data, dict):
            yield Loss(kind="bad_row", detail=f"part {key}: no id or no data", fault=True)
        elif self._message is None or self._message.id != row.get("message_id"):
            yield Loss(kind="part_of_no_message", detail=f"part {key} of message {row.get('message_id')}")
        else:
            self._message.parts.append(Part(key, row.get("time_created"), data, self._call_id(key, data)))

    def _call_id(self, part: str, data: dict[str, Json]) -> str:
        """The source id of a call: the provider's id, unless it stands for another call of the session already."""
        found = word(data.get("callID"))
        if found is None or self._session is None or found in self._session.calls:
            return part
        self._session.calls.add(found)
        return found

    # Messages --------------------------------------------------------------------------------------------------------

    def _flush(self) -> Iterator[Event]:
        """The steps of the message that is now complete."""
        message, self._message = self._message, None
        session = self._session
        if message is None or session is None:
            return
        if self._is_copy(session, message):
            yield from self._repeated(session, message)
            return
        yield from self._open(session)
        if message.role == "user":
            yield from self._prompt(session, message)
        elif message.role == "assistant":
            yield from self._answer(session, message)
        else:
            yield Loss(kind="unknown_role", detail=f"message {message.id}")
        session.has_messages = True
        self._said[_key(message)] = Ref(self._trail.end(session.name), session.name)

    def _is_copy(self, session: _Session, message: Message) -> bool:
        """Whether a fork brought the message along: it is older than its session, and another session has it."""
        created = number(message.created)
        is_older = created is not None and session.created is not None and created < session.created
        return is_older and not session.has_messages and _key(message) in self._said

    def _repeated(self, session: _Session, message: Message) -> Iterator[Event]:
        session.origin = self._said[_key(message)]
        session.sees_all = False
        detail = f"message {message.id} and its {len(message.parts)} parts repeat {session.origin.session}"
        for _ in range(1 + len(message.parts)):
            yield Loss(kind="repeated_message", detail=detail)

    def _prompt(self, session: _Session, message: Message) -> Iterator[Event]:
        yield from self._end_request(session)
        session.changes = changes_step(message, session.name)
        session.asked = None
        if message.compaction is not None:
            session.asked = message
        for event in prompt_steps(message, self._place(session)):
            yield self._placed(event)

    def _answer(self, session: _Session, message: Message) -> Iterator[Event]:
        for part in message.parts:
            if part.type == "tool" and (child := spawned(part)) is not None:
                self._spawned[child] = Ref(part.call, session.name)
        asked = None
        if message.is_summary:
            asked = session.asked
        done = None
        if asked is not None and asked.id == message.data.get("parentID"):
            done = asked.compaction
        for at in range(len(model_calls(message))):
            later = None
            if done is not None:
                later = session.name_of(session.generation + 1)
            call, *produced = call_steps(message, self._place(session), at, later=later)
            yield self._placed(call)
            if done is not None:
                yield from self._compact(session, done, message.time)
                done = None
            for event in produced:
                yield self._placed(event)

    def _compact(self, session: _Session, part: Part, ts: str | None) -> Iterator[Event]:
        """A compaction is done: the session goes on as the next `<id>~k`, which begins with the summary."""
        session.asked = None
        yield from self._end_request(session)
        old = session.name
        yield self._placed(compaction_step(part, old, ts, is_done=True))
        session.generation += 1
        session.sees_all = not part.data.get("tail_start_id")
        kind = SessionKind.CONTINUATION
        yield Opening(session=session.name, agent=NAME, kind=kind, parent=Ref(part.id, old), ts=ts)

    def _place(self, session: _Session) -> Place:
        is_child = session.parent is not None
        return Place(session.name, is_child, is_first=not session.has_messages, sees_all=session.sees_all)

    def _placed(self, event: Event) -> Event:
        if not isinstance(event, Step):
            return event
        if event.type in _BESIDE:
            return self._trail.beside(event)
        return self._trail.along(event, answers=answered_call(event))

    # Sessions --------------------------------------------------------------------------------------------------------

    def _open(self, session: _Session) -> Iterator[Event]:
        if not session.is_open:
            session.is_open = True
            yield _opening(session, self._spawned.get(session.id))

    def _end_request(self, session: _Session) -> Iterator[Event]:
        """What was changed since the last prompt, and a compaction that came to nothing."""
        changes, asked = session.changes, session.asked
        session.changes = session.asked = None
        if changes is not None:
            yield self._trail.beside(changes)
        part = None
        if asked is not None:
            part = asked.compaction
        if part is not None:
            yield self._trail.beside(compaction_step(part, session.name, None, is_done=False))

    def _close(self) -> Iterator[Event]:
        yield from self._flush()
        session, self._session = self._session, None
        if session is None:
            return
        yield from self._open(session)
        yield from self._end_request(session)
        yield from self._ends(session)

    def _ends(self, session: _Session) -> Iterator[Event]:
        revert = dict_of(_json(session.row.get("revert")))
        if target := word(revert.get("messageID")):
            meta = known({"reason": "revert", "from": word(revert.get("partID")) or target})
            values = known({"content.diff": word(revert.get("diff"))})
            discard = Step(
                session=session.name, type="discard", source_id=f"{target}/discard", meta=meta, values=values
            )
            yield self._trail.beside(discard)
        if title := word(session.row.get("title")):
            values = {"content.title": title}
            yield self._trail.beside(Step(session=session.id, type="system", source_id="title", values=values))
        for generation in range(session.generation):
            name = session.name_of(generation)
            yield Step(session=name, type="session_end", source_id="end", meta={"reason": "compaction"})


def _json(value: Json) -> Json:
    """What a column says: its JSON text, or the value itself where it is not text."""
    if isinstance(value, str):
        return parsed(value)
    return value


def _key(message: Message) -> _Key:
    return message.role, number(message.created) or 0


def _opening(session: _Session, call: Ref | None) -> Opening:
    row = session.row
    kind, parent = SessionKind.ROOT, None
    if session.parent is not None:
        kind, parent = SessionKind.CHILD, call or Ref(None, session.parent)
    elif session.origin is not None:
        kind, parent = SessionKind.FORK, session.origin
    model = dict_of(_json(row.get("model")))
    meta = {
        "agent_version": row.get("version"),
        "agent_role": row.get("agent"),
        "model": model.get("id"),
        "provider": model.get("providerID"),
    }
    values = {
        "personal.cwd": row.get("directory"),
        "content.title": word(row.get("title")),
        "content.url": word(row.get("share_url")),
        "content.permission": _json(row.get("permission")),
        "content.project": row.get("project_id"),
        "content.metadata": _json(row.get("metadata")),
    }
    ts = moment_ms(row.get("time_created"))
    meta, values = known(meta), known(values)
    return Opening(session=session.name, agent=NAME, kind=kind, parent=parent, ts=ts, meta=meta, values=values)
