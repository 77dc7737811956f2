"""The graph around something, to be drawn.

Owns joining the answers to several starts into one.
"""

from __future__ import annotations

from collections.abc import Sequence

from tallystick.ask.graph_walk import Answer, Direction, Limits, answer
from tallystick.ask.impact import effective
from tallystick.ask.node_resolver import Start, find_start
from tallystick.errors import UsageError
from tallystick.journal.home import Home
from tallystick.workspace.indexing import Index

DEFAULT = Limits()


def graph_around(
    home: Home, index: Index, texts: Sequence[str], direction: Direction, *, folder: str, limits: Limits = DEFAULT
) -> Answer:
    """What is around the starts that `texts` name.

    Raises what `find_start` raises, and UsageError where nothing is named.
    """
    if not texts:
        raise UsageError("no node given", hint="give a path, a URL, a step or a session")
    starts = [find_start(index, text, folder=folder) for text in texts]
    if direction is not Direction.UP:
        starts = [effective(index, start) for start in starts]
    nodes = dict.fromkeys(node for start in starts for node in start.nodes)
    more = sum(start.more_versions for start in starts)
    whole = Start(text=" ".join(texts), nodes=tuple(nodes), more_versions=more)
    return answer(home, index, whole if len(starts) > 1 else starts[0], direction, limits)
