"""Where in a running program a step happens: inside which call, after which step.

Owns the places of a context, and the rule by which the steps of concurrent tasks and threads find their parents. Must not
know how a step is recorded, nor what a session is.

A *strand* is what one task of one thread does in one session: its steps follow each other. A task or thread that was begun
with a copy of the context (asyncio does that by itself, a thread with `copy_context().run`) begins a strand of its own
where its creator stood at that moment. When the creator goes on after such a strand has come to rest, with no call of it
open, the creator's next step follows from that strand's last step too: that is the join.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import Mapping
from contextvars import ContextVar
from typing import NamedTuple

import msgspec

from tallystick.seal.limits import PARENTS


class Owner(NamedTuple):
    """Process, thread and task; no task: 0."""

    process: int
    thread: int
    task: int


def owner() -> Owner:
    """Who runs right now."""
    task = 0
    if sys.modules.get("asyncio") is not None:
        try:
            task = id(asyncio.current_task())
        except RuntimeError:  # no event loop runs in this thread
            task = 0
    return Owner(os.getpid(), threading.get_ident(), task)


class ExecutionContext:
    """What one task of one thread does in one session. `tip` is its last step, `open` how many of its calls are."""

    __slots__ = ("branches", "last", "open", "origin", "owner")

    def __init__(self, owner: Owner, origin: ExecutionContext | None, last: int | None) -> None:
        self.owner = owner
        self.origin = origin
        self.last = last
        self.open = 0
        self.branches: dict[int, ExecutionContext] = {}

    def advance(self, n: int) -> None:
        """Step `n` was recorded here: anyone who this strand came from may have to join it."""
        self.last = n
        strand = self
        while strand.origin is not None:
            strand.origin.branches.setdefault(id(strand), strand)
            strand = strand.origin
            strand.forget_some()

    def forget_some(self) -> None:
        """Keep no more branches than one step can join, for a creator that itself records nothing more."""
        if len(self.branches) > 4 * PARENTS:
            for key in [key for key, branch in list(self.branches.items()) if branch.open == 0][:PARENTS]:
                self.branches.pop(key, None)

    def join(self) -> list[int]:
        """The last steps of the branches that are at rest. They are joined by this, until they go on."""
        ends: list[int] = []
        for key, branch in list(self.branches.items()):
            if branch.open == 0:
                self.branches.pop(key, None)
                ends += branch.ends()
        return ends

    def ends(self) -> list[int]:
        """The last step of this strand, and those of its branches that it did not join."""
        return [*([] if self.last is None else [self.last]), *self.join()]


class Place(msgspec.Struct, frozen=True):
    """Where a strand stands. It is copied with the context, so a new task begins where its creator stood."""

    strand: ExecutionContext
    tip: int | None = None
    """The last step before the next one; None: whatever the session's journal ends with."""
    within: int | None = None
    """The call that encloses the next step."""
    request: int | None = None
    """The prompt that the next step serves."""


_places: ContextVar[Mapping[int, Place] | None] = ContextVar("tallystick_places", default=None)


def place_of(key: int) -> Place | None:
    """Where this context is in the session with this key."""
    places = _places.get()
    if places is None:
        return None
    return places.get(key)


def set_place(key: int, place: Place | None) -> None:
    """Say where this context is in a session from now on; None: it has left it."""
    places = dict(_places.get() or ())
    if place is None:
        places.pop(key, None)
    else:
        places[key] = place
    _places.set(places)
