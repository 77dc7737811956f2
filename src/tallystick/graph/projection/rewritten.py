"""A journal of which retention has dropped values: the same steps, at other places in another file.

Owns following that without reading the session again. Rows come out as reading it again would make them; where that is
not sure, nothing is changed, and anyone who brings the index up to date does that. Must not know what is too old.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from tallystick.graph import rules
from tallystick.graph.graph import Graph
from tallystick.graph.projection.row_writer import read_session

_MOVE_STEP = "UPDATE steps SET offset = ? WHERE id = ?"
_MOVE_SESSION = "UPDATE sessions SET inode = ?, read_to = ? WHERE session_id = ?"
_DROP = "UPDATE checkpoints SET label = NULL, git = NULL, metadata = NULL, is_pruned = 1 WHERE session_id = ? AND n = ?"
_LABEL = "content.label"
_ONLY = frozenset(
    (_LABEL, "content.git", "content.metadata", "content.hook_registry", "content.configuration", "personal.home")
)
"""Values of a checkpoint that no other row is made of."""


class Moved(msgspec.Struct, frozen=True, kw_only=True):
    """A journal that was rewritten.

    `before` and `after` are the inodes of its files. `offsets` say where the line of each entry begins now, and where the
    last one ends. `dropped` has the names of values that are gone, by the number of their entry: they are of checkpoints.
    """

    session: str
    before: int
    after: int
    offsets: Sequence[int]
    dropped: Mapping[int, frozenset[str]]


def follow(graph: Graph, moved: Moved) -> bool:
    """Bring the rows of a session in line with its new file; False if that takes reading it again. Raises GraphError."""
    if not all(_LABEL in names and names <= _ONLY for names in moved.dropped.values()):
        return False
    graph.begin()
    try:
        state = read_session(graph, moved.session)
        if state is None or (state.inode, state.rules) != (moved.before, rules.current()):
            return False
        if state.size >= len(moved.offsets):
            return False
        first = min(moved.dropped, default=state.size) + 1
        graph.change_many(_MOVE_STEP, [(moved.offsets[n], state.first_id + n) for n in range(first, state.size)])
        graph.change_many(_DROP, [(moved.session, n) for n in moved.dropped])
        graph.change(_MOVE_SESSION, (moved.after, moved.offsets[state.size], moved.session))
        graph.commit()
        return True
    finally:
        graph.roll_back()
