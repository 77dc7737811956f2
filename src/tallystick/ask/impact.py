"""The results of something: the versions derived from it, who read it, and what was made of that, across sessions.

Owns where such a question begins. The walk is `graph_walk`'s, the story `effects`'.
"""

from __future__ import annotations

import msgspec

from tallystick.ask.effects import Effects, effects_of
from tallystick.ask.graph_walk import Answer, Direction, answer
from tallystick.ask.node_resolver import effective, find_start
from tallystick.journal.home import Home
from tallystick.lineage.walk import Limits
from tallystick.workspace.index import Index

DEFAULT = Limits()


class Impact(msgspec.Struct, frozen=True, kw_only=True):
    """The results of something: the walk to them, and their story."""

    answer: Answer
    story: Effects


def impact(home: Home, index: Index, text: str, *, folder: str, limits: Limits = DEFAULT) -> Impact:
    """The descendants of the path, URL, step or session that `text` names. Of a path those of all its versions.

    Raises what `find_start` raises.
    """
    start = effective(index, find_start(index, text, folder=folder))
    start = msgspec.structs.replace(start, nodes=start.nodes[::-1])  # from the oldest version on
    found = answer(home, index, start, Direction.DOWN, limits)
    return Impact(answer=found, story=effects_of(home, index.graph, start, found))
