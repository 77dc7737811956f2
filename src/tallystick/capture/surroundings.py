"""Where the settings of agents are looked for: the user's home folder, the environment, a project.

Owns turning a settings file that an adapter names into a path. Must not know what is in the file.
"""

from __future__ import annotations

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
