"""Indexes with nothing in them, for tests that need one of their own: copied, for to lay the tables takes ten times as long.

Must not know what the tables are.
"""

from __future__ import annotations

import functools
from pathlib import Path
from tempfile import TemporaryDirectory

from tallystick.graph.graph import Graph, Mode


def new_graph(path: Path) -> Graph:
    """An open index at `path`, where no file is."""
    path.touch(0o600, exist_ok=False)
    path.write_bytes(_empty())
    return Graph(path, Mode.WRITE)


@functools.cache
def _empty() -> bytes:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "graph.db"
        Graph(path, Mode.WRITE).close()
        return path.read_bytes()
