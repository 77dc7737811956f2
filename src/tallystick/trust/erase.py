"""Erasing a value on request, by the name that a person types."""

from __future__ import annotations

from collections.abc import Iterable

from tallystick.errors import NotFoundError, UsageError
from tallystick.journal.erase import Erased, Grounds
from tallystick.journal.erase import erase as erase_entry
from tallystick.journal.home import Home
from tallystick.model.ids import SessionId
from tallystick.recording.store import open_archive
from tallystick.seal.names import is_field_name, is_meta_string


def erase(home: Home, session: str, n: int, fields: Iterable[str], *, reason: str, basis: str = "request") -> Erased:
    """Erase values of step `n` of a session and seal that in the ledger; the step itself stays.

    Args:
        session: our session id, whole. fields: full names, `content.output` for example.

    Raises:
        UsageError: no field, or one that is none. NotFoundError: no such session, step or field.
        JournalError: the store cannot be written.
    """
    names = frozenset(fields)
    if not names:
        raise UsageError("nothing to erase", hint="name a field: --field content.output")
    for name in sorted(names):
        if not is_field_name(name):
            raise UsageError(
                f"{name!r} is not a field name", hint="names look like content.output; `tally show STEP` lists them"
            )
    if not is_meta_string(basis):
        raise UsageError(f"{basis!r} is not a basis", hint="use one word, such as request, policy or law")
    archive = open_archive(home)
    try:
        if home.journal(session) is None:
            raise NotFoundError(f"no session {session}")
        return erase_entry(archive, SessionId(session), n, names, Grounds(basis, reason))
    finally:
        archive.close()
