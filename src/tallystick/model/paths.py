"""Paths as text: one spelling for one path, no matter who names it.

Owns making a path absolute and simple. Must not know the file system: links are not followed, and nothing need be there.
"""

from __future__ import annotations

import posixpath


def placed(path: str, folder: str | None) -> str:
    """A path in a folder, without empty segments, `.` and `..`; relative where the folder is not known. `//x` is `/x`."""
    if folder and not path.startswith("/"):
        path = f"{folder}/{path}"
    found = posixpath.normpath(path)
    if found.startswith("//"):
        return found[1:]
    return found
