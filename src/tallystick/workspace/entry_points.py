"""What other packages offer by entry points.

Owns finding at a start, while someone waits, that nothing is offered: nearly always that is so, and `importlib.metadata`
takes 50 ms to load and to say it. Must not know what is offered, nor what it is loaded for.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from importlib.machinery import PathFinder
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

_METADATA = (".dist-info", ".egg-info")


def entry_points(group: str) -> Sequence[EntryPoint]:
    """The entry points of a group, in the order of the packages on the path."""
    if not _may_offer(group.encode()):
        return ()
    from importlib import metadata

    return tuple(metadata.entry_points(group=group))


def _may_offer(group: bytes) -> bool:
    """Whether something may be offered in a group: a package names it, or packages are not found by folders alone."""
    others = (finder for finder in sys.meta_path if finder is not PathFinder)
    if any(hasattr(finder, "find_distributions") for finder in others):
        return True
    return any(_names(place or ".", group) for place in dict.fromkeys(sys.path))


def _names(place: str, group: bytes) -> bool:
    try:
        if not os.path.isdir(place):  # noqa: PTH112 - at each start, of each place
            return os.path.exists(place)  # noqa: PTH110 - an archive: only the metadata's own reader looks into it
        return any(group in offered for offered in _offered(place))
    except OSError:
        return True


def _offered(place: str) -> Iterator[bytes]:
    """What the packages of a folder offer, as it is written."""
    for name in os.listdir(place):  # noqa: PTH208
        if name.endswith(".egg"):
            yield from _offered(f"{place}/{name}")
        if name.endswith(_METADATA) or name == "EGG-INFO":
            yield _text(f"{place}/{name}/entry_points.txt")


def _text(path: str) -> bytes:
    try:
        with open(path, "rb") as file:  # noqa: PTH123
            return file.read()
    except (FileNotFoundError, NotADirectoryError):
        return b""
