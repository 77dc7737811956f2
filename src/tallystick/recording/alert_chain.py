"""Sealing alerts, each after the one before it.

Owns where the chain ends when the next alert is sealed, and that the ledger notes it. What an alert says is policy.alert's,
the formulas are seal.alert_chain's; the table is made from the steps afterwards.
"""

from __future__ import annotations

from datetime import UTC

import msgspec

from tallystick.errors import TallystickError
from tallystick.graph.alerts import alert_at, chain_head
from tallystick.graph.graph import Graph
from tallystick.graph.session_ids import step_id_of
from tallystick.graph.times import milliseconds
from tallystick.journal.home import Home
from tallystick.model.moments import microseconds, normal_time
from tallystick.model.recorded import Recorded
from tallystick.model.step import Json
from tallystick.policy.alert import Alert, CallPlace, alert_step, chained_step
from tallystick.recording.record import SessionRecord
from tallystick.recording.session_writer import SessionWriter, Taken
from tallystick.seal.alert_chain import GENESIS
from tallystick.workspace.ledger import ledger_entries, newest_entries

ALERT_HEAD = "alert_head"
"""The type of the ledger's entries that say where the chain ends."""
_HOLDS_HEAD = f'"{ALERT_HEAD}"'.encode()
_PATIENCE_S = 0.02


class AlertChain:
    """The chain of one store's alerts, for the one process that appends to it. Hold the writer's lock while calling it."""

    def __init__(self, session_writer: SessionWriter, head: str = GENESIS) -> None:
        """`head` is the hash that the next alert follows: `known_head` tells it."""
        self.head = head
        self._session_writer = session_writer

    def add(self, record: SessionRecord, alert: Alert) -> Taken | None:
        """Seal an alert in its session; None if that step was reported before.

        Raises:
            FormatError: the step cannot be sealed. JournalError: it cannot be written. The chain is as before then.
        """
        step = alert_step(alert)
        if step.source_id is not None and record.known.find(step.source_id) is not None:
            return None
        # Its hash is that of what will be sealed. Scrubbing what was scrubbed changes nothing.
        with record.same_known_values():
            # What is found in it may be known by more spellings than are looked for at first.
            step, digest = chained_step(record.without_secrets(record.without_secrets(step)), self.head)
            taken = self._session_writer.add_to(record, step)
        self.head = digest
        # With the next head of the ledger everybody who keeps one can tell that this alert was there.
        meta: dict[str, Json] = {"type": ALERT_HEAD, "session": taken.session, "n": taken.n}
        self._session_writer.note_in_ledger(meta, {"content.head": digest})
        return taken


def place_of(record: SessionRecord, n: int) -> CallPlace:
    """Where the call that entry `n` of a session records stands."""
    request = None
    if record.request is not None:
        request = step_id_of(record.sid, record.request)
    return CallPlace(name=f"{record.sid}:{n}", call_id=step_id_of(record.sid, n), request_id=request)


def known_head(home: Home) -> str:
    """The hash that the next alert follows, as far as it is known at once: the ledger's, or the index's where that has more.

    Nothing is indexed for it: someone may be waiting for an answer.
    """
    newest = _newest_head(home)
    try:
        with Graph(home.graph, patience_s=_PATIENCE_S) as graph:
            if newest is None or alert_at(graph, newest.session, newest.n) is not None:
                return chain_head(graph)
    except TallystickError:  # none exists, or it is locked: the ledger knows as well
        pass
    if newest is None:
        return GENESIS
    return newest.hash


class NotedHead(msgspec.Struct, frozen=True):
    """An alert that the ledger says is there: its hash, and its step."""

    hash: str
    session: str
    n: int


def noted_heads(home: Home) -> list[NotedHead]:
    """Where the chain ended each time the ledger was sealed, in that order; read unchanged."""
    entries = ledger_entries(home, holding=_HOLDS_HEAD)
    return [head for entry in entries if (head := _noted(entry)) is not None]


def _newest_head(home: Home) -> NotedHead | None:
    heads = (_noted(entry) for entry in newest_entries(home, holding=_HOLDS_HEAD))
    return next((head for head in heads if head is not None), None)


def _noted(entry: Recorded) -> NotedHead | None:
    digest, session, n = entry.text("content.head"), entry.meta.get("session"), entry.meta.get("n")
    if entry.type != ALERT_HEAD or digest is None or not isinstance(session, str) or type(n) is not int:
        return None
    return NotedHead(digest, session, n)


def milliseconds_of(*times: str | None) -> int:
    """The first of some times that says one, in milliseconds since 1970; 0 if none does. Without a zone it is UTC."""
    for text in times:
        found = None
        if text is not None:
            found = normal_time(text, UTC)
        at_us = None
        if found is not None:
            at_us = microseconds(found[0])
        if at_us is not None:
            return milliseconds(at_us)
    return 0
