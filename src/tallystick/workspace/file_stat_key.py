"""What shows, without reading them, that files have changed.

Owns what the file system is asked. Must not know what is in the files.
"""

from __future__ import annotations

from pathlib import Path

Stamp = tuple[tuple[int, int, int] | None, ...]
"""What the file system says of paths: equal while nothing changed."""


def stamp_of(paths: tuple[Path, ...]) -> Stamp:
    """What the file system says of paths now."""
    return tuple(stamp(path) for path in paths)


def stamp(path: Path) -> tuple[int, int, int] | None:
    """When it was changed, its size and which file it is, or None."""
    try:
        status = path.stat()
    except (OSError, ValueError):
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino
