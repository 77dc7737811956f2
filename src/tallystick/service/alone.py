"""`python -m tallystick.service.alone STORE AGENT EVENT`: decide on one call while no recorder answers.

Owns the slow way to an answer: the delivery itself is in the spool already, and is recorded from there. Exit code 65 says
that nothing could be decided; every other one is the answer's.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from tallystick.agents.hooks import SILENT, Reply, hook_adapter
from tallystick.errors import TallystickError
from tallystick.journal.home import Home
from tallystick.live.delivery import Delivery
from tallystick.live.helpers import Decide
from tallystick.live.unreadable import check_plain, read_again
from tallystick.model.decision import Call, Decision, Effect
from tallystick.service.deciding import Deciding

UNDECIDED = 65


def answer(home: Home, agent: str, event: str | None, data: bytes) -> Reply:
    """What policy makes the agent do.

    Raises:
        TallystickError: the payload cannot be understood, or the policy not be loaded.
    """
    adapter = hook_adapter(agent)
    if adapter is None:
        return SILENT
    decide, found = _at_once(Deciding(home)), list[Decision]()
    try:
        payload = adapter.parse(data, event)
        if payload.asks is not None:
            check_plain(data)
    except TallystickError as error:
        doubt = read_again(adapter, Delivery(agent=agent, data=data, event=event, received=""), error)
        if doubt is None:
            raise
        decide, payload = doubt.deciding(decide, home), doubt.payload
    if payload.asks is None:
        return SILENT
    decide(payload.asks, found.append)
    (decision,) = found
    if decision.effect in (Effect.ASK, Effect.DENY):
        return adapter.reply(payload, decision)
    return SILENT


def _at_once(deciding: Deciding) -> Decide:
    def decide(call: Call, then: Callable[[Decision], None]) -> None:
        then(deciding(call))

    return decide


def main(words: list[str]) -> int:
    """Answer what stands on stdin."""
    try:
        folder, agent, event = words
        reply = answer(Home(Path(folder)), agent, event or None, sys.stdin.buffer.read())
    except (TallystickError, ValueError, OSError):
        return UNDECIDED
    sys.stdout.buffer.write(reply.stdout)
    sys.stderr.buffer.write(reply.stderr)
    return reply.exit_code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
