"""The file that an agent writes a session to.

Owns where that is. Must not know what is in it, nor open it.
"""

from __future__ import annotations

from pathlib import Path

from tallystick.agents.hooks import Payload
from tallystick.catalog.agents import AGENTS
from tallystick.model.pattern import pattern_of
from tallystick.model.step import Opening, SessionKind

_OF_SESSION = {name: facts.histories["transcript"].of_session for name, facts in AGENTS.items() if facts.histories}
_PLAIN = pattern_of(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,199}")


def transcript_of(agent: str, payload: Payload) -> str | None:
    """A session's file as the agent's hook names it, or where such files are; None if neither is known.

    Files of sub-agents are found from that of their session.
    """
    place = _OF_SESSION.get(agent)
    if payload.transcript is not None or not place:
        return payload.transcript
    is_child = any(isinstance(event, Opening) and event.kind is not SessionKind.ROOT for event in payload.events)
    if is_child or _PLAIN.fullmatch(payload.session) is None:
        return None
    return str(Path.home() / place.format(session=payload.session))
