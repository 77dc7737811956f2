"""The process at the other end of a Unix socket: which one, and whose.

Owns asking the kernel. What a process says of itself is never asked. The signer, a program of its own, has its own way to.
"""

from __future__ import annotations

import socket
import struct
from typing import NamedTuple

_CREDENTIALS = struct.Struct("3i")
_XUCRED_BYTES = 76
_LOCAL_PEERCRED = 1


class Peer(NamedTuple):
    """A process, as far as the system says: on macOS only its user."""

    pid: int | None
    user: int


def peer_of(connection: socket.socket) -> Peer:
    """Who connected, or who listens where we did. Raises OSError."""
    if hasattr(socket, "SO_PEERCRED"):
        pid, user, _ = _CREDENTIALS.unpack(
            connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
        )
        return Peer(pid or None, user)
    # macOS: struct xucred begins with version and uid.
    _, user = struct.unpack_from("2I", connection.getsockopt(0, _LOCAL_PEERCRED, _XUCRED_BYTES))
    return Peer(None, user)
