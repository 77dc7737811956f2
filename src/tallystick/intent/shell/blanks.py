"""Characters that end a word for one shell and are part of it for another.

Owns which those are. Must not know any grammar. Sources: Bash Reference Manual, 2 (a blank is a space or a tab); the
documentation of PowerShell and of cmd.exe, which take vertical tabs and form feeds for blanks as well. A carriage return that
ends a line is none of them: files from Windows have it, and shells that run there leave it out.
"""

from __future__ import annotations

import re

from tallystick.model.pattern import pattern_of

_DISPUTED = r"[\v\f]|\r(?!\n|\Z)"
_IN_TEXT = pattern_of(_DISPUTED)
_IN_BYTES: re.Pattern[bytes] = pattern_of(_DISPUTED.encode())


def is_ambiguous(text: str) -> bool:
    """Whether shells do not agree where the words of a text end."""
    return ("\f" in text or "\v" in text or "\r" in text) and _IN_TEXT.search(text) is not None


def joined(source: bytes) -> bytes:
    """A text of the same length in which those characters are letters to any grammar."""
    return _IN_BYTES.sub(b".", source)


def spelled(text: str) -> tuple[str, ...]:
    """A text, and where shells do not agree on it, the text in which those characters are blanks."""
    if is_ambiguous(text):
        return (text, _IN_TEXT.sub(" ", text))
    return (text,)
