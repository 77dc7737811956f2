"""What a session ran under, as its journal tells: where it began, and each change while it lasted.

Owns reading that back. Must not know what is compared with what.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from tallystick.graph.graph import Graph
from tallystick.graph.queries import SessionRow, telling_steps
from tallystick.journal.home import Home
from tallystick.journal.read import read_at
from tallystick.model.recorded import Recorded
from tallystick.sessions.configuration import Configuration, then, told_by

if TYPE_CHECKING:
    from tallystick.recording.record import SessionRecord


class Changed(msgspec.Struct, frozen=True, kw_only=True):
    """A step that says that its session went on under another configuration."""

    n: int
    at: str | None
    sections: tuple[str, ...]
    text: str | None


class Under(msgspec.Struct, frozen=True, kw_only=True):
    """What a session ran under at one of its entries."""

    session: str
    agent: str
    n: int | None
    """The entry that says so; None: the session tells nothing but its agent."""
    at: str | None
    configuration: Configuration
    changes: tuple[Changed, ...] = ()
    """All changes while it lasted."""


def session_under(home: Home, graph: Graph, row: SessionRow, *, until: int | None = None) -> Under | None:
    """What a session ran under: as it began, or at entry `until`. None: its journal does not tell."""
    began: tuple[Recorded, Configuration] | None = None
    last: tuple[Recorded, Configuration] | None = None
    changes: list[Changed] = []
    for step in _telling(home, graph, row.session, until):
        said = told_by(step)
        if said is None:
            continue
        last = step, said if last is None else then(last[1], said)
        if step.type == "config_change":
            changes.append(_changed(step))
        if not changes:
            began = last
    if until is not None:
        found = last
    else:
        found = began or last
    if found is None:
        return None
    step, told = found
    return Under(
        session=row.session,
        agent=row.agent,
        n=step.n,
        at=_text(step.meta.get("recorded")),
        configuration=told,
        changes=tuple(changes),
    )


def _telling(home: Home, graph: Graph, session: str, until: int | None) -> list[Recorded]:
    path = home.journal(session)
    if path is not None:
        places = telling_steps(graph, session, until=until)
    else:
        places = []
    found = (read_at(home, path, offset, load_blobs=True) for _, _, offset in places if path is not None)
    return [step for step in found if step is not None]


def _changed(step: Recorded) -> Changed:
    sections = step.meta.get("sections")
    return Changed(
        n=step.n,
        at=_text(step.meta.get("recorded")),
        sections=tuple(map(str, sections)) if isinstance(sections, list) else (),
        text=step.text("content.text"),
    )


def _text(value: object) -> str | None:
    if isinstance(value, str):
        return value
    return None


def known_configuration(record: SessionRecord) -> Configuration | None:
    """The configuration under which a session is that is being recorded, as its journal tells; None: it does not."""
    found: Configuration | None = None
    for n in record.configured:
        step = record.read(n)
        said = None
        if step is not None:
            said = told_by(step)
        if said is not None:
            if found is None:
                found = said
            else:
                found = then(found, said)
    return found
