"""Where the ids of a session's rows begin.

Owns the rule that makes a number of a session's id. Must not know which ids are taken.
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256

_ID_BITS = 62  # first_id + n stays below 2^63, whatever a journal may hold


def ids_of(session: str) -> Iterator[int]:
    """Where the ids of a session may begin, most wanted first.

    The first digits of the session's id as a number: then sessions read in the order of their ids are written in the
    order of their steps' ids, which is when SQLite writes fastest. Those are taken in one of ten thousand stores of
    100,000 sessions each, or where someone chose a session's id so; then a hash of it decides.
    """
    yield int(session[:16], 16) >> (64 - _ID_BITS)
    attempt = 0
    while True:
        digest = sha256(f"{session}/{attempt}".encode()).digest()
        yield int.from_bytes(digest[:8], "big") >> (64 - _ID_BITS)
        attempt += 1


def step_id_of(session: str, n: int) -> int:
    """The id that the row of a step has, unless its session's id begins as that of another (ids_of)."""
    return next(ids_of(session)) + n
