"""The process that deciders are forked from, as the front knows it, and what the two say to each other."""

from __future__ import annotations

import socket
import struct
from typing import NamedTuple

WANTED = b"d"
"""What a template is asked, with a socket for the decider."""
PID = struct.Struct(">I")
"""What it answers: the process that it has forked."""


class Template(NamedTuple):
    """The process that is forked."""

    pid: int
    channel: socket.socket
    """Where deciders are asked for."""
