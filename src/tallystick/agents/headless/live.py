"""The headless agent's events while they happen: each gives its steps at once.

Owns what is different from a file read afterwards: nothing is held back, so a check that comes before its call cannot say
yet which call that will be; the call, when it comes, follows from its checks. Must not know who records the steps.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec

from tallystick.agents.headless.checks import CHECKS, Checked
from tallystick.agents.headless.event import Happening, happening
from tallystick.agents.headless.steps import Weaver, time_of
from tallystick.model.step import Json, Step

_MOST_RUNS = 64


class _Run(msgspec.Struct, frozen=True):
    """The checks of one call that has not come yet."""

    key: str
    tool: str | None
    checks: tuple[Happening, ...] = ()

    @property
    def is_denied(self) -> bool:
        return any(check.meta.get("action") == "deny" for check in self.checks)

    def is_before(self, check: str) -> bool:
        """Whether a check can come next: neither it nor a later one was made."""
        return all(CHECKS.index(made.type) < CHECKS.index(check) for made in self.checks)


class LiveLog:
    """One session's events. Fed with all of them in order, no matter who wrote them.

    Attributes:
        last_seq: the highest number so far.
    """

    def __init__(self, session: str) -> None:
        self.last_seq = 0
        self._weaver = Weaver(session, keeps_errors=True)
        self._runs: list[_Run] = []
        self._places = 0

    def undo(self) -> Callable[[], None]:
        """What takes back the next events: those that could not be recorded were never there."""
        last_seq, places, runs, take_back = self.last_seq, self._places, list(self._runs), self._weaver.undo()

        def go_back() -> None:
            self.last_seq, self._places, self._runs = last_seq, places, runs
            take_back()

        return go_back

    def steps(self, members: Mapping[str, Json]) -> list[Step]:
        """The steps of one event, which has its number; none if there is nothing in it."""
        event = happening(members, self._places)
        if event is None:
            return []
        self._places += 1
        self.last_seq = max(self.last_seq, event.seq or 0)
        return list(self._weaver.steps(self._joined(event)))

    def _joined(self, event: Happening) -> Checked:
        """The event with the checks that it belongs to, or that belong to it."""
        if event.type in CHECKS:
            return Checked(event, run=self._note_check(event).key)
        if event.type == "tool_call" or (event.type == "tool_result" and event.corr_id is None):
            found = self._run_of_call(event)
            if found is not None:
                self._runs.remove(found)
                return Checked(event, checks=list(found.checks), run=found.key)
        return Checked(event)

    def _note_check(self, event: Happening) -> _Run:
        """The run that a check belongs to, with it in it."""
        run = self._run_of_check(event)
        noted = msgspec.structs.replace(run, checks=(*run.checks, event))
        self._runs[self._runs.index(run)] = noted
        return noted

    def _run_of_check(self, event: Happening) -> _Run:
        """By the id of the call where the check has one, else a run of its tool that waits for such a check."""
        found = (run for run in self._runs if run.key == event.corr_id)
        if event.corr_id is None:
            alike = (run for run in self._runs if run.tool == event.tool)
            found = (run for run in alike if event.type != CHECKS[0] and run.is_before(event.type))
        run = next(found, None)
        if run is None:
            run = _Run(event.corr_id or event.source_id, event.tool)
            self._runs.append(run)
            del self._runs[:-_MOST_RUNS]
        return run

    def _run_of_call(self, event: Happening) -> _Run | None:
        named = next((run for run in self._runs if run.key == event.corr_id), None)
        if named is not None:
            return named
        is_denied = event.type == "tool_result"
        return next((run for run in self._runs if run.tool == event.tool and run.is_denied == is_denied), None)


def spelled_time(text: str) -> tuple[str | None, dict[str, Json]]:
    """A time as `ts` of a step, and the member that keeps its spelling where `ts` would not."""
    return time_of(text or None)
