"""Where a conversation comes from, by what is recorded: the way up to its first session, and its compactions.

Owns looking that up, and saying where an agent's own store tells otherwise by now. What is sealed does not change when
the agent deletes, reopens or copies its sessions. Must not know how it is shown.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import msgspec
from msgspec.structs import replace

from tallystick.capture.hermes_store import HermesStore
from tallystick.errors import JournalError, SourceError
from tallystick.graph.conversations import compaction_places, last_continuation, place_of, usage_places
from tallystick.graph.lookup import resolve_session
from tallystick.graph.queries import SessionRow, get_session
from tallystick.journal.home import Home
from tallystick.journal.read import read_at, read_file
from tallystick.model.recorded import Recorded
from tallystick.model.step import Json
from tallystick.sessions.compactions import (
    FIRST_STEPS,
    Around,
    Compaction,
    base_of,
    compaction_of,
    is_compaction,
    summed,
)
from tallystick.sessions.hermes_links import differences, hermes_links, rows_of
from tallystick.sessions.hermes_provenance import AGENT, Rule, build_session_provenance
from tallystick.sessions.origins import link_of, sealed_parent, task_of
from tallystick.sessions.provenance import Kind, Known, Link, Sealed, Way, provenance, way_up
from tallystick.workspace.index import Index
from tallystick.workspace.ledger import ledger_entries

_RUN = "run"
_COMPACTING = ("compression", "compaction")


class Account(msgspec.Struct, frozen=True, kw_only=True):
    """Where a conversation comes from."""

    asked: SessionRow
    """The session that was named, and the one that is live now: its last continuation."""
    current: SessionRow
    way: Way
    compactions: tuple[Compaction, ...]
    said: dict[str, Json]
    """The account as data."""


def account_of(
    home: Home, index: Index, handle: str, *, store: Path | None = None, default: Path | None = None
) -> Account:
    """The account of the conversation that someone named, by our id, the agent's own, or an editor's.

    Our id means that very session; the agent's and the editor's mean what goes on under them: the last continuation.

    Args:
        store: Hermes' `state.db`, for its sessions; None: the one that they were imported from, else `default`.

    Raises:
        NotFoundError, AmbiguousError: the name means no session, or several.
        JournalError: its journal cannot be read. GraphError: the index cannot be read.
    """
    asked = resolve_session(index.graph, handle)
    origins = _Origins(home, index)
    is_ours = asked.session.startswith(handle.lower())
    last = get_session(index.graph, last_continuation(index.graph, asked.session)) or asked
    current = last
    if is_ours:
        current = asked
    way = way_up(current.session, origins.link)
    if way is None:
        raise JournalError(f"cannot read the first entry of session {current.session}", hint="run `tally verify`")
    compactions = tuple(origins.compactions(way))
    said = provenance(
        current.agent,
        base_of(asked.source_session or asked.session),
        way,
        Known(
            sealed=Sealed(session=current.session, size=current.size, head=current.last_hash),
            compactions=summed(compactions, whole=True),
            continued_as=(last.source_session or last.session) if last.session != current.session else None,
        ),
    )
    if current.agent == AGENT:
        said["agentStore"] = _compared(home, way, store, default)
    return Account(asked=asked, current=current, way=way, compactions=compactions, said=said)


def in_hermes_words(account: Account, rule: Rule) -> dict[str, Json] | None:
    """The account as Hermes words it, by what is recorded. What Hermes compacts in place is one session to it."""
    named = base_of(account.asked.source_session or account.asked.session)
    rows = rows_of(account.way, in_place=account.current.agent != AGENT)
    live = account.current.source_session or account.current.session
    current = live
    if account.current.agent == AGENT:
        current = base_of(live)
    return build_session_provenance(rows, named, current, rule=rule)


class _Origins:
    """How sessions began, read from their journals; the index only says where to look."""

    def __init__(self, home: Home, index: Index) -> None:
        self._home = home
        self._graph = index.graph
        self.link = cache(self._link)

    def _link(self, session: str) -> Link | None:
        row = get_session(self._graph, session)
        first = None
        if row is not None:
            first = self._read(session, 0)
        if row is None or first is None:
            return None
        sealed = sealed_parent(first)
        if sealed is None:
            parent = row.parent or row.claimed_session
            return self._of_run(link_of(first, parent))
        cause = self._entry(*sealed)
        link = link_of(first, sealed[0], cause)
        if cause is not None and link.kind is Kind.DELEGATE:
            link = self._spawned(link, first, cause)
        return self._of_run(link)

    def _of_run(self, link: Link) -> Link:
        """A session under `tally run` is no one's sub-agent."""
        above = None
        if link.parent is not None:
            above = get_session(self._graph, link.parent)
        is_run = above is not None and above.agent == _RUN and link.agent != _RUN
        if is_run:
            return replace(link, kind=Kind.OTHER, reason=_RUN)
        return link

    def _spawned(self, link: Link, first: Recorded, cause: Recorded) -> Link:
        """With the call that began it, and which of the call's tasks it is."""
        call = cause
        if cause.type == "subagent_start":
            above = (self._entry(cause.session, digest) for digest in cause.parent_path if "#" not in digest)
            call = next((step for step in above if step is not None and step.type == "tool_call"), cause)
        corr = call.member("corr")
        goal = first.text("content.goal") or self._first_prompt(first.session)
        task = task_of(call.values.get("content.args"), goal)
        return replace(link, call=link.call or (corr if isinstance(corr, str) else None), task=task)

    def _first_prompt(self, session: str) -> str | None:
        return next((text for step in self._first_steps(session) if (text := step.text("content.text"))), None)

    # Compactions ----------------------------------------------------------------------------------------------------

    def compactions(self, way: Way) -> Iterator[Compaction]:
        """Those of the conversation, oldest first."""
        conversation = way.conversation
        for place in range(len(conversation) - 1, -1, -1):
            key, link = conversation[place]
            following = None
            if place:
                following = conversation[place - 1]
            for offset in compaction_places(self._graph, key):
                step = self._read(key, offset)
                if step is not None and is_compaction(step):
                    yield self._compaction(step, link.name or key, following)

    def _compaction(self, step: Recorded, session: str, following: tuple[str, Link] | None) -> Compaction:
        went_on = following is not None and following[1].began is not None and following[1].began.hash == step.hash
        into = None
        if went_on:
            into = following
        around = Around(
            before=self._steps_before(step),
            after=self._first_steps(into[0]) if into is not None else (),
            spent=self._spent(step),
        )
        return compaction_of(step, session, into=(into[1].name or into[0]) if into is not None else None, around=around)

    def _steps_before(self, step: Recorded) -> Iterator[Recorded]:
        """The last steps before one, newest first."""
        for _ in range(FIRST_STEPS):
            found = None
            if step.n:
                found = self._entry(step.session, step.prev)
            if found is None:
                return
            yield found
            step = found

    def _spent(self, step: Recorded) -> Recorded | None:
        """The step that says what the summary cost: the model call before it, or the session's sum of such calls."""
        before = next(self._steps_before(step), None)
        if before is not None and before.type == "model_call" and before.member("purpose") in _COMPACTING:
            return before
        sums = (self._read(step.session, offset) for offset in usage_places(self._graph, step.session))
        return next((each for each in sums if each is not None and each.member("task") in _COMPACTING), None)

    # Reading --------------------------------------------------------------------------------------------------------

    def _entry(self, session: str, digest: str) -> Recorded | None:
        offset = place_of(self._graph, session, digest)
        found = None
        if offset is not None:
            found = self._read(session, offset)
        if found is not None and found.hash == digest:
            return found
        return None

    def _read(self, session: str, offset: int) -> Recorded | None:
        path = self._home.journal(session)
        if path is None:
            return None
        return read_at(self._home, path, offset, load_blobs=True)

    def _first_steps(self, session: str) -> tuple[Recorded, ...]:
        path = self._home.journal(session)
        if path is None:
            return ()
        placed = read_file(self._home, path, load_blobs=True)
        return tuple(each.step for _, each in zip(range(FIRST_STEPS + 1), placed, strict=False))[1:]


# What the agent's own store says by now -----------------------------------------------------------------------------


def _compared(home: Home, way: Way, store: Path | None, default: Path | None) -> dict[str, Json]:
    """What Hermes' store says of the same sessions now, where it is not what was recorded."""
    path = store or _imported_from(home, {link.journal for _, link in way.hops if link.journal is not None}) or default
    if path is None:
        return {"error": "the path of Hermes' store is unknown"}
    said: dict[str, Json] = {"path": str(path)}
    db = HermesStore(path)
    try:
        db.get_session("")
    except SourceError as error:
        return {**said, "error": str(error)}
    found = differences(way, hermes_links(db))
    return {**said, "agrees": not found, "differences": found}


def _imported_from(home: Home, journals: set[str]) -> Path | None:
    """The file that sessions were last imported from."""
    found: Path | None = None
    for entry in ledger_entries(home, holding=b'"import"'):
        source = entry.values.get("local.source")
        path = None
        if isinstance(source, dict):
            path = source.get("path")
        if entry.type == "import" and entry.meta.get("session") in journals and isinstance(path, str):
            found = Path(path)
    return found
