"""Ingest: lines of JSON into the record, one after another as they come.

Owns what happens to each line: recorded, known, or refused with its number. One bad line stops nothing. Must not know
where lines come from, nor what is in them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

import msgspec

from tallystick.agents.protocols.ingest import Defaults, events_of, parse
from tallystick.errors import FormatError
from tallystick.model.step import Loss, Opening, Step
from tallystick.policy.alert import ALERT, FEEDBACK
from tallystick.recording.checkpoints.auto import Checkpointing
from tallystick.recording.session_writer import SessionWriter, Taken

MOST_BYTES = 64 << 20
"""The longest line, in bytes."""
_OURS = (ALERT, FEEDBACK)
"""Steps that the table of alerts is made from: what a program could seal, it could make up."""


class Refused(msgspec.Struct, frozen=True):
    """A line that is not recorded."""

    number: int
    """Counted from 1."""
    why: str
    hint: str | None = None


class Ingested(msgspec.Struct):
    """What became of the lines so far."""

    lines: int = 0
    empty: int = 0
    refused: int = 0
    sessions: set[str] = set()
    """Ids of the journals that were written or read."""
    steps: Counter[str] = msgspec.field(default_factory=Counter)
    """By the words of `Outcome`."""


def ingest(
    session_writer: SessionWriter, lines: Iterable[bytes], defaults: Defaults, counts: Ingested
) -> Iterator[Taken | Refused]:
    """Record each line as it comes; gives what became of it once it is recorded. `counts` is kept up to date.

    Raises:
        JournalError: the store cannot be written. What was given before is recorded.
    """
    checkpoints = Checkpointing(session_writer)
    for line in lines:
        counts.lines += 1
        if not line.strip():
            counts.empty += 1
            continue
        try:
            yield from _record(session_writer, checkpoints, line, defaults, counts)
        except FormatError as error:
            counts.refused += 1
            yield Refused(counts.lines, str(error), error.hint)
    checkpoints.settle()


def _record(
    session_writer: SessionWriter, checkpoints: Checkpointing, line: bytes, defaults: Defaults, counts: Ingested
) -> Iterator[Taken]:
    if len(line) > MOST_BYTES:
        raise FormatError(f"a line may have at most {MOST_BYTES} bytes")
    events = list(events_of(parse(line), defaults))
    for _, event in events:
        if isinstance(event, Step) and event.type in _OURS:
            raise FormatError(
                f"steps of the type {event.type} are reserved for the recorder", hint="use `warning`, or another type"
            )
    for agent, event in events:
        if isinstance(event, Opening):
            counts.sessions.add(session_writer.open(event).sid)
        elif not isinstance(event, Loss):
            (checkpoints.settle if event.type == "session_end" else checkpoints.tick)()
            taken = session_writer.add(agent, event)
            checkpoints.saw(session_writer.writer.record_of(taken.session, agent), taken, event)
            counts.steps[taken.outcome.value] += 1
            yield taken
