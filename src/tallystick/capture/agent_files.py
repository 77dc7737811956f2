"""Where the files of an agent's settings are on this machine.

Owns turning a place into a path: which folder stands for the user's, a project's or the administrator's, and what a variable
of the environment says instead. Must not know what is in the files.
"""

from __future__ import annotations

from pathlib import Path, PurePath

from tallystick.capture.surroundings import Surroundings
from tallystick.catalog.agents import Base, Place


def path_of(place: Place, where: Surroundings, root: Path) -> tuple[Path, Path] | None:
    """The file or folder of a place, and the folder below which it is; None: of a project, where none exists.

    Args:
        root: below which administrators' settings are.
    """
    base = {Base.USER: where.user, Base.PROJECT: where.project, Base.MANAGED: root}[place.base]
    if base is None:
        return None
    parts = PurePath(place.path).parts
    named = None
    if place.variable:
        named = where.environment.get(place.variable)
    if named:
        base, parts = named_folder(named, where.user), parts[1:]
    return base.joinpath(*parts), base


def named_folder(named: str, user: Path) -> Path:
    """A folder that a variable names."""
    if named.startswith("~/"):
        return user / named[2:]
    return Path(named)
