"""Where the settings of agents are looked for: the user's home folder, the environment, a project.

Owns turning a settings file that an adapter names into a path, and asking the system for the environment of another
process of this user, such as the hook that an agent has just started. Must not know what is in the file, nor what any
variable means.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import msgspec

from tallystick.agents.hooks import SettingsFile

__all__ = ["Surroundings"]


class Surroundings(msgspec.Struct, frozen=True, kw_only=True):
    """Where agents' settings are looked for."""

    user: Path
    """The user's home folder."""
    environment: Mapping[str, str] = {}
    """What may name other folders."""
    project: Path | None = None
    """The project whose settings are meant, instead of the user's."""

    def path(self, file: SettingsFile) -> Path:
        """Where a settings file is."""
        if self.project is not None:
            return self.project / file.path
        named = None
        if file.variable:
            named = self.environment.get(file.variable)
        if named:
            return Path(named).expanduser() / Path(*Path(file.path).parts[1:])
        return self.user / file.path


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
