"""What happened just before and after a step, one line each.

Owns which steps are read for that, and which act is that of the step. The words of an act are display's.
"""

from __future__ import annotations

from itertools import islice

import msgspec

from tallystick.display.acts import ActRow, Kind, act_row
from tallystick.display.joining import joined
from tallystick.display.outcome import outcome_of
from tallystick.display.text import one_line
from tallystick.graph import timeline
from tallystick.graph.graph import Graph
from tallystick.journal.home import Home
from tallystick.journal.read import read_file

MOST_AROUND = 100
_STEPS_AN_ACT = 12
"""So many steps are read for each act that is asked for: a call has a result, decisions, sightings, usage."""
_OUTCOME = 400


class Neighbour(msgspec.Struct, frozen=True, kw_only=True):
    """An act beside a step: the numbers of its steps, the first of them first. `is_asked`: the step itself is among them."""

    numbers: tuple[int, ...]
    type: str
    at: str
    row: ActRow
    is_asked: bool


def around(home: Home, graph: Graph, place: timeline.Spot, count: int) -> tuple[Neighbour, ...]:
    """The act of a step with at most `count` acts before and after it in its session. Raises GraphError, FormatError."""
    session, n = place.session, place.n or 0
    reach = min(count, MOST_AROUND) * _STEPS_AN_ACT
    first = max(n - reach, 0)
    entries = timeline.window(graph, session, first, n - first + reach + 1)
    path = home.journal(session)
    if path is None or not entries:
        return ()
    steps = [placed.step for placed in islice(read_file(home, path, start=entries[0].offset), len(entries))]
    found: list[Neighbour] = []
    for act in joined(steps):
        numbers = tuple(step.n for step in act.steps)
        row = act_row(act.steps, folder=act.lead.text("personal.cwd") or "")
        if row.kind is Kind.QUIET and n in numbers:  # it says little, and it is what was asked for
            (own,) = (step for step in act.steps if step.n == n)
            row = ActRow(kind=Kind.EVENT, name=one_line(own.type), asked=outcome_of(own, _OUTCOME))
        if row.kind is not Kind.QUIET:
            found.append(Neighbour(numbers=numbers, type=act.lead.type, at=act.at, row=row, is_asked=n in numbers))
    at = next((position for position, act in enumerate(found) if act.is_asked), None)
    if at is None:
        return ()
    count = min(count, MOST_AROUND)
    return tuple(found[max(at - count, 0) : at + count + 1])
