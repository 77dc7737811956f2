"""Secrets in a store that was recorded before today's rules, or while scrubbing was off.

Owns the walk over the journals and what is reported of each place: where it is and of what kind, never the value. Must not
know how a secret is found; erasing is trust.erase's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from tallystick.errors import FormatError, JournalError, NotFoundError
from tallystick.journal.home import Home
from tallystick.journal.known_values import KnownFile
from tallystick.journal.read import read_file
from tallystick.model.ids import SessionId
from tallystick.scrubbing.known_values import KnownValues
from tallystick.scrubbing.step import secrets_of
from tallystick.trust.erase import Erasure, erase


class FoundSecret(msgspec.Struct, frozen=True):
    """A field of a step in which there are secrets."""

    session: str
    n: int
    field: str
    """`content.output`; `meta` cannot be erased."""
    kinds: dict[str, int]
    """How many of which kind; empty: the field takes too long to search."""

    @property
    def can_be_erased(self) -> bool:
        """Whether `tally erase` can remove it."""
        return self.field != "meta"


class UnreadSession(msgspec.Struct, frozen=True):
    """A journal that could not be read to its end."""

    session: str
    why: str


class SecretScan(msgspec.Struct, frozen=True):
    """What a scan of a store found."""

    secrets: tuple[FoundSecret, ...]
    steps: int
    """How many were looked at,"""
    sessions: int
    """of how many sessions."""
    unread: tuple[UnreadSession, ...] = ()
    erased: int = 0
    """How many of the fields were erased in the end."""


def scan(home: Home, session: str | None = None, *, progress: Callable[[str, int], None]) -> SecretScan:
    """Look through the journals of a store with today's rules, and for what is known to be a secret; nothing is written.

    Args:
        session: our id of the only session to look at; None: all.
        progress: called with a session and how many bytes of it were read since the last call.

    Raises:
        NotFoundError: there is no store, or no such session.
    """
    if not home.exists:
        raise NotFoundError(f"no store at {home.folder}", hint="create one with `tally init`")
    journals = [(sid, path) for sid, path in home.sessions() if session in (None, sid)]
    if session is not None and not journals:
        raise NotFoundError(f"no session {session}")
    known = KnownFile(home).current()
    done = _look(home, journals, known, progress)
    if known is not None and known.new_lines():  # what was found in one session may be in those before it
        done = _look(home, journals, known, progress)
    return done


def _look(
    home: Home,
    journals: Sequence[tuple[SessionId, Path]],
    known: KnownValues | None,
    progress: Callable[[str, int], None],
) -> SecretScan:
    secrets: list[FoundSecret] = []
    unread: list[UnreadSession] = []
    steps = 0
    for sid, path in journals:
        try:
            for placed in read_file(home, path, load_blobs=True):
                steps += 1
                found = secrets_of(placed.step, known)
                secrets += (
                    FoundSecret(sid, placed.step.n, name, dict(sorted(kinds.items()))) for name, kinds in found.items()
                )
                progress(sid, placed.end - placed.offset)
        except (FormatError, JournalError) as error:
            unread.append(UnreadSession(sid, str(error)))
    return SecretScan(tuple(secrets), steps, len(journals), tuple(unread))


def erase_found(home: Home, done: SecretScan, reason: str) -> SecretScan:
    """Erase every field that a scan found, as far as one can be erased. Each erasure is sealed in the ledger first.

    Raises:
        JournalError: the store cannot be written.
    """
    places: dict[tuple[str, int], list[str]] = {}
    for secret in done.secrets:
        if secret.can_be_erased:
            places.setdefault((secret.session, secret.n), []).append(secret.field)
    for (session, n), fields in places.items():
        erase(home, session, n, Erasure(tuple(fields), reason, "policy"))
    return msgspec.structs.replace(done, erased=sum(map(len, places.values())))
