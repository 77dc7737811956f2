"""Recorders and the life of processes: forks, and ends that no one announced.

Owns what is done before and after a fork, and at exit. A forked child shares its parent's open files, and with them the
locks on these files; it has locks that no one will ever release, and no threads. So it drops all of that and opens the
store again when it first records. Must not know what is recorded.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import sys
import threading
import weakref
from typing import Protocol

from tallystick.errors import TallystickError

_PATIENCE_SECONDS = 2.0


class Lives(Protocol):
    """What has to be told of forks and ends."""

    @property
    def busy(self) -> threading.RLock | None:
        """What is held while something is written; None: nothing is open."""
        ...

    def abandon(self) -> None:
        """Drop, in a forked child, what was inherited. It was not this process that opened it."""
        ...

    def close(self) -> None:
        """Seal what is pending."""
        ...


_all: weakref.WeakSet[Lives] = weakref.WeakSet()
_held: list[threading.RLock] = []


def watch(recorder: Lives) -> None:
    """Have a recorder told of forks, and closed when the program ends."""
    _all.add(recorder)


def watch_in_child(recorder: Lives) -> None:
    """The same for one that a forked child opened: a child of multiprocessing does not run what `atexit` has."""
    util = sys.modules.get("multiprocessing.util")
    if util is not None:
        reference = weakref.ref(recorder)
        util.Finalize(None, _close_one, args=(reference,), exitpriority=0)


def _close_one(reference: weakref.ref[Lives]) -> None:
    recorder = reference()
    if recorder is not None:
        with contextlib.suppress(TallystickError):
            recorder.close()


def _close_all() -> None:
    for recorder in list(_all):
        with contextlib.suppress(TallystickError):
            recorder.close()


def _before() -> None:
    """Let writes in progress end, so that the child inherits no half of one. Not for ever: a fork must not hang."""
    for recorder in list(_all):
        lock = recorder.busy
        if lock is not None and lock.acquire(timeout=_PATIENCE_SECONDS):
            _held.append(lock)


def _after_in_parent() -> None:
    while _held:
        _held.pop().release()


def _after_in_child() -> None:
    _held.clear()
    for recorder in list(_all):
        recorder.abandon()


os.register_at_fork(before=_before, after_in_parent=_after_in_parent, after_in_child=_after_in_child)
atexit.register(_close_all)
