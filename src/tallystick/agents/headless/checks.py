"""Which call a security check was about. The log does not say: checks come before their call and carry no id.

Owns that inference: checks of a tool belong to the next call of that tool, or to the next result without a call if they
denied it. Must not know steps.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

import msgspec

from tallystick.agents.headless.event import Happening

CHECKS = ("security_static", "security_triage", "security_supervisor", "security_decision")
"""In the order in which they are made for one call."""
_MOST_WAITING = 64


class Checked(msgspec.Struct):
    """An event; for a check, the call or denied result that it was about; for those, the checks that were made."""

    event: Happening
    subject: Happening | None = None
    checks: list[Happening] = []
    waits: bool = False
    run: str | None = None
    """Names the checks of one call, where they are not held back until it comes."""


class _Run(msgspec.Struct):
    """The checks of one call."""

    members: list[Checked] = []

    def lacks(self, check: str) -> bool:
        """Whether a check can come next: neither it nor a later one was made."""
        return all(CHECKS.index(member.event.type) < CHECKS.index(check) for member in self.members)

    @property
    def denied(self) -> bool:
        return any(member.event.meta.get("action") == "deny" for member in self.members)


class CheckJoin:
    """Holds checks back until their call comes, 64 events at most, and gives events out in the order they came in."""

    def __init__(self) -> None:
        self._queue: deque[Checked] = deque()
        self._runs: dict[str | None, list[_Run]] = {}

    def take(self, event: Happening) -> Iterator[Checked]:
        """The events about which nothing more can be learned."""
        item = Checked(event)
        self._queue.append(item)
        if event.type in CHECKS:
            self._add(item)
        elif event.type == "tool_call" or (event.type == "tool_result" and event.corr_id is None):
            self._settle(item)
        while self._queue and not self._queue[0].waits:
            yield self._queue.popleft()
        if len(self._queue) > _MOST_WAITING:
            yield from self._give_up()

    def finish(self) -> Iterator[Checked]:
        """The events whose call never came."""
        yield from self._queue
        self._queue.clear()

    def _add(self, item: Checked) -> None:
        item.waits = True
        runs = self._runs.setdefault(item.event.tool, [])
        run = next((run for run in runs if item.event.type != CHECKS[0] and run.lacks(item.event.type)), None)
        if run is None:
            run = _Run()
            runs.append(run)
        run.members.append(item)

    def _settle(self, item: Checked) -> None:
        runs = self._runs.get(item.event.tool, [])
        is_denied = item.event.type == "tool_result"
        run = next((run for run in runs if run.denied == is_denied), None)
        if run is None:
            return
        runs.remove(run)
        item.checks = [member.event for member in run.members]
        for member in run.members:
            member.subject, member.waits = item.event, False

    def _give_up(self) -> Iterator[Checked]:
        """Let the oldest check go without its call."""
        oldest = self._queue[0]
        oldest.waits = False
        for runs in self._runs.values():
            for run in runs:
                run.members = [member for member in run.members if member is not oldest]
            runs[:] = [run for run in runs if run.members]
        while self._queue and not self._queue[0].waits:
            yield self._queue.popleft()
