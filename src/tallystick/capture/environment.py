"""The environment of another process of this user, such as the hook that an agent has just started.

Owns asking the system for it. Must not know what any variable means.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path


def environment_of(pid: int) -> Mapping[str, str] | None:
    """The variables that a process was started with; None: it is gone, another user's, or the system does not tell."""
    try:
        data = Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return _by_psutil(pid)
    pairs = (item.partition(b"=") for item in data.split(b"\0") if b"=" in item)
    return {os.fsdecode(name): os.fsdecode(value) for name, _, value in pairs}


def _by_psutil(pid: int) -> Mapping[str, str] | None:
    """Where there is no /proc, as on macOS."""
    if Path("/proc/self").exists():
        return None
    import psutil

    try:
        return psutil.Process(pid).environ()
    except (psutil.Error, OSError, SystemError):
        return None
