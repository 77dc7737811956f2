"""What was probably meant by a word that is unknown."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def nearest(word: str, known: Iterable[str]) -> str:
    """`; did you mean 'log'?` for a word that is nearly one that is known, else nothing."""
    close = get_close_matches(word, list(known), n=3, cutoff=0.6)
    if close:
        return f"; did you mean {' or '.join(map(repr, close))}?"
    return ""
