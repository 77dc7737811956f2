"""What came of something: the versions derived from it, who read it, and what was made of that, across sessions.

Owns where such a question begins. The walk is `answers`'.
"""

from __future__ import annotations

import msgspec

from tallystick.ask.graph_walk import Answer, Direction, answer
from tallystick.ask.node_resolver import Start, find_start
from tallystick.graph.spawning import session_size
from tallystick.graph.upstream import NEAR_STEPS, call_of
from tallystick.journal.home import Home
from tallystick.lineage.walk import Limits, NodeId, NodeKind
from tallystick.workspace.index import Index

DEFAULT = Limits()


def impact(home: Home, index: Index, text: str, *, folder: str, limits: Limits = DEFAULT) -> Answer:
    """The descendants of the path, URL, step or session that `text` names. Of a path those of all its versions.

    Raises what `find_start` raises.
    """
    start = effective(index, find_start(index, text, folder=folder))
    start = msgspec.structs.replace(start, nodes=start.nodes[::-1])  # from the oldest version on
    return answer(home, index, start, Direction.DOWN, limits)


def effective(index: Index, start: Start) -> Start:
    """The same start; of a step that decides about a call or tells how it ended, the call: that is what had effects."""
    step, node = start.step, start.nodes[0]
    if step is None or step.corr is None or step.type == "tool_call" or node.kind is not NodeKind.STEP:
        return start
    first_id = node.id - step.n
    end = first_id + session_size(index.graph, first_id)
    call = call_of(index.graph, step.corr, first_id=max(first_id, node.id - NEAR_STEPS), before=node.id)
    if call is None:  # some agents decide before they say what it is about
        call = call_of(index.graph, step.corr, first_id=node.id, before=min(end, node.id + NEAR_STEPS))
    if call is None:
        return start
    return Start(text=start.text, nodes=(NodeId(NodeKind.STEP, call),), step=step)
