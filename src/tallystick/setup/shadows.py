"""Sessions compared with their transcripts, all the newest ones at once.

Owns which are compared and what is said of each. The comparison is ask/shadow.py's.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from tallystick.ask.shadow import Shadow, note, shadow_of
from tallystick.display.text import counted
from tallystick.errors import TallystickError
from tallystick.graph.queries import SessionFilter
from tallystick.ingest.adapters import adapters
from tallystick.journal.home import Home
from tallystick.recording.session_writer import SessionWriter
from tallystick.review.sessions import list_sessions
from tallystick.setup.check import Check, State
from tallystick.workspace.index import Index
from tallystick.workspace.indexing import open_index

_MOST_SESSIONS = 50
_OF_ITS_OWN = frozenset(("root", "fork"))


def examine_shadows(home: Home) -> Iterator[Check]:
    """Compare the newest sessions with their files, and record in what they differ.

    Raises:
        NotFoundError: there is no store. GraphError: the index cannot be used.
    """
    with open_index(home) as index:
        newest = list_sessions(index, SessionFilter(limit=_MOST_SESSIONS))
        for row in newest:
            if row.kind in _OF_ITS_OWN:
                yield from _compared(home, index, row.session)


def _compared(home: Home, index: Index, session: str) -> Iterator[Check]:
    name = session[:8]
    try:
        shadow = shadow_of(home, index.graph, session, adapters())
    except TallystickError as error:
        yield Check(name=name, state=State.WARN, found=str(error), mend=error.hint)
        return
    if shadow is None:
        return
    if shadow.unread:
        found = f"{counted(len(shadow.unread), 'file')} cannot be compared: {shadow.unread[0]}"
        yield Check(name=name, state=State.NOTE, found=found)
        return
    if shadow.is_news:
        with suppress(TallystickError), SessionWriter(home) as session_writer:  # a store may be there to be read only
            note(session_writer, shadow)
    yield _said(name, shadow)


def _said(name: str, shadow: Shadow) -> Check:
    files = counted(len(shadow.files), "file")
    if not shadow.rows:
        return Check(name=name, state=State.OK, found=f"{shadow.agent}: the record is what {files} say")
    found = f"{shadow.agent}: {counted(len(shadow.rows), 'difference')} from {files}"
    if not shadow.unexplained:
        return Check(name=name, state=State.NOTE, found=f"{found}, all of a kind that the agent is known for")
    return Check(name=name, state=State.WARN, found=found, mend=f"tally coverage {name}")
