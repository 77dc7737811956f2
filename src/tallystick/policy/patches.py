"""Patches as agents write them: which files they change.

Owns the paths in `*** Begin Patch` texts and in unified differences. Must not know which paths are protected.
Source: the format that Codex's `apply_patch` describes to models; POSIX `diff -u`.
"""

from __future__ import annotations

import re

_ENVELOPE = re.compile(r"^\*\*\* (?:(?:Add|Update|Delete) File|Move to):[ \t]*(.+?)[ \t]*$", re.MULTILINE)
_UNIFIED = re.compile(r"^(?:---|\+\+\+) (?:[ab]/)?([^\t\n]+?)(?:\t.*)?\r?$", re.MULTILINE)


def patched_files(text: str) -> tuple[str, ...]:
    """The paths that a patch adds, changes, deletes or moves to, as they are written."""
    return tuple(dict.fromkeys((*_ENVELOPE.findall(text), *_UNIFIED.findall(text))))
