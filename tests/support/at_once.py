"""A pipeline of deliveries whose decisions are made while they are waited for, and whose disk is.

Must not know what is decided. The recorder decides in another process, and waits for no disk in its event loop.
"""

from __future__ import annotations

from collections.abc import Callable

from tallystick.agents.hooks import Reply
from tallystick.live.delivery import Delivery
from tallystick.live.helpers import Decide
from tallystick.live.hook_pipeline import Done, HookPipeline
from tallystick.model.decision import Call, Decision


def at_once(decide: Callable[[Call], Decision]) -> Decide:
    """What decides while it is waited for."""

    def decided(call: Call, then: Callable[[Decision], None]) -> None:
        then(decide(call))

    return decided


def take(live: HookPipeline, delivery: Delivery) -> Reply:
    """Record a delivery: the agent's answer.

    A spooled one raises JournalError if the store cannot be written: it is not lost, but stays in the spool.
    """
    found: list[Done | Exception] = []
    live.begin(delivery, found.append)
    done = found[0]
    if isinstance(done, Exception):
        raise done
    if done.settle is not None:
        live.settled(done.settle)
    return done.reply
