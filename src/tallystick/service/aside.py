"""Work beside the event loop, in a thread of its own that gives way to it.

Owns the thread. Must not know what the work is.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable

from tallystick.capture.quick_switches import quick_switches


def in_a_thread(work: Callable[[], None], then: Callable[[], None]) -> None:
    """Begin with `work`, which must not raise; the loop that is running calls `then` afterwards.

    A process that ends does not wait for it.
    """
    loop = asyncio.get_running_loop()

    def run() -> None:
        with quick_switches():
            work()
        with contextlib.suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(then)

    threading.Thread(target=run, name="tallystick-aside", daemon=True).start()
