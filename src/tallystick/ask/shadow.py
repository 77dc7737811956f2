"""The shadow of a recorded session: its transcripts are read once more, in memory, and compared with the record.

Owns which files those are, how much of them is read at most, and what an agent is known to report differently. What is
compared is sessions/shadow.py's. Must not know when it is done, nor where the differences are kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from tallystick.agents import Adapter, Shape
from tallystick.agents.blind_spots import explaining
from tallystick.capture.discover import Found, reading_order, recognise
from tallystick.capture.history import HistoryFile
from tallystick.errors import TallystickError
from tallystick.graph.family import whole_trees
from tallystick.graph.graph import Graph
from tallystick.journal.home import Home
from tallystick.journal.read import read_session
from tallystick.model.ids import SessionId
from tallystick.model.recorded import Recorded
from tallystick.model.step import Event, Source, Step
from tallystick.recording.session_writer import SessionWriter
from tallystick.sessions.shadow import Account, Aspect, Difference, differences, recorded, told
from tallystick.sessions.states import Status
from tallystick.workspace.ledger import ledger_entries

ABOUT = "shadow"
"""The `about` of a `warning` that says in what a record and its transcripts differ."""
MOST_BYTES = 64 << 20
_MOST_KEPT = 100
_LATE = "a step waited in the spool while no recorder ran"
_ORDER = "order"
"""Among the types of a blind spot: the source tells what is not always recorded in its place."""
_KINDS = {
    Aspect.TREE: "session_start",
    Aspect.PROMPT: "user",
    Aspect.CALL: "tool_call",
    Aspect.OUTCOME: "tool_result",
    Aspect.TOKENS: "model_call",
    Aspect.STATUS: "session_end",
}


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """A difference, and what explains it: nothing that is known, if it is empty."""

    difference: Difference
    because: tuple[str, ...] = ()


class Shadow(msgspec.Struct, frozen=True, kw_only=True):
    """The comparison of a session, and of what belongs to it, with its files."""

    session: str
    agent: str
    files: tuple[str, ...]
    unread: tuple[str, ...]
    """Files that are not there any more, cannot be read, or were too much."""
    rows: tuple[Row, ...]
    kept: tuple[Row, ...]
    """What the comparison before found, as the record has it."""

    @property
    def is_news(self) -> bool:
        """Whether the comparison before found something else."""
        return msgspec.json.encode(self.rows[:_MOST_KEPT]) != msgspec.json.encode(self.kept)

    @property
    def unexplained(self) -> tuple[Row, ...]:
        """The differences that nothing explains."""
        return tuple(row for row in self.rows if not row.because)


def shadow_of(home: Home, graph: Graph, session: str, adapters: Mapping[str, Adapter]) -> Shadow | None:
    """A session's shadow, with all that belongs to it; None if no file of it was ever read.

    Raises:
        JournalError: a journal cannot be read. GraphError: the index cannot be.
    """
    tree = [link.session for link in whole_trees(graph, [session])] or [session]
    paths = _paths(home, frozenset(tree))
    if not paths:
        return None
    journals = {sid: list(read_session(home, sid)) for sid in tree}
    agent = str(journals[session][0].member("agent"))
    mine = {sid: steps for sid, steps in journals.items() if steps and steps[0].member("agent") == agent}
    record = recorded(mine)
    reading = _Reading(paths, adapters)
    events = list(reading.events())
    transcripts = told(events, shared=_homes(record).get, are_ids_global=reading.are_ids_global)
    if reading.has_others:
        transcripts = _belonging(transcripts, record)
    else:
        transcripts = {name: each for name, each in transcripts.items() if _base(name) in map(_base, record)}
    below = _below(str(journals[session][0].member("source_session")), {**transcripts, **record})
    found = [one for one in differences(record, transcripts) if one.session in below]
    rows = () if reading.unread else tuple(Row(difference=one, because=explained(agent, one)) for one in found)
    return Shadow(
        session=session,
        agent=agent,
        files=reading.files,
        unread=tuple(reading.unread),
        rows=rows,
        kept=_kept(journals[session]),
    )


def _paths(home: Home, sessions: frozenset[str]) -> list[str]:
    """The files from which sessions were read, as the ledger has them."""
    found: dict[str, None] = {}
    for entry in ledger_entries(home, holding=b"import"):
        source = entry.values.get("local.source")
        if entry.type == "import" and entry.meta.get("session") in sessions and isinstance(source, dict):
            found[str(source.get("path"))] = None
    return list(found)


def _below(session: str, accounts: Mapping[str, Account]) -> frozenset[str]:
    """A session and what belongs to it, but for what was forked from it: that is a session of its own."""
    found: set[str] = set()
    waiting = [session]
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        found.add(name)
        waiting += [each.session for each in accounts.values() if each.parent == name and each.kind != "fork"]
    return frozenset(found)


def _homes(record: Mapping[str, Account]) -> dict[str, str]:
    return {name: session for session, account in record.items() for event in account.events for name in event.names}


def _base(session: str) -> str:
    return session.partition("~")[0].partition("/")[0]


def _belonging(transcripts: Mapping[str, Account], record: Mapping[str, Account]) -> dict[str, Account]:
    """Of the sessions of a database, those of the tree and what belongs to them."""
    wanted = set(record)
    return {
        name: each
        for name, each in transcripts.items()
        if name in wanted or _base(name) in wanted or (each.parent is not None and each.parent in wanted)
    }


class _Reading:
    """Files that are read once more."""

    def __init__(self, paths: Sequence[str], adapters: Mapping[str, Adapter]) -> None:
        self._adapters = adapters
        self.unread: list[str] = []
        found = list(recognise([Path(path) for path in paths if Path(path).is_file()], adapters))
        files = reading_order(each for each in found if isinstance(each, Found))
        known = {str(each.path) for each in files}
        self.unread += [path for path in paths if path not in known]
        self._files = files
        self.files = tuple(str(each.path) for each in files)
        self.has_others = any(adapters[each.agent].SHAPE is Shape.SQLITE for each in files)
        """Whether a file holds sessions that are none of these."""
        self.are_ids_global = any(adapters[each.agent].GLOBAL_IDS for each in files)
        """Whether the agent's ids hold for all its sessions."""

    def events(self) -> Iterator[Event]:
        left = MOST_BYTES
        for file in self._files:
            if file.size > left:
                self.unread.append(str(file.path))
                continue
            left -= file.size
            try:
                for piece in HistoryFile(file.path, self._adapters[file.agent]).pieces():
                    yield from piece.events
            except (TallystickError, OSError):
                self.unread.append(str(file.path))


