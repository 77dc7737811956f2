"""The index follows what is recorded: sessions that were just sealed are projected at once.

Owns how much is projected while agents wait for answers. Must not raise: readers bring the index up to date themselves, and a
recorder without an index records as well.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence

from tallystick.errors import TallystickError
from tallystick.graph import rules
from tallystick.graph.graph import Graph, Mode
from tallystick.graph.journals import Depth
from tallystick.graph.projection.row_writer import Position, read_positions
from tallystick.graph.queries import outdated_sessions
from tallystick.journal.home import Home
from tallystick.workspace.indexing import bring_up_to_date

_LOG = logging.getLogger(__name__)
_MOST_BEHIND_BYTES = 256 << 10


def index_sessions(home: Home, sessions: Sequence[str]) -> int:
    """Project what is new in some sessions; how many steps that were.

    A session that the index has fallen far behind of, as after an import, is left to anyone who asks next.
    """
    try:
        with Graph(home.graph, Mode.WRITE) as graph:
            near = [sid for sid in sessions if _is_near(home, graph, sid)]
            if near:
                return bring_up_to_date(home, graph, sessions=near, depth=Depth.ROWS).steps
            return 0
    except TallystickError as error:
        _LOG.info("the index was not brought up to date: %s", error)
        return 0


def outdated(home: Home) -> list[str]:
    """The sessions in the index that other rules than this program's made."""
    try:
        with Graph(home.graph) as graph:
            return outdated_sessions(graph)
    except TallystickError:
        return []


def _is_near(home: Home, graph: Graph, session: str) -> bool:
    path = home.journal(session)
    if path is None:
        return False
    try:
        size = path.stat().st_size
    except OSError:
        return False
    at = read_positions(graph, [session]).get(session, Position())
    read_to = 0
    if at.rules == rules.current():
        read_to = at.read_to
    return size - read_to <= _MOST_BEHIND_BYTES
