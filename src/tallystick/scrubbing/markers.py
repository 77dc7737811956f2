"""What is in the place of a secret.

Owns its text. It is the same for every secret of a kind: anything computed from the secret, even under a key, would let
anyone who holds that key try guesses against a record that is kept for years (docs/secrets.md).
"""

from __future__ import annotations

from tallystick.model.pattern import pattern_of

OPEN = "‹secret:"
CLOSE = "›"
OPEN_BYTES = OPEN.encode()
MARKERS = pattern_of(OPEN_BYTES + rb"[a-z0-9-]{1,40}" + CLOSE.encode())
"""Markers in a text in UTF-8."""
_IN_TEXT = pattern_of(MARKERS.pattern.decode())


def marker(kind: str) -> str:
    """The text that replaces a secret of this kind: `‹secret:github-token›`.

    It needs no escape in JSON, YAML, TOML, XML, URLs shown to people, or a shell word.
    """
    return f"{OPEN}{kind}{CLOSE}"


def without_markers(text: str) -> str:
    """A text with its markers left out: they are our words, and say nothing of what is around them."""
    if OPEN not in text:
        return text
    return _IN_TEXT.sub("", text)
