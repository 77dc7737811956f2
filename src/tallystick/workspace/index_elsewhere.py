"""The index of a store that this user cannot write: evidence on a read-only disk, or another user's.

Owns whether the store's own index can be used as it is, and the one in a temporary folder where it cannot. Nothing is
written to the store, and nothing is left behind. How an index is brought up to date is indexing.py's.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tallystick.graph.graph import Graph, GraphError, Mode, empty_graph
from tallystick.journal.home import Home

_BESIDE = ("", "-wal")
REMARK = "the store cannot be written: its index was brought up to date in a temporary folder"


def is_writable(home: Home) -> bool:
    """Whether the index of a store can be brought up to date where it is."""
    if home.graph.exists() and not os.access(home.graph, os.W_OK):
        return False
    return os.access(home.folder, os.W_OK)


def open_if(home: Home, is_current: Callable[[Graph], bool]) -> Graph | None:
    """The store's own index, to read, if it is there and current."""
    try:
        graph = Graph(home.graph, Mode.READ)
    except GraphError:
        return None
    try:
        if is_current(graph):
            return graph
    except GraphError:
        pass
    graph.close()
    return None


@contextmanager
def temporary_copy(home: Home) -> Iterator[Graph]:
    """A copy of the store's index, or an empty one, to be brought up to date. Meanwhile it is the index of `home`.

    Raises:
        GraphError: it cannot be written.
    """
    own = home.graph
    try:
        folder = tempfile.TemporaryDirectory(prefix="tally-index-", ignore_cleanup_errors=True)
    except OSError as error:
        raise GraphError(f"cannot make a temporary index: {error.strerror}", hint="set TMPDIR to a folder") from error
    with folder as name:
        home.graph = Path(name) / own.name
        try:
            with _copied(own, home.graph) as graph:
                yield graph
        finally:
            home.graph = own


def _copied(own: Path, copy: Path) -> Graph:
    with suppress(OSError):
        for end in _BESIDE:
            with suppress(FileNotFoundError):
                shutil.copyfile(f"{own}{end}", f"{copy}{end}")
    try:
        return Graph(copy, Mode.WRITE)
    except GraphError:  # of another version, or half of one that was being written
        return empty_graph(copy)
