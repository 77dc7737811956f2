"""What a user is shown when a session begins: what the recorder noticed since, where the agent shows it.

Owns its words. Must not know how any of it was found.
"""

from __future__ import annotations

from tallystick.agents.hooks import SILENT, Payload, Reply
from tallystick.catalog.agents import AGENTS
from tallystick.live.silences import Silences
from tallystick.seal.canonical import canonical

_MOST = 3
_MOST_CHARACTERS = 240


def notice(agent: str, payload: Payload, silences: Silences) -> Reply:
    """The answer to an event of a session. Of an agent that shows nothing, what there is waits for another one's."""
    facts = AGENTS.get(agent)
    if facts is None or facts.hooks is None or not payload.begins or payload.event != facts.hooks.notice:
        return SILENT
    found = [_line(one.said) for one in silences.show()]
    if not found:
        return SILENT
    more = "" if len(found) <= _MOST else f" And {len(found) - _MOST} more."
    text = " ".join(["Tallystick noticed:", *(f"{said}." for said in found[-_MOST:])]) + more
    return Reply(stdout=canonical({"systemMessage": f"{text} `tally status` and `tally alerts` say more."}))


def _line(text: str) -> str:
    """A text without what a terminal would act on: it may name a file that someone else named."""
    return "".join(char if char.isprintable() else "?" for char in text[:_MOST_CHARACTERS])
