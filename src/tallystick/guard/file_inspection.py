"""What a file that was written holds: its digest, and the tags of what it would do if it ran.

Owns looking at a file after a call wrote it. Before a call, `policy` sees only what the call tells; a program may write
something else. Must not know what follows from a tag, nor where tags are kept.
"""

from __future__ import annotations

import posixpath
from pathlib import Path

import msgspec

from tallystick.capture.content import Contents
from tallystick.policy.content.inspection import content_tags, language_in
from tallystick.policy.world import Content, Unread

_CONTENTS = Contents()


class Inspected(msgspec.Struct, frozen=True, kw_only=True):
    """A file as it is now."""

    path: str
    digest: str | None = None
    """`sha256:` and hex; None: it could not be read."""
    tags: frozenset[str] = frozenset()
    """Words of `policy.content.inspection.TAGS` and `policy.risks.RISKS`. They are the digest's: other content has others."""


def inspect_written(path: str, user_home: Path) -> Inspected | None:
    """Look at a file that a call wrote, an absolute path; None if it is not there or holds no code."""
    found = _CONTENTS.read(path)
    if isinstance(found, Content):
        language = language_in(found.text, path)
        if language is None:
            return None
        tags = content_tags(found.text, language, home=str(user_home), name=posixpath.basename(path))
        return Inspected(path=path, digest=found.digest, tags=tags)
    is_code = found is not Unread.MISSING and language_in("", path) is not None
    if is_code:
        return Inspected(path=path, tags=frozenset((str(found),)))
    return None
