"""The receipt of a session: what it did, what that cost, and whether anything of it is missing, on one line.

Owns what is on it. Its sub-agents count too. Must not know when it is handed out.
"""

from __future__ import annotations

import msgspec

from tallystick.ask.cost import costs, with_sub_agents
from tallystick.ask.coverage import State, coverages_of
from tallystick.ask.prices import Prices
from tallystick.display.amounts import dollars
from tallystick.display.text import counted
from tallystick.graph.session_actions import left_by
from tallystick.graph.spending import By, UsedFilter
from tallystick.journal.home import Home
from tallystick.sessions.spending import Spending
from tallystick.workspace.index import Index

_ORDER = (State.COMPLETE, State.PARTIAL, State.DEGRADED)


class Receipt(msgspec.Struct, frozen=True, kw_only=True):
    """What a session and its sub-agents come to. `files` counts those that they changed."""

    session: str
    sub_agents: int
    calls: int
    refused: int
    interrupted: int
    files: int
    spending: Spending
    state: State
    """The lowest of them all."""
    missing: tuple[str, ...]
    """What is missing, of the session first."""

    @property
    def line(self) -> str:
        """The receipt in words."""
        said = [counted(self.calls, "call")]
        counts = ((self.refused, "refused"), (self.interrupted, "interrupted"))
        said += [f"{count:,} {word}" for count, word in counts if count]
        said.append(f"{counted(self.files, 'file')} changed")
        if self.spending.cost_microusd is not None:
            at_least = "" if self.spending.is_whole else "at least "
            said.append(f"{at_least}{dollars(self.spending.cost_microusd)}")
        elif self.spending.tokens:
            said.append(f"{self.spending.tokens:,} tokens of unknown cost")
        found = ["nothing is missing"]
        if self.missing:
            found = [f"{self.state}: {self.missing[0]}"]
            if len(self.missing) > 1:
                found.append(f"and {len(self.missing) - 1:,} more")
        return f"{', '.join(said)}; {' '.join(found)}"


def receipt_of(home: Home, index: Index, session: str, prices: Prices) -> Receipt:
    """The receipt of a session as it is now.

    Raises:
        GraphError: the index cannot be read. JournalError, FormatError: a journal cannot be.
    """
    family = with_sub_agents(index.graph, session)
    found = list(coverages_of(home, family))
    changed = {left.uri for each in family for left in left_by(index.graph, each)}
    spending = costs(index, prices, By.SESSION, UsedFilter(sessions=family), limit=0).total
    return Receipt(
        session=session,
        sub_agents=len(family) - 1,
        calls=sum(each.calls for each in found),
        refused=sum(each.refused for each in found),
        interrupted=sum(each.interrupted for each in found),
        files=len(changed),
        spending=spending,
        state=max((each.state for each in found), key=_ORDER.index),
        missing=tuple(reason for each in found for reason in each.reasons),
    )
