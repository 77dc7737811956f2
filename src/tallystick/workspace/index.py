"""An open index, as its readers are given it.

Owns that value and the limit on what is searched. Must not know how the index is brought up to date.
"""

from __future__ import annotations

import msgspec

from tallystick.graph.graph import Graph

LARGEST_SEARCHED = 4 << 20
"""Larger values are not loaded to be searched: only their first 64 KiB would be."""


class Index(msgspec.Struct):
    """An open index, and what its reader should know of its state."""

    graph: Graph
    remarks: list[str] = []
