"""The newest state of each step: what a revision says is in the place of what it revises (docs/format.md 13.3).

Foreign formats know no revisions, and a reader of theirs would take one for a second event.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from tallystick.model.recorded import Recorded

_LINKS = frozenset(("revises", "recorded", "request", "parent"))


def latest(steps: Iterable[Recorded]) -> Iterator[Recorded]:
    """The steps without revisions, each with the members and values of its newest one. Steps are gone through twice."""
    again = steps
    if isinstance(steps, Iterator):
        again = list(steps)
    newest: dict[int, Recorded] = {}
    first: dict[int, int] = {}
    for step in again:
        revised = step.meta.get("revises")
        if isinstance(revised, int):
            first[step.n] = first.get(revised, revised)
            newest[first[step.n]] = step
    for step in again:
        if step.n in newest:
            yield _renewed(step, newest[step.n])
        elif step.n not in first:
            yield step


def _renewed(step: Recorded, newest: Recorded) -> Recorded:
    """A step with what its revision says; its number, hash and place in the graph stay."""
    own = {key: value for key, value in step.meta.items() if key in _LINKS}
    meta = {**{key: value for key, value in newest.meta.items() if key not in _LINKS}, **own}
    return msgspec.structs.replace(
        step,
        meta=meta,
        values=newest.values,
        raw=newest.raw,
        unloaded=newest.unloaded,
        withheld=newest.withheld,
    )
