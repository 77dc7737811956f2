"""The tags of a content that a call writes, and what they say.

Owns what is asked of `policy.content.inspection` while journals are projected. Must not know rows.
"""

from __future__ import annotations

_HOME = "/home/dev"
"""Stands for a home folder: an index is the same anyone who makes it."""
_MOST = 64 << 10


def tags_in(content: str, uri: str) -> tuple[str, ...]:
    """The tags of a content that a call writes to a file; none where it is not code, or has nothing that matters in it."""
    from tallystick.policy.content.code_files import language_in, may_have_tags

    if len(content) > _MOST:
        return ()
    language = language_in(content, uri)
    if language is None or not may_have_tags(content):
        return ()
    # The tables of risks take time to load: an index of harmless code does not need them.
    from tallystick.policy.content.inspection import content_tags

    return tuple(sorted(content_tags(content, language, home=_HOME, name=uri.rpartition("/")[2])))


def meaning(tag: str) -> str:
    """What a tag says, for people."""
    from tallystick.policy.content.inspection import MEANINGS

    return MEANINGS.get(tag, tag)
