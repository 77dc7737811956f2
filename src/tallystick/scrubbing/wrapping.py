"""Secrets that are broken in two: by the end of a line, or because a literal is written as several.

Owns what may stand between the pieces, and how the next piece is known to be one. Must not know what a secret is.
"""

from tallystick.model.pattern import pattern_of

_PIECE = rb"[A-Za-z0-9_+/.~=-]"
_QUOTED = rb"""\\{0,3}["'][ \t]{0,4}(?:[+.&][ \t]{0,4})?(?:\\?\r?\n[ \t]{0,64})?[bruf]?\\{0,3}["']"""
_LINE_OF_ONE = rb"""(?=[A-Za-z0-9_+/.~-]{0,40}[0-9][A-Za-z0-9_+/.~-]{0,4000}={0,2}["',;)]{0,3}(?:\r?\n|\Z))"""
_LINE = rb"""\\?\r?\n[ \t>|+]{0,32}""" + _LINE_OF_ONE
_NEXT = pattern_of(
    rb"(?:" + _QUOTED + rb"|(?<=[A-Za-z0-9_+/-]{12})" + _LINE + rb")(?P<piece>" + _PIECE + rb"{4,4000}+)"
)
_NEXT_LINE = rb"""\\?\r?\n[ \t>|+]{0,32}(?=[A-Za-z0-9_-]{0,40}[0-9])"""
_HALVES = pattern_of(
    rb"(?P<first>[A-Za-z0-9_.-]{2,400}+)(?:"
    + _QUOTED
    + rb"|"
    + _NEXT_LINE
    + rb"|=\r?\n)(?P<second>[A-Za-z0-9_.-]{4,400}+)"
)
_MOST = 64


def end_of(data: bytes, end: int) -> int:
    """Where a secret ends whose first piece ends at `end`."""
    for _ in range(_MOST):
        found = _NEXT.match(data, end)
        if found is None:
            break
        end = found.end()
    return end


def halves(data: bytes, start: int) -> tuple[bytes, int] | None:
    """The piece that begins at `start` with the one that goes on, and where that ends; None if it does not go on."""
    found = _HALVES.match(data, start)
    if found is None:
        return None
    return found["first"] + found["second"], found.end()
