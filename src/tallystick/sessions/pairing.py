"""Calls of tools and their results, brought together.

Owns which result is of which call: by the agent's own id of the call, and where it gives none, in the order in which they
came. Must not know what is counted of them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

import msgspec

from tallystick.sessions.figures import Figure

CALL_TYPES = frozenset(("tool_call", "tool_result", "decision", "security_decision", "bash_security"))
"""Types of steps that say something of a call."""


class Exchange(msgspec.Struct):
    """A call and what came back. Without `call` only the result is in the record, without `results` only the call."""

    call: Figure | None = None
    results: list[Figure] = []
    is_denied: bool = False
    """A check or a policy said no before it ran."""

    @property
    def tool(self) -> str:
        """The agent's name of the tool; `?` where no one says."""
        named = (figure.tool for figure in (self.call, *self.results) if figure is not None and figure.tool)
        return next(named, "?")

    @property
    def is_failed(self) -> bool:
        """Whether it did not succeed."""
        return any(result.is_failure for result in self.results)

    @property
    def is_refused(self) -> bool:
        """Whether someone or some rule refused it."""
        return self.is_denied or any(result.is_refusal for result in self.results)

    @property
    def took_ms(self) -> int | None:
        """What the result says, else the time between the two; None where neither is known."""
        for result in self.results:
            if result.took_ms:
                return result.took_ms
            if self.call is not None and self.call.at_us is not None and result.at_us is not None:
                return max(result.at_us - self.call.at_us, 0) // 1000
        return None


def exchanges(figures: Iterable[Figure]) -> list[Exchange]:
    """The calls of one session, in order."""
    found: list[Exchange] = []
    by_corr: dict[str, Exchange] = {}
    unnamed: deque[Exchange] = deque()
    denied: set[str] = set()
    for figure in figures:
        if figure.corr is not None and denies(figure):
            denied.add(figure.corr)
        if figure.type not in ("tool_call", "tool_result"):
            continue
        exchange = _known(figure, by_corr, unnamed)
        if exchange is None:
            exchange = Exchange()
            found.append(exchange)
            if figure.corr is not None:
                by_corr[figure.corr] = exchange
            elif figure.type == "tool_call":
                unnamed.append(exchange)
        if figure.type == "tool_call":
            exchange.call = figure
        else:
            exchange.results.append(figure)
    for corr in denied & by_corr.keys():
        by_corr[corr].is_denied = True
    return found


def denies(figure: Figure) -> bool:
    """Whether it is a check or a policy that says no to a call."""
    if figure.type == "decision":
        return figure.said.get("effect") == "deny"
    return figure.type in ("security_decision", "bash_security") and figure.said.get("action") == "deny"


def _known(figure: Figure, by_corr: dict[str, Exchange], unnamed: deque[Exchange]) -> Exchange | None:
    """The exchange that a call or result is of, if something of that came before."""
    if figure.corr is not None:
        exchange = by_corr.get(figure.corr)
        is_another = exchange is not None and figure.type == "tool_call" and exchange.call is not None
        if is_another:
            return None
        return exchange
    if figure.type == "tool_result" and unnamed:
        return unnamed.popleft()
    return None
