"""The calls of a session that run, or ran lately: an effect that is observed may be theirs.

Owns which calls are looked at, and what of them counts as writing. Must not know how likely a match is:
`lineage.correlate` says that.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable

import msgspec

from tallystick.graph.projection.json_columns import content_digest
from tallystick.lineage.access import CHANGING, DEEDS, Deed
from tallystick.lineage.correlate import Match, OpenCall, SeenEffect, Target, correlate
from tallystick.model.intent import Domain, Effects, Intent, Operation

MOST_CALLS = 16
"""So many of the newest calls are looked at."""
_WRITES_NOTHING_NAMES = """
    echo printf true false : sleep pwd date test [ [[ exit export set unset whoami id uname env printenv which type
"""
_WRITES_NOTHING = frozenset(_WRITES_NOTHING_NAMES.split())


class Running(msgspec.Struct):
    """A call as it is looked at."""

    n: int
    corr: str | None
    call: OpenCall


class RunningCalls:
    """The newest calls of a session. `earlier` gives those of former runs, when they are first needed."""

    def __init__(self, earlier: Callable[[], Iterable[Running]]) -> None:
        self._earlier = earlier
        self._calls: deque[Running] | None = None

    def begin(self, n: int, corr: str | None, call: OpenCall) -> None:
        """A call was made."""
        if self._calls is not None:
            self._calls.append(Running(n, corr, call))

    def end(self, n: int, corr: str | None, at_ms: int) -> None:
        """Its result came, under the call's id, or under none like the call."""
        self._change(lambda one: one.n == n and one.corr == corr, end_ms=at_ms)

    def end_all(self, at_ms: int) -> None:
        """No call runs any more: a new prompt was given, or the session has ended."""
        self._change(lambda one: one.call.end_ms is None, end_ms=at_ms)

    @property
    def is_empty(self) -> bool:
        """Whether the session has made no call."""
        return not self._known()

    def deny(self, n: int) -> None:
        """It did not run."""
        self._change(lambda one: one.n == n, has_run=False)

    def drop(self, n: int) -> None:
        """Another entry has its value."""
        if self._calls is not None:
            self._calls = deque((one for one in self._calls if one.n != n), MOST_CALLS)

    def cause_of(self, effect: SeenEffect) -> Match | None:
        """The call that an effect is put down to."""
        return correlate(effect, [one.call for one in self._known()])

    def _known(self) -> deque[Running]:
        if self._calls is None:
            self._calls = deque(self._earlier(), MOST_CALLS)
        return self._calls

    def _change(self, fits: Callable[[Running], bool], **members: object) -> None:
        for one in self._calls or ():
            if fits(one):
                one.call = msgspec.structs.replace(one.call, **members)


def open_call(step_id: int, session: str, start_ms: int, folder: str | None, effects: Effects) -> OpenCall:
    """A call as `correlate` takes it."""
    return OpenCall(
        step=step_id,
        session=session,
        start_ms=start_ms,
        folder=folder or "",
        targets=tuple(_target(intent) for intent in effects.intents if intent.domain is Domain.FILE and intent.target),
        is_opaque=_may_write_anything(effects),
    )


def _target(intent: Intent) -> Target:
    deed = DEEDS.get(intent.operation)
    digest = None
    if deed is Deed.WRITE:
        digest, _ = content_digest(intent.content)
    return Target(intent.target, intent.is_deep, deed in CHANGING or deed is Deed.TOUCH, digest)


def _may_write_anything(effects: Effects) -> bool:
    """Whether something in it is not understood, or runs a program of which no file is reported."""
    if any(intent.domain is Domain.UNKNOWN or intent.operation is Operation.EXECUTE for intent in effects.intents):
        return True
    told = {intent.command for intent in effects.intents if intent.domain in (Domain.FILE, Domain.NETWORK)}
    return any(
        intent.operation is Operation.RUN and intent.command not in told and intent.target not in _WRITES_NOTHING
        for intent in effects.intents
    )
