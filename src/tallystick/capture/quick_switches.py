"""A thread at work gives way to one that answers.

Owns how soon. Must not know what either does.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator

_SECONDS = 0.0005
"""Python's own 5 ms could be felt, each time the one that answers has waited for anything."""


@contextlib.contextmanager
def quick_switches() -> Iterator[None]:
    """While this lasts, no thread of the process waits longer than this for another one that computes."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(min(before, _SECONDS))
    try:
        yield
    finally:
        sys.setswitchinterval(before)
