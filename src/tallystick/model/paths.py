r"""Paths as text: one spelling for one path, whichever system or program names it.

Owns that spelling. An absolute path begins with `/`, without empty segments, `.` and `..`. A drive of Windows lies below
`/mnt`, where Linux reaches it: `C:\x`, `C:/x`, `/c/x`, `/cygdrive/c/x`, `\\?\C:\x` and `\\localhost\c$\x` are `/mnt/c/x`;
another host's share is below `/mnt/unc`. What macOS links to (`/private/tmp`) is named as people name it (`/tmp`). Where a
volume takes letters of either case, a path begins as the folder does that it is seen from; `identity` folds the rest.
Must not know the file system: links are not followed, and nothing need be there. Sources: Microsoft's "File path formats";
wsl.conf(5); the Cygwin User's Guide, "Special filenames"; firmlinks(7) of macOS; RFC 8089.
"""

from __future__ import annotations

import enum
import posixpath
import re
import unicodedata
from functools import lru_cache

from tallystick.model.pattern import pattern_of


class System(enum.StrEnum):
    """What a session runs on, as far as paths and shells differ. A session in WSL is one of UNIX."""

    UNIX = "unix"
    WINDOWS = "windows"


_ODD = pattern_of(
    r"[A-Za-z]:|//|~?[^/\\]*\\|/(?:[A-Za-z]|cygdrive|proc/cygdrive|private|mnt|(?i:users)|System/Volumes)(?:/|\Z)"
)
"""Paths that may have another spelling. Of others only the segments are looked at."""
_OF_WINDOWS = pattern_of(r"[A-Za-z]:(?:[\\/]|\Z)|\\\\|/[A-Za-z]/Users(?:/|\Z)|/cygdrive/[a-z]/", re.IGNORECASE)
_DRIVE = pattern_of(
    r"(?://[?.]/)?([A-Za-z]):(?:/|\Z)|//(?:[?.]/UNC/)?(?:localhost|127\.0\.0\.1)/([A-Za-z])\$(?:/|\Z)", re.IGNORECASE
)
_MOUNTED = pattern_of(r"(?:/proc)?/cygdrive/([A-Za-z])(?=/|\Z)|/mnt/([A-Za-z])(?=/|\Z)")
_OF_GIT_BASH = pattern_of(r"/([A-Za-z])(?=/|\Z)")
_SURE = pattern_of(r"/[A-Za-z]/(?:users|windows|program files(?: \(x86\))?|programdata)(?=/|\Z)", re.IGNORECASE)
"""No other system has such folders."""
_DEVICE = pattern_of(r"[\\/]{2}\.[\\/](?![A-Za-z]:)")
_WSL = pattern_of(r"//(?:[?.]/UNC/)?wsl(?:\$|\.localhost)/[^/]+", re.IGNORECASE)
_SHARE = pattern_of(r"//(?:[?.]/UNC/)?(?=[^/?.])", re.IGNORECASE)
_OF_MACOS = pattern_of(r"/private(?=/(?:tmp|var|etc)(?:/|\Z))|/System/Volumes/Data(?=/)")
_FOLDS = pattern_of(r"/mnt/(?:[a-z]|unc)(?=/|\Z)|/(?i:users)/")
"""Volumes on which letters of either case, and both forms of an accent, name the same file."""
_ON_DRIVE = "/mnt/"
_ENDS = pattern_of(r"(?<=[^/. ])[. ]+(?=/|\Z)|::?\$DATA\Z|:[^/:]*:\$DATA\Z", re.IGNORECASE)
"""What Windows takes off a name, and its names of the unnamed stream."""
_HOME = pattern_of(r"/(?:home|Users)/[^/]+|/root(?=/|\Z)|/mnt/[a-z]/(?i:users)/[^/]+")


def system_of(folder: str | None) -> System:
    """What a session runs on, by the folder that it names as its own."""
    if folder is not None and _OF_WINDOWS.match(folder):
        return System.WINDOWS
    return System.UNIX


def folder_of(told: str | None) -> str | None:
    """The spelling of a folder that a session says it works in."""
    return placed(told, None) if told else None


def placed(path: str, folder: str | None) -> str:
    """The spelling of a path that is seen from a folder; relative where the folder is not known."""
    if folder and folder[0] != "/":
        folder = _placed(folder, None)
    if _ODD.match(path) or (folder is not None and _FOLDS.match(folder)):
        return _placed(path, folder)
    return _normal(path, folder)


def spelled(path: str) -> str:
    """The spelling of a path by itself, whose segments may be a pattern's."""
    if not _ODD.match(path) and "\\" not in path:
        return path
    return _OF_MACOS.sub("", _mounted(path.replace("\\", "/"), sees_drives=False), count=1)


def home_of(folder: str | None) -> str | None:
    """The home folder that a working folder lies in, where its spelling tells."""
    found = None
    if folder is not None:
        found = _HOME.match(placed(folder, None))
    if found is None:
        return None
    return found[0]


def identity(path: str) -> str:
    """The same for all spellings of an absolute path that name one file. `placed` comes before."""
    if _FOLDS.match(path):
        return unicodedata.normalize("NFC", path).lower()
    return path


def _is_drive(path: str | None) -> bool:
    """Whether a path in its one spelling lies on a drive of Windows."""
    return path is not None and path.startswith(_ON_DRIVE) and _FOLDS.match(path) is not None


def _normal(path: str, folder: str | None) -> str:
    if folder and not path.startswith("/"):
        path = f"{folder}/{path}"
    found = posixpath.normpath(path)
    if found.startswith("//"):
        return found[1:]
    return found


@lru_cache(maxsize=2048)
def _placed(path: str, folder: str | None) -> str:
    if _DEVICE.match(path):
        return path
    found = _normal(_mounted(path, sees_drives=_is_drive(folder)), folder)
    found = _OF_MACOS.sub("", found, count=1)
    if not _FOLDS.match(found):
        return found
    if _is_drive(found):
        found = _ENDS.sub("", found)
    return _as_in(folder, unicodedata.normalize("NFC", found))


def _mounted(path: str, *, sees_drives: bool) -> str:
    """A path of Windows as one below `/mnt`, with slashes."""
    if "\\" in path and (sees_drives or _OF_WINDOWS.match(path)):
        path, sees_drives = path.replace("\\", "/"), True
    found = _DRIVE.match(path) or _MOUNTED.match(path)
    if found is None and (sees_drives or _SURE.match(path)):
        found = _OF_GIT_BASH.match(path)
    if found is not None:
        drive = found[found.lastindex or 1]
        return f"/mnt/{drive.lower()}{posixpath.normpath('/' + path[found.end() :].lstrip('/'))}"  # nothing is above a drive
    if sees_drives and path.startswith("//"):
        return _SHARE.sub("/mnt/unc/", _WSL.sub("", path))
    return path


def _as_in(folder: str | None, path: str) -> str:
    """The path with the beginning that it shares with a folder as that is spelled."""
    if folder is None or not _FOLDS.match(folder):
        return path
    parts = path.split("/")
    for n, part in enumerate(folder.split("/")[: len(parts)]):
        if part.lower() != parts[n].lower():
            break
        parts[n] = part
    return "/".join(parts)