def explained(agent: str, found: Difference) -> tuple[str, ...]:
    """What is known that explains a difference."""
    if found.is_late:
        return (_LATE,)
    if found.aspect is Aspect.ORDER:
        return tuple(spot.when for spot in explaining(agent, Source.HOOK, _ORDER, None))
    kind = _KINDS.get(found.aspect)
    if found.aspect is Aspect.STATUS:
        is_told = found.recorded != Status.FAILED  # all that a file can be silent of is that the agent was stopped
    else:
        is_told = found.transcript is not None
    if kind is None or is_told:
        return ()
    return tuple(spot.when for spot in explaining(agent, Source.TRANSCRIPT, kind, None))


# Kept ------------------------------------------------------------------------------------------------------------------


def note(session_writer: SessionWriter, shadow: Shadow) -> None:
    """Record in what a session and its files differ. The session has ended, and stays so.

    Raises: JournalError: it cannot be written.
    """
    said = Step(
        session=shadow.session,
        type="warning",
        source=Source.WATCH,
        meta={"about": ABOUT, "differences": len(shadow.rows)},
        values={
            "content.differences": msgspec.to_builtins(shadow.rows[:_MOST_KEPT]),
            "content.paths": list(shadow.files),
        },
    )
    with session_writer.lock:
        record = session_writer.writer.record_of(SessionId(shadow.session), shadow.agent)
        with record.reopened("watch", ABOUT):
            session_writer.add_to(record, said)


def _kept(steps: Iterable[Recorded]) -> tuple[Row, ...]:
    """The differences that a journal holds, as the newest comparison has them."""
    rows: tuple[Row, ...] = ()
    for step in steps:
        if step.type == "warning" and step.meta.get("about") == ABOUT:
            rows = rows_in(step)
    return rows


def rows_in(step: Recorded) -> tuple[Row, ...]:
    """The differences that a step holds."""
    try:
        return msgspec.convert(step.values.get("content.differences"), tuple[Row, ...])
    except msgspec.ValidationError:
        return ()
