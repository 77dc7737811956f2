"""The calls of a session by the agent's own ids.

Owns the source ids of calls and of their results. Must not know any agent's format.
"""

from __future__ import annotations


def result_id(call: str | None, otherwise: str | None) -> str | None:
    """The source id of what a call gave; `otherwise` where the call is not known."""
    if call is None:
        return otherwise
    return f"{call}/result"


class CallIds:
    """The calls of a session by the agent's own ids, for agents that may use one twice."""

    def __init__(self) -> None:
        self._given: dict[str, str] = {}

    def new(self, call_id: str | None, otherwise: str) -> str:
        """The source id of a new call: the agent's id, or `otherwise` if it has none or another call has it."""
        if call_id is None or call_id in self._given:
            self._given[call_id or otherwise] = otherwise
            return otherwise
        self._given[call_id] = call_id
        return call_id

    def of(self, call_id: str | None) -> str | None:
        """The source id of the newest call with this id; the id itself where there was none."""
        if call_id is None:
            return None
        return self._given.get(call_id, call_id)
