"""A session step by step, in the order in which it was recorded, from the start or from a step on, live if wanted.

Owns choosing the steps. How one is shown is the caller's.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, islice

from tallystick.errors import NotFoundError
from tallystick.journal.follow import follow_file
from tallystick.journal.home import Home
from tallystick.journal.read import read_session
from tallystick.model.recorded import Recorded
from tallystick.operations.dag import walk_dag
from tallystick.operations.filters import StepFilter


def replay(
    home: Home,
    session: str,
    wanted: StepFilter | None = None,
    *,
    start: str | None = None,
    limit: int | None = None,
    follow: bool = False,
) -> Iterator[Recorded]:
    """The steps of a session that a filter takes.

    Args:
        session: our session id, whole. start: hash of the step to begin with; then only what follows from it, by its
            parents, is given. limit: at most so many steps. follow: go on with steps that come, until the session ends.

    Raises:
        NotFoundError: there is no such journal. FormatError: a line is none of ours.
    """
    path = home.journal(session)
    if path is None:
        raise NotFoundError(
            f"there is no journal of session {session}", hint="`tally session list` shows what there is"
        )
    steps: Iterator[Recorded] = read_session(home, session)
    if follow:
        steps = (step for step in follow_file(home, path) if step is not None)
    first = next(steps, None)
    agent = first.member("agent") if first is not None else None
    if first is not None:
        steps = chain([first], steps)
    taken = (step for step in walk_dag(steps, start) if wanted is None or wanted.takes(step, str(agent)))
    return islice(taken, limit)
