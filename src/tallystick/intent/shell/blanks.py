"""Texts that shells do not read alike, or not as the grammar does: where words end in them.

Owns which characters end a word for one shell and are part of it for another, and words that go on in the next line. Must not
know any grammar. Sources: Bash Reference Manual, 2 (a blank is a space or a tab) and 3.1.2.1 (a backslash before the end of a
line, and that end, are taken out); the documentation of PowerShell and of cmd.exe, which take vertical tabs and form feeds
for blanks as well. A carriage return that ends a line is none of them: files from Windows have it, and shells there leave it
out.
"""

from __future__ import annotations

import re

from tallystick.model.pattern import pattern_of

_AMBIGUOUS = r"[\v\f]|\r(?!\n|\Z)"
_IN_TEXT = pattern_of(_AMBIGUOUS)
_IN_BYTES: re.Pattern[bytes] = pattern_of(_AMBIGUOUS.encode())
_GOES_ON = pattern_of(r"(?<=\S)\\\r?\n(?=\S)")


def is_ambiguous(text: str) -> bool:
    """Whether shells do not agree where the words of a text end."""
    return ("\f" in text or "\v" in text or "\r" in text) and _IN_TEXT.search(text) is not None


def joined(source: bytes) -> bytes:
    """A text of the same length in which those characters are letters to any grammar."""
    return _IN_BYTES.sub(b".", source)


def spelled(text: str) -> tuple[str, ...]:
    """A text as all shells read it that run commands: itself first, and what others, or the grammar, would not see in it.

    That is the text in which those characters are blanks, and the text whose words do not go on in the next line. A backslash
    at the end of a comment, or within quotes, means something else: so a text with one is read both ways.
    """
    found = [text]
    if is_ambiguous(text):
        found.append(_IN_TEXT.sub(" ", text))
    if "\\\n" in text or "\\\r\n" in text:
        found += [_GOES_ON.sub("", each) for each in found]
    return tuple(dict.fromkeys(found))
