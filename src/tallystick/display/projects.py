"""The name of a project, by the folder in which a session works.

Owns that name: the last part of the path, of whatever system. Must not know which folders belong together.
"""

from __future__ import annotations

import re

from tallystick.display.text import one_line

_PARTS = re.compile(r"[/\\]+")


def project_name(folder: str | None) -> str:
    """`shop` for `/srv/shop` and for a path of Windows; empty where no folder is known. Safe to print."""
    parts = [part for part in _PARTS.split(folder or "") if part]
    if not parts:
        return ""
    return one_line(parts[-1])
