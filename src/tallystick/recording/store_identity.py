"""Who a store is: its id, and the key that its ledger begins with.

Owns reading the first line of a ledger. It is not a verification.
"""

from __future__ import annotations

import msgspec

from tallystick.errors import FormatError, NotFoundError
from tallystick.journal.home import Home
from tallystick.journal.lines import JudgedLines
from tallystick.journal.read import read_line


class StoreIdentity(msgspec.Struct, frozen=True):
    """The id of a store, and the key that its ledger begins with (did:key); None if it names none."""

    store_id: str
    key: str | None


def read_store(home: Home) -> StoreIdentity:
    """Who a store is, by the first line of its ledger.

    Raises:
        NotFoundError: there is no store. FormatError: its ledger begins with something else.
    """
    if not home.exists:
        raise NotFoundError(f"no store at {home.folder}", hint="create one with `tally init`")
    first = next(iter(JudgedLines(home.ledger)), None)
    if first is None:
        raise FormatError(f"{home.ledger} has no complete line", hint="run `tally verify`")
    start = read_line(home, first)
    key = start.meta.get("key")
    return StoreIdentity(start.session, key if isinstance(key, str) else None)
