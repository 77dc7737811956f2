"""Making the index again from the journals, and saying whether it says the same as before.

Owns that the new one is made of nothing but journals. How is store's.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from tallystick.errors import NotFoundError, TallystickError
from tallystick.graph.compare import session_digests, table_digests
from tallystick.graph.graph import Graph, Mode, empty_graph
from tallystick.graph.journals import Failure
from tallystick.journal.home import Home
from tallystick.trust.verify_log import note_broken_log
from tallystick.workspace.index_writer import claimed
from tallystick.workspace.indexing import bring_up_to_date


class Rebuilt(msgspec.Struct, frozen=True, kw_only=True):
    """What is in the new index, and how the old one compares.

    `was` is how many sessions the old one held after it was brought up to date, None if it could not be read. `differing`
    are sessions of which the two say different things, `tables` those of the graph whose rows differ. `failures` are
    journals that cannot be read to their end. `alerts` is what was broken in the table of alerts: that is sealed first.
    """

    sessions: int
    steps: int
    was: int | None
    differing: tuple[str, ...]
    tables: tuple[str, ...]
    failures: tuple[Failure, ...]
    alerts: str | None = None


def rebuild(home: Home, *, progress: Callable[[int], None] = lambda _bytes: None) -> Rebuilt:
    """Empty the index and fill it from the journals.

    Args:
        progress: called with how many bytes more of the journals were read.

    Raises:
        NotFoundError: there is no store. GraphError: the index cannot be written.
    """
    if not home.exists:
        raise NotFoundError(f"no store at {home.folder}", hint="create one with `tally init`")
    broken = note_broken_log(home)
    with claimed(home):
        before = _before(home)
        with empty_graph(home.graph) as graph:
            done = bring_up_to_date(home, graph, progress=progress)
            after, after_tables = session_digests(graph), table_digests(graph)
    sessions, tables = (None, {}) if before is None else before
    differing = () if sessions is None else tuple(sorted(sid for sid in sessions if sessions[sid] != after.get(sid)))
    return Rebuilt(
        sessions=len(after),
        steps=done.steps,
        alerts=broken,
        was=None if sessions is None else len(sessions),
        differing=differing,
        tables=tuple(sorted(name for name, digest in tables.items() if digest != after_tables[name])),
        failures=done.failures,
    )


def _before(home: Home) -> tuple[dict[str, bytes], dict[str, bytes]] | None:
    """What the old index says, once it knows what the journals hold now."""
    try:
        with Graph(home.graph) as there:
            session_digests(there)  # only what can be read is worth bringing up to date
        with Graph(home.graph, Mode.WRITE) as graph:
            bring_up_to_date(home, graph)
            return session_digests(graph), table_digests(graph)
    except TallystickError:
        return None
