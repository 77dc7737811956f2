"""Files that a call takes along because a pattern matches everything: `wc -l *`.

Owns which those are. No one asked for such a file by its name, so a name that only may mean credentials says nothing
then.
"""

from __future__ import annotations

import posixpath

from tallystick.catalog.programs import programs_with
from tallystick.policy.reading import CallReading

_SHOWING = programs_with("shows-content")
_MATCH_ALL = frozenset(("*", "*.*", "**"))


class Incidental:
    """The files of one call."""

    def __init__(self, reading: CallReading) -> None:
        places = (posixpath.split(pattern) for pattern in reading.patterns)
        self._folders = frozenset(folder for folder, last in places if last in _MATCH_ALL)
        self._texts = reading.texts
        self._workspace = reading.workspace

    def has(self, path: str, program: str) -> bool:
        """Whether a path is one of them. What is in the text of the call is asked for, whatever else matches it.

        Args:
            program: what the path is given to. One that shows all of a file shows this one too.
        """
        if not self._folders or self._workspace is None or program in _SHOWING:
            return False
        folder, name = posixpath.split(path)
        is_matched = folder in self._folders and f"{folder}/".startswith(f"{self._workspace}/")
        return is_matched and not any(name in text for text in self._texts)
