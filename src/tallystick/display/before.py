"""What earlier steps of a session said that later ones are shown with.

Owns remembering it, bounded. Must not know how anything is shown.
"""

from __future__ import annotations

import msgspec

from tallystick.display import outcome
from tallystick.model.recorded import Recorded
from tallystick.model.step import Json

NOTED = frozenset(("tool_call", "security_block", "security_decision"))
"""Types of steps of which something is remembered."""


class Before(msgspec.Struct):
    """What the steps of a session so far said that later ones are shown with. Bounded.

    `places`: the entry with which each block of content came in, and `seqs` its number in the source. `reasons`: why calls
    were denied, by call. `tools`: what was called, by call. `is_terse`: the session is shown as its agent's own replay
    shows it.
    """

    places: dict[str, int] = {}
    seqs: dict[int, int] = {}
    reasons: dict[str, str] = {}
    tools: dict[str, str] = {}
    is_terse: bool = False

    def note(self, step: Recorded) -> None:
        """Remember what later steps need of one."""
        if step.type == "tool_call":
            corr, tool = step.meta.get("corr"), step.member("tool")
            if isinstance(corr, str) and isinstance(tool, str):
                _keep(self.tools, corr, tool[:200])
        elif step.type == "security_block":
            block, seq = step.member("block_id"), step.meta.get("seq")
            if isinstance(block, str):
                _keep(self.places, block, step.n)
                if type(seq) is int:
                    _keep(self.seqs, step.n, seq)
        elif step.type == "security_decision" and outcome.is_refused(step):
            corr, reason = step.member("corr"), step.text("content.reason")
            if isinstance(corr, str) and reason:
                _keep(self.reasons, corr, reason[:1000])


def _keep(known: dict[Json, Json], key: Json, value: Json) -> None:
    if len(known) >= 10_000:
        del known[next(iter(known))]
    known[key] = value
