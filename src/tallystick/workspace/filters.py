"""Which steps are wanted: the filters that `log` and `replay` have in common.

Owns their meaning for a step. Must not know how steps are found, nor what a person types for a time.
"""

from __future__ import annotations

import msgspec

from tallystick.model.recorded import Recorded


class StepFilter(msgspec.Struct, frozen=True, kw_only=True):
    """What a step must be. Nothing given: any. Several values of one filter: one of them."""

    types: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    since: str | None = None
    """A time as the record writes it: steps from then on. Steps that say no time are taken by when they were recorded."""
    until: str | None = None
    """And before that."""
    failed: bool = False
    """Only what did not succeed, refused calls among it."""
    request: int | None = None
    """Only what belongs to the prompt with this number, itself included."""

    @property
    def chooses_steps(self) -> bool:
        """Whether only some of the steps of a session are wanted, by anything but when they happened."""
        return bool(self.types or self.tools or self.failed or self.request is not None)

    def takes(self, step: Recorded, agent: str) -> bool:
        """Whether a step of a session of `agent` is wanted."""
        return (
            (not self.types or step.type in self.types)
            and (not self.agents or agent in self.agents)
            and (not self.tools or step.member("tool") in self.tools)
            and (not self.failed or step.meta.get("success") is False)
            and (self.request is None or self.request in (step.meta.get("request"), step.n))
            and self._takes_time(step)
        )

    def _takes_time(self, step: Recorded) -> bool:
        if self.since is None and self.until is None:
            return True
        time = step.meta.get("ts", step.meta.get("recorded"))
        if not isinstance(time, str):
            return False
        return (self.since is None or time >= self.since) and (self.until is None or time < self.until)
