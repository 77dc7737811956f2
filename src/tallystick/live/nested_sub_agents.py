"""Sub-agents of sub-agents, whose hooks name the sub-agent that began them and not the session that all of it belongs to.

Owns the ids of sub-agents that were heard of, and under which session each of them is recorded. Must not know any agent, nor
what is recorded.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator

from msgspec.structs import replace

from tallystick.agents.hooks import Payload
from tallystick.model.step import Event, Opening, Ref, Step

_MOST_KNOWN = 4096


class NestedSubAgents:
    """Fed with what hooks deliver, in order."""

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[str, str], str] = OrderedDict()
        """By agent and id of a sub-agent: its session, `<session>/<id>` (docs/format.md 13.1)."""

    def placed(self, agent: str, payload: Payload) -> Payload:
        """The payload; one of a sub-agent's sub-agent as one of the session to which that one belongs."""
        outer = self._known.get((agent, payload.session.partition("/")[0]))
        if outer is not None:
            payload = _below(outer, payload)
        _, is_child, name = payload.session.partition("/")
        if is_child:
            self._known[(agent, name)] = payload.session
            self._known.move_to_end((agent, name))
            while len(self._known) > _MOST_KNOWN:
                self._known.popitem(last=False)
        return payload


def _below(outer: str, payload: Payload) -> Payload:
    """A payload that takes `outer`, which is a sub-agent, for the session of its own sub-agents."""
    root, _, alone = outer.partition("/")

    def place(session: str) -> str:
        if session == alone:
            return outer
        return root + session.removeprefix(alone) if session.startswith(f"{alone}/") else session

    def ref(one: Ref) -> Ref:
        return one if one.session is None else replace(one, session=place(one.session))

    def events() -> Iterator[Event]:
        for event in payload.events:
            if isinstance(event, Opening) and event.session != alone:
                parent = ref(event.parent) if event.parent is not None else None
                yield replace(event, session=place(event.session), parent=parent)
            elif isinstance(event, Step):
                after = tuple(ref(one) for one in event.after)
                yield replace(event, session=place(event.session), after=after)

    asks = payload.asks
    if asks is not None:
        asks = replace(asks, session=place(asks.session))
    return replace(payload, session=place(payload.session), events=tuple(events()), asks=asks)
