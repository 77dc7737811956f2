"""Who is at the other end of a Unix socket, and how often they may ask.

Owns asking the kernel, and one bucket of permits a user. What a client says of itself is never asked.
"""

from __future__ import annotations

import socket
import struct
import sys
from collections import OrderedDict
from collections.abc import Callable

_CREDENTIALS = struct.Struct("3i")
_XUCRED = struct.Struct("IIh16I")
_LOCAL_PEERCRED = 1
_MOST_USERS = 1_024


def user_of(connection: socket.socket) -> int | None:
    """The user id of the process that connected; None where the system does not say."""
    try:
        if sys.platform == "darwin":
            told = connection.getsockopt(0, _LOCAL_PEERCRED, _XUCRED.size)
            return int(_XUCRED.unpack(told)[1])
        told = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
        return int(_CREDENTIALS.unpack(told)[1])
    except (OSError, struct.error):
        return None


class Permits:
    """So many requests a second for each user, and a burst of as many as come in two seconds. Safe for no threads."""

    def __init__(self, a_second: float, monotonic: Callable[[], float]) -> None:
        self._rate, self._most = a_second, 2 * a_second
        self._monotonic = monotonic
        self._left: OrderedDict[int, tuple[float, float]] = OrderedDict()

    def take(self, user: int) -> bool:
        """Whether this user may ask once more now."""
        now = self._monotonic()
        left, at = self._left.pop(user, (self._most, now))
        left = min(self._most, left + (now - at) * self._rate)
        self._left[user] = (left - 1 if left >= 1 else left, now)
        while len(self._left) > _MOST_USERS:
            self._left.popitem(last=False)
        return left >= 1
