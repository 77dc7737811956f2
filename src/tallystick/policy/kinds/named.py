"""A path as it is judged. Owns its form."""

from __future__ import annotations

import msgspec


class Named(msgspec.Struct, frozen=True, kw_only=True):
    """What a call names: one path, or a pattern, or a folder with all below it."""

    path: str
    """Absolute and normal, where the folder is known. Wildcards as they are written."""
    real: str
    """The same without links."""
    home: str
    workspace: str | None = None
    is_known: bool = True
    """False: holes in it are left out, so that it may be the beginning or a part of the path."""
    is_pattern: bool = False
    is_deep: bool = False
