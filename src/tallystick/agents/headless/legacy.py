"""The headless agent's older session file: one JSON document, read-only today.

Owns the document's outer members. What it holds is the same session as that of headless.py, under the same agent name.
Its events keep the errors that the newer form loses.
"""

from __future__ import annotations

from collections.abc import Iterator

from tallystick.agents import Shape, SourceFile
from tallystick.agents.headless.transcript import SessionLog, folded, mended, session_name
from tallystick.agents.kit.reading import dict_of, events_of_object, list_of
from tallystick.agents.kit.spelling import words
from tallystick.agents.recognition import count_members, first_object
from tallystick.catalog.agents import AGENTS
from tallystick.model.step import Event, Json, Loss

NAME = "headless-legacy"
SHAPE = Shape.DOCUMENT
GLOBAL_IDS = False
COMPANIONS: tuple[str, ...] = ()

_KNOWN = frozenset(words("headless", "document"))


def locate() -> tuple[str, ...]:
    """Globs of session files below the home folder."""
    return AGENTS["headless"].histories["legacy"].patterns


def recognises(path: str, head: bytes) -> int:
    """Whether a document begins as such sessions do: an id and a workflow, and no record of the newer form."""
    is_object = head.lstrip().startswith(b"{") and not path.endswith(".jsonl")
    is_ours = is_object and b'"id"' in head and b'"workflow_name"' in head and b'"_type"' not in head[:256]
    if is_ours:
        return 2 + count_members(first_object(head), "id", "workflow_name")
    return 0


def reader(file: SourceFile) -> _Reader:
    """A reader for one session file."""
    return _Reader(file)


class _Reader:
    """Takes the document apart into the records that a SessionLog knows."""

    def __init__(self, file: SourceFile) -> None:
        self._log = SessionLog(session_name(file.path), keeps_errors=True)

    def feed(self, data: bytes, offset: int) -> Iterator[Event]:
        """The events of the whole document, except those that finish() holds."""
        unknown = Loss(kind="unknown_document", detail="no session: neither an id nor events", fault=True)
        data, losses = mended(data, offset)
        yield from losses
        yield from events_of_object(data, offset, lambda value: self._session(folded(value), offset, unknown), unknown)

    def _session(self, session: dict[str, Json], offset: int, unknown: Loss) -> Iterator[Event]:
        if "id" not in session and not list_of(session.get("events")):
            yield unknown
            return
        for key in sorted(session.keys() - _KNOWN):
            yield Loss(kind="unknown_member", detail=f"{key[:80]}: no member of a session that is known")
        yield from self._log.header(session, offset)
        for number, event in enumerate(list_of(session.get("events"))):
            if isinstance(event, dict):
                yield from self._log.event(event, number)
            else:
                yield Loss(kind="unknown_record", detail=f"events[{number}] is no object")
        yield from self._log.footer(dict_of(session), offset)

    def finish(self) -> Iterator[Event]:
        """The events that were held back, and the session's end."""
        return self._log.finish()
