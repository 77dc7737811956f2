"""Keeping promises about time: durable within 100 ms, sealed within 2 s, also when no further step comes.

Owns one thread that sleeps while nothing is pending. Must not know what is recorded: it calls what it was given.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from tallystick.errors import JournalError, TallystickError

SYNC_SECONDS = 0.1
SEAL_SECONDS = 2.0


class FlushTimer:
    """Calls `sync` at most 100 ms and `seal` at most 2 s after the first `note` that they have not seen yet.

    What either raises ends the thread and is raised by the next `note`, as a TallystickError: nothing is recorded on as
    if all were well. That `note` begins again, so a disk that was full for a while is not full for ever.
    """

    def __init__(self, sync: Callable[[], None], seal: Callable[[], None]) -> None:
        self._sync = sync
        self._seal = seal
        self._changed = threading.Condition()
        self._unsynced_at: float | None = None
        self._unsealed_at: float | None = None
        self._stopped = False
        self._thread: threading.Thread | None = None
        self._error: TallystickError | None = None

    def note(self) -> None:
        """Say that a step was recorded."""
        with self._changed:
            is_first = self._unsynced_at is None or self._unsealed_at is None
            now = time.monotonic()
            self._unsynced_at = self._unsynced_at or now
            self._unsealed_at = self._unsealed_at or now
            if self._thread is None and not self._stopped:
                self._thread = threading.Thread(target=self._run, name="tallystick-keeper", daemon=True)
                self._thread.start()
            if is_first:  # else the thread knows when to wake up, and waking it takes longer than all of this
                self._changed.notify()
            error, self._error = self._error, None
        if error is not None:
            raise error

    def sealed(self) -> None:
        """Say that everything was sealed by someone else."""
        with self._changed:
            self._unsynced_at = self._unsealed_at = None

    def hurry(self) -> None:
        """Say that sealing is due now."""
        with self._changed:
            self._unsealed_at = time.monotonic() - SEAL_SECONDS
            self._changed.notify()

    def stop(self) -> None:
        """End the thread. What is pending stays pending."""
        with self._changed:
            self._stopped = True
            thread = self._thread
            self._changed.notify()
        if thread is not None and thread is not threading.current_thread():
            thread.join()

    def _run(self) -> None:
        while True:
            with self._changed:
                while not self._stopped and (wait := self._wait_seconds()) != 0:
                    self._changed.wait(wait)
                if self._stopped:
                    return
                now = time.monotonic()
                is_seal = self._unsealed_at is not None and now - self._unsealed_at >= SEAL_SECONDS
                self._unsynced_at = None
                if is_seal:
                    self._unsealed_at = None
            try:
                (self._seal if is_seal else self._sync)()
            except Exception as error:  # also a fault of ours: a thread that is gone must not go unnoticed
                with self._changed:
                    self._error, self._thread = _told(error), None
                return

    def _wait_seconds(self) -> float | None:
        """How long until something is due; 0: it is; None: nothing is pending."""
        due = [
            began + limit
            for began, limit in ((self._unsynced_at, SYNC_SECONDS), (self._unsealed_at, SEAL_SECONDS))
            if began is not None
        ]
        if due:
            return max(min(due) - time.monotonic(), 0)
        return None


def _told(error: Exception) -> TallystickError:
    if isinstance(error, TallystickError):
        return error
    told = JournalError(f"what was recorded could not be made durable: {type(error).__name__}: {error}")
    told.__cause__ = error
    return told
