"""Bringing live capture up: a store, a hook in every agent that is found, and the recorder.

Owns the order, and that one agent that cannot be connected keeps no other from it.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec

from tallystick.capture import recorder
from tallystick.capture.surroundings import Surroundings
from tallystick.errors import TallystickError
from tallystick.guard.backtest import Backtest, hold_against_record
from tallystick.journal.home import Home
from tallystick.recording.store import init_store
from tallystick.setup.agents import Agent, find_agents
from tallystick.setup.install import AFTERWARDS, install


class Connected(msgspec.Struct, frozen=True, kw_only=True):
    """One agent that was found, and what was done to it."""

    agent: str
    can_be_hooked: bool
    is_changed: bool = False
    events: int = 0
    afterwards: str | None = None
    """What its user must do besides."""
    error: str | None = None


class Up(msgspec.Struct, frozen=True, kw_only=True):
    """What was done. `recorder` is the pid of the one that runs."""

    store: Path
    made_store: bool
    agents: tuple[Connected, ...]
    recorder: int | None = None
    recorder_error: str | None = None
    backtest: Backtest | None = None
    """What the policies that now decide would have said of the calls on record; None unless something was connected again."""


def bring_up(
    home: Home, where: Surroundings, *, dry_run: bool = False, progress: Callable[[int], None] = lambda _: None
) -> Up:
    """Make the store, connect every agent that is found, start the recorder.

    Args: progress: is reported how many bytes of the record were held against the policies.

    Raises:
        JournalError: the store cannot be made.
    """
    if dry_run:
        made = not home.exists
    else:
        made = init_store(home)
    connected = tuple(_connect(home, agent, where, dry_run=dry_run) for agent in find_agents(where) if agent.is_found)
    pid, error = None, None
    if not dry_run:
        try:
            pid = recorder.start(home.folder)
        except TallystickError as failure:
            error = str(failure)
    is_first = any(agent.is_changed for agent in connected) and home.exists
    return Up(
        store=home.folder,
        made_store=made,
        agents=connected,
        recorder=pid,
        recorder_error=error,
        backtest=hold_against_record(home, progress=progress) if is_first else None,
    )


def _connect(home: Home, agent: Agent, where: Surroundings, *, dry_run: bool) -> Connected:
    if not agent.can_be_hooked:
        return Connected(agent=agent.agent, can_be_hooked=False)
    try:
        done = install(home, agent.agent, where, dry_run=dry_run)
    except TallystickError as error:
        hint = ""
        if error.hint:
            hint = f"; {error.hint}"
        return Connected(agent=agent.agent, can_be_hooked=True, error=f"{error}{hint}")
    return Connected(
        agent=agent.agent,
        can_be_hooked=True,
        is_changed=done.is_changed,
        events=len(done.events),
        afterwards=AFTERWARDS.get(agent.agent),
    )
