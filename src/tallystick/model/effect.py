"""What was seen to happen to files, no matter who did it.

Owns EffectKind, FileEffect and Holder: what `capture.watch` sees and `ingest.watch` records. Must not know how it was
seen, nor which call caused it: `lineage.correlate` says that.
"""

from __future__ import annotations

import enum

import msgspec


class EffectKind(enum.StrEnum):
    """What happened to a file or folder."""

    CREATE = "create"
    MODIFY = "modify"
    DELETE = "delete"
    RENAME = "rename"


class Holder(msgspec.Struct, frozen=True):
    """A process that had a file open for writing when it was looked at: its number and its short name."""

    pid: int
    name: str


class FileEffect(msgspec.Struct, frozen=True, kw_only=True):
    """What happened to one path.

    `path` is absolute, the new one of a rename, and may hold anything that a file name can: control characters, and
    lone surrogates for bytes that are not UTF-8.
    """

    kind: EffectKind
    path: str
    at_ms: int
    """When, in milliseconds since 1970: what the file system says of the change, else when it was seen."""
    old_path: str | None = None
    """Of a rename: where it was."""
    size_bytes: int | None = None
    """None for what is gone, and for folders."""
    digest: str | None = None
    """`sha256:` and hex of what it holds now; None if that was not read."""
    before: str | None = None
    """The same of what it held before, where that was known."""
    is_folder: bool = False
    is_link: bool = False
    """A symbolic link; where it leads to is not looked at."""
    is_sensitive: bool = False
    """Below a folder of which names alone are looked at."""
    is_metadata: bool = False
    """Of a modify: mode, owner or times changed, and nothing else."""
    is_replaced: bool = False
    """Another file took the place of the one that had this path."""
    is_brief: bool = False
    """Of a delete: it came and went between two looks, and nothing more is known of it."""
    by_look: bool = False
    """No event told of it: it was found by comparing, so a time that the file system does not say is late."""
    holder: Holder | None = None
    """The process that was seen to have it open; None: unknown."""
