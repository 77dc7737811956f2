"""The way from the key that the administrator wrote down to the one that the signer has now, epoch by epoch.

Owns following it: the ends of epochs that the ledger has, then those that only the signer has yet. That they fit the ledger
is for seal.ledgercheck to see.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from tallystick.errors import JournalError
from tallystick.journal.home import Home
from tallystick.journal.signing import SignerAt, SignerPlace
from tallystick.seal.epochs import Epoch, epoch_of
from tallystick.seal.keys import named_key
from tallystick.signer.pins import Pin
from tallystick.workspace.ledger import ledger_entries


class Followed(msgspec.Struct, frozen=True, kw_only=True):
    """Where the epochs of a signer lead.

    `keys` are those that may have signed the newest head, and the one that the signer has now, which is the last.
    """

    keys: tuple[str, ...]
    newest: Epoch | None = None
    """The end of the newest epoch that is over."""
    ends: tuple[Epoch, ...] = ()
    """Those that the ledger does not have."""
    problem: str | None = None
    """Why they are not known."""
    alarm: str | None = None
    """Why the signer's key does not follow."""

    def is_late(self, now: str) -> bool:
        """Whether the epoch that it is now should have ended."""
        return self.newest is not None and now > self.newest.due

    def told(self, now: str) -> str:
        """Where they stand, for a person."""
        if self.newest is None:
            return "the first one; none has ended yet"
        ended = f"epoch {self.newest.epoch:,} ended {self.newest.ended}, its key is erased"
        if not self.is_late(now):
            return ended
        return f"{ended}; the next was to end by {self.newest.due}: no signer did it"


def follow_epochs(home: Home, pin: Pin, key: str) -> Followed:
    """Follow a store's epochs to the did:key that its signer said it has, or beyond: it may have ended one since."""
    sealed = [end for entry in ledger_entries(home, holding=b'"epoch"') if (end := epoch_of(entry.meta)) is not None]
    signer = SignerAt(SignerPlace(pin.socket, pin.key))
    try:
        ends = tuple(signer.ends(pin.store, sealed[-1].key if sealed else None))
    except JournalError as error:
        return Followed(keys=(pin.key,), problem=str(error))
    followed = list(_followed(sealed, pin.key, pin.store))
    sealed_keys = [pin.key, *(end.key for end in followed)]
    followed += _followed(ends, sealed_keys[-1], pin.store)
    keys = [pin.key, *(end.key for end in followed)]
    alarm = None
    if key in sealed_keys[:-1]:
        epoch = sealed_keys.index(key) + 1
        alarm = f"the signer has the key of epoch {epoch} of {len(sealed_keys)}: its files were put back"
    elif key not in keys:
        alarm = "the signer has another key than follows from the one that the administrator wrote down"
    recent = tuple(dict.fromkeys((*sealed_keys[-2:], *keys[len(sealed_keys) :][-2:])))
    return Followed(keys=recent, newest=followed[-1] if followed else None, ends=ends, alarm=alarm)


def _followed(ends: Iterable[Epoch], key: str, store: str) -> Iterator[Epoch]:
    """Those that lead on from a key."""
    for end in ends:
        before = named_key(key)
        if before is not None and end.is_by(before, store):
            key = end.key
            yield end
