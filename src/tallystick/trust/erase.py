"""Erasing a value on request, by the name that a person types."""

from __future__ import annotations

import msgspec

from tallystick.errors import NotFoundError, UsageError
from tallystick.journal.erase import Erased, Grounds
from tallystick.journal.erase import erase as erase_entry
from tallystick.journal.home import Home
from tallystick.model.ids import SessionId
from tallystick.recording.store import open_archive
from tallystick.seal.names import is_field_name, is_meta_string


class Erasure(msgspec.Struct, frozen=True):
    """What is to be erased, and why."""

    fields: tuple[str, ...]
    """Full names, `content.output` for example."""
    reason: str
    """In the words of anyone who asks."""
    basis: str = "request"
    """A word for the ground: `request`, `policy`, `law`."""


def erase(home: Home, session: str, n: int, wanted: Erasure) -> Erased:
    """Erase values of step `n` of a session and seal that in the ledger; the step itself stays.

    Args:
        session: our session id, whole.

    Raises:
        UsageError: no field, or one that is none. NotFoundError: no such session, step or field.
        JournalError: the store cannot be written.
    """
    names = frozenset(wanted.fields)
    if not names:
        raise UsageError("nothing to erase", hint="name a field: --field content.output")
    for name in sorted(names):
        if not is_field_name(name):
            raise UsageError(
                f"{name!r} is not a field name", hint="names look like content.output; `tally show STEP` lists them"
            )
    if not is_meta_string(wanted.basis):
        raise UsageError(f"{wanted.basis!r} is not a basis", hint="use one word, such as request, policy or law")
    archive = open_archive(home)
    try:
        if home.journal(session) is None:
            raise NotFoundError(f"no session {session}")
        return erase_entry(archive, SessionId(session), n, names, Grounds(wanted.basis, wanted.reason))
    finally:
        archive.close()
