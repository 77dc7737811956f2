"""The graph around something, to be drawn.

Owns joining the answers to several starts into one.
"""

from __future__ import annotations

from collections.abc import Sequence

from tallystick.ask.graph_walk import Answer, Direction, answer
from tallystick.ask.impact import effective
from tallystick.ask.node_resolver import Start, find_start
from tallystick.errors import UsageError
from tallystick.journal.home import Home
from tallystick.lineage.walk import Limits
from tallystick.workspace.index import Index

DEFAULT = Limits()


def find_starts(index: Index, texts: Sequence[str], *, folder: str) -> list[Start]:
    """The starts that `texts` name.

    Raises what `find_start` raises, and UsageError where nothing is named.
    """
    if not texts:
        raise UsageError("no node given", hint="give a path, a URL, a step or a session")
    return [find_start(index, text, folder=folder) for text in texts]


def graph_around(
    home: Home, index: Index, starts: Sequence[Start], direction: Direction, limits: Limits = DEFAULT
) -> Answer:
    """What is around some starts. Raises GraphError."""
    if direction is not Direction.UP:
        starts = [effective(index, start) for start in starts]
    if len(starts) == 1:
        return answer(home, index, starts[0], direction, limits)
    nodes = dict.fromkeys(node for start in starts for node in start.nodes)
    more = sum(start.more_versions for start in starts)
    text = " ".join(start.text for start in starts)
    return answer(home, index, Start(text=text, nodes=tuple(nodes), more_versions=more), direction, limits)
