"""Which paths below a watched folder are passed over.

Owns the lists that docs/watching.md states. What stands here is a place where a change is not seen, so the lists are short:
what tools make in masses and make again. Must not know how folders are watched.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from fnmatch import translate

FOLDERS = frozenset(
    (
        ".hg",
        ".mypy_cache",
        ".pytest_cache",
        ".ruff_cache",
        ".svn",
        ".tox",
        ".venv",
        "__pycache__",
        "node_modules",
        "target",
        "venv",
    )
)
"""Nothing below a folder of these names is looked at."""
FILES = ("*.tmp", "*.swp", "*.swx", "*~", ".#*", "#*#", "4913", "*.tmp.[0-9]*")
"""What editors write for a moment beside the file that is meant."""
GIT = ".git"
GIT_SEEN = (("config",), ("hooks",))
"""Below `.git` nothing else is looked at."""
_FILES = re.compile("|".join(map(translate, FILES)))
MOST_DEEP = 64
"""Folders nested deeper than this are passed over."""


def is_passed_over(parts: Sequence[str]) -> bool:
    """Whether a path is passed over, by its names below the watched folder."""
    if len(parts) > MOST_DEEP or not FOLDERS.isdisjoint(parts):
        return True
    if GIT in parts and _is_inside_git(tuple(parts[parts.index(GIT) + 1 :])):
        return True
    return bool(parts) and _FILES.match(parts[-1]) is not None


def _is_inside_git(rest: tuple[str, ...]) -> bool:
    return bool(rest) and not any(rest[: len(seen)] == seen for seen in GIT_SEEN)
