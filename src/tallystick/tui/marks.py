"""The checkpoints of a session, as rows to choose from.

Owns how one looks, and whether the entry that it marks is the one it says. Must not know how checkpoints are made.
"""

from __future__ import annotations

import msgspec

from tallystick.display.text import one_line
from tallystick.graph.checkpoints import CheckpointEntry, CheckpointFilter, list_checkpoints
from tallystick.graph.timeline import by_hash
from tallystick.review.browse import Reader
from tallystick.tui.theme import BAD, BOLD, DIM, GOOD, PLAIN, Piece, fitted

_MOST = 1_000


class Marked(msgspec.Struct, frozen=True):
    """A checkpoint. `holds`: the entry at its position has the hash that it says."""

    entry: CheckpointEntry
    holds: bool


def marks_of(reader: Reader, session: str) -> list[Marked]:
    """The checkpoints of a session, the newest first. Raises GraphError."""
    found = list_checkpoints(reader.graph, CheckpointFilter(session=session, limit=_MOST))
    marks = []
    for entry in found:
        spot = by_hash(reader.graph, session, entry.position_hash)
        marks.append(Marked(entry, spot is not None and spot.n == entry.position))
    return marks


def mark_pieces(mark: Marked) -> list[Piece]:
    """Whether it holds, where it is, what made it, its id, its label."""
    entry = mark.entry
    label = "(deleted by retention)"
    if not entry.is_pruned:
        label = one_line(entry.label or "")
    verdict = (" ✔ ", GOOD)
    if not mark.holds:
        verdict = (" ✕ broken: another entry is there ", BAD)
    return [
        verdict,
        (f"at {entry.position:>5}  ", PLAIN),
        (f"{fitted(one_line(entry.trigger), 14)}  ", DIM),
        (f"{entry.hash[:8]}  ", DIM),
        (label, BOLD),
    ]
