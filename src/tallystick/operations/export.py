"""A session in another format.

Owns joining the journal with the format. What a format looks like, and what it loses, is exports'.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from tallystick.errors import NotFoundError, UsageError
from tallystick.exports import Exporter, exporters
from tallystick.journal.home import Home
from tallystick.journal.read import read_session
from tallystick.model.recorded import Recorded


class Export(msgspec.Struct, frozen=True):
    """An export that can be written: what the session is called in it, and what the format cannot carry."""

    session: str
    losses: tuple[str, ...]
    lines: Iterator[bytes]


class _Steps:
    """A session's steps, read anew each time: formats may go through them twice."""

    def __init__(self, home: Home, session: str) -> None:
        self._home = home
        self._session = session

    def __iter__(self) -> Iterator[Recorded]:
        return read_session(self._home, self._session, load_blobs=True)


def format_named(name: str) -> Exporter:
    """The format with that name.

    Raises:
        UsageError: there is none. SourceError: a format of another package fails to load.
    """
    known = exporters()
    if name not in known:
        raise UsageError(f"no format {name!r}", hint=f"known are {', '.join(known)}")
    return known[name]


def export(home: Home, session: str, format_: Exporter, *, with_content: bool) -> Export:
    """A session, by our id, in a format. It is called there as its agent called it. Nothing is read before `lines` is.

    Args:
        with_content: whether what was said, asked and returned may be in it.

    Raises:
        NotFoundError: there is no such journal.
    """
    if home.journal(session) is None:
        raise NotFoundError(
            f"there is no journal of session {session}", hint="`tally session list` shows what there is"
        )
    first = next(read_session(home, session), None)
    own = first.member("source_session") if first is not None else None
    called = own if isinstance(own, str) else session
    lines = format_.write(_Steps(home, session), session=called, with_content=with_content)
    return Export(called, tuple(format_.LOSSES), lines)
