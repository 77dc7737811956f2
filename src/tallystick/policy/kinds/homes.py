"""Where a path lies among home folders.

Owns the plain form of a path (as `model.paths` spells it, in lower case, no detour through /proc) and which part of it lies
below a home folder. Must not know what lies there. Nothing is looked up.
"""

from __future__ import annotations

from functools import lru_cache

from tallystick.model.paths import spelled
from tallystick.model.pattern import pattern_of

_DETOUR = pattern_of(r"/proc/(?:self|thread-self|\d{1,10})/(?:task/\d{1,10}/)?(?:root|cwd)(?=/)")
_OF_SOMEBODY = pattern_of(
    r"(?:/home/[^/]+|/users/[^/]+|/root|/var/root|/export/home/[^/]+|/mnt/[a-z]/users/[^/]+|/volumes/[^/]+/users/[^/]+|~[^/]*)(?=/|$)"
)
_FOLDERS_OF_HOMES = frozenset(("/home", "/users", "/export/home", "/mnt/c/users", "/mnt/c", "/volumes"))


@lru_cache(maxsize=4096)
def plain(path: str) -> str:
    """The path in the form that names are compared in: some file systems know no case."""
    text = path.lower()
    if text.startswith("/proc/"):
        text = _DETOUR.sub("", text)
    text = spelled(text)
    if text.startswith("//"):
        text = f"/{text.lstrip('/')}"
    return text.rstrip("/") or "/"


def below_home(path: str, home: str) -> str | None:
    """The part of a plain path below the home folder of anyone who it is; empty for that folder itself, None outside.

    A path whose beginning is unknown may lie below any folder, so it counts as below a home folder whole.
    """
    own = plain(home)
    if path == own:
        return ""
    if path.startswith(own + "/"):
        return path[len(own) + 1 :]
    found = _OF_SOMEBODY.match(path)
    if found is not None:
        return path[found.end() + 1 :]
    if path.startswith("/"):
        return None
    return path


def is_above_homes(path: str, home: str) -> bool:
    """Whether home folders lie below a plain path."""
    own = plain(home)
    return path == "/" or path in _FOLDERS_OF_HOMES or own.startswith(path + "/")
