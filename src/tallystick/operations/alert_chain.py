"""Sealing alerts, each after the one before it.

Owns where the chain of alerts ends when the next one is sealed. What an alert says is policy.alert's, the formulas are
seal.alert_chain's; the table is made from the steps afterwards.
"""

from __future__ import annotations

from datetime import UTC

from tallystick.journal.home import Home
from tallystick.model.moments import normal_time
from tallystick.operations.config import read_setting
from tallystick.operations.record import SessionRecord
from tallystick.operations.scribe import Scribe, Taken
from tallystick.policy.alert import Alert, CallPlace, alert_step, chained_step
from tallystick.scrubbing.step import scrub_step
from tallystick.seal.alert_chain import GENESIS
from tallystick.store.alerts import chain_head, step_id_of
from tallystick.store.graph import Graph, GraphError
from tallystick.store.times import microseconds, milliseconds


class AlertChain:
    """The chain of one store's alerts, for the one process that appends to it. Hold the scribe's lock while calling it."""

    def __init__(self, scribe: Scribe, head: str = GENESIS) -> None:
        """`head` is the hash that the next alert follows: `known_head` tells it."""
        self.head = head
        self._scribe = scribe
        self._scrubs = read_setting(scribe.home, "secrets.scrub") == "on"

    def add(self, record: SessionRecord, alert: Alert) -> Taken | None:
        """Seal an alert in its session; None if that step was told before.

        Raises:
            FormatError: the step cannot be sealed. JournalError: it cannot be written. The chain is as before then.
        """
        step = alert_step(alert)
        if step.source_id is not None and record.known.find(step.source_id) is not None:
            return None
        # Its hash is that of what will be sealed. Scrubbing what was scrubbed changes nothing.
        step, digest = chained_step(scrub_step(step) if self._scrubs else step, self.head)
        taken = self._scribe.add_to(record, step)
        self.head = digest
        return taken


def place_of(record: SessionRecord, n: int) -> CallPlace:
    """Where the call that entry `n` of a session records stands."""
    request = None if record.request is None else step_id_of(record.sid, record.request)
    return CallPlace(name=f"{record.sid}:{n}", call_id=step_id_of(record.sid, n), request_id=request)


def known_head(home: Home) -> str:
    """The hash that the next alert follows, as far as the index knows: bring it up to date first."""
    try:
        with Graph(home.graph) as graph:
            return chain_head(graph)
    except GraphError:
        return GENESIS


def milliseconds_of(*times: str | None) -> int:
    """The first of some times that says one, in milliseconds since 1970; 0 if none does. Without a zone it is UTC."""
    for text in times:
        found = normal_time(text, UTC) if text is not None else None
        at_us = microseconds(found[0]) if found is not None else None
        if at_us is not None:
            return milliseconds(at_us)
    return 0
