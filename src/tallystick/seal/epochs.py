"""Epochs: a signer's key that is erased after a time, and what it signed as its last (docs/format.md 19.8).

Owns the statement that ends an epoch, and whether a row of them holds: each is signed by the key that the one before it
named, begins where that one ended, and says what the ledger was. So anyone who takes the signer's key later cannot tell
another past. Must not know where keys are kept, nor when an epoch is over.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Annotated

import msgspec

from tallystick.errors import FormatError
from tallystick.model.step import Json
from tallystick.model.verdict import Rule
from tallystick.seal.keys import SigningKey, named_key, verify_signature
from tallystick.seal.merkle import EMPTY_ROOT, Frontier

MOST_KEYS = 8
"""Keys of the ledger that are tried for a first epoch's end."""
LATE_SECONDS = 60
"""How much longer than it is meant to be an epoch may last."""
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z\Z", re.ASCII)
_Count = Annotated[int, msgspec.Meta(ge=0)]


class Epoch(msgspec.Struct, frozen=True, kw_only=True):
    """How an epoch ended: its key's last words. These are the members of the `key_add` that seals it.

    `epoch` counts from 1. `size` and `root` (hex) are of the ledger, as it was signed last. `key` is the did:key of the next
    epoch. `seconds` says how long an epoch is meant to be.
    """

    epoch: Annotated[int, msgspec.Meta(ge=1)]
    size: _Count
    root: Annotated[str, msgspec.Meta(pattern=r"\A[0-9a-f]{64}\Z")]
    key: str
    began: str
    ended: str
    seconds: Annotated[int, msgspec.Meta(ge=1)]
    signature: Annotated[str, msgspec.Meta(pattern=r"\A[0-9a-f]{128}\Z")]

    def text(self, store_id: str) -> bytes:
        """What is signed."""
        told = (self.epoch, self.size, self.root, self.key, self.began, self.ended, self.seconds)
        return "".join(f"{part}\n" for part in (f"tallystick/{store_id}/epoch", *told)).encode()

    def is_by(self, key: bytes, store_id: str) -> bool:
        """Whether this key signed it."""
        return verify_signature(key, bytes.fromhex(self.signature), self.text(store_id))

    @property
    def due(self) -> str:
        """When the next epoch is over, at the latest."""
        return later(self.ended, self.seconds + LATE_SECONDS)

    @property
    def is_long(self) -> bool:
        """Whether it lasted longer than an epoch may: no one was there to end it."""
        return self.ended > later(self.began, self.seconds + LATE_SECONDS)


def later(time: str, seconds: int) -> str:
    """A time (docs/format.md 6.3) so many seconds on."""
    try:
        at = datetime.fromisoformat(time) + timedelta(seconds=seconds)
    except (ValueError, OverflowError):
        return time  # a day that is none: it is over at once
    return at.isoformat(timespec="microseconds").replace("+00:00", "Z")


def end_epoch(end: Epoch, store_id: str, key: SigningKey) -> Epoch:
    """The same, signed by the key of the epoch that ends."""
    return msgspec.structs.replace(end, signature=key.sign(end.text(store_id)).hex())


def epoch_of(meta: Mapping[str, Json]) -> Epoch | None:
    """The end of an epoch that a `key_add` seals; None if it seals none."""
    if meta.get("type") != "key_add" or "epoch" not in meta:
        return None
    try:
        end = msgspec.convert(dict(meta), Epoch)
    except msgspec.ValidationError:
        return None
    is_fit = _TIME.match(end.began) and _TIME.match(end.ended) and named_key(end.key) is not None
    if is_fit:
        return end
    return None


class LiveEpoch(msgspec.Struct, frozen=True, kw_only=True):
    """What the signer of a store says now: its key, and the ends of epochs that the ledger does not have yet."""

    key: bytes
    ends: tuple[Epoch, ...] = ()
    at: str
    """The verifier's clock (docs/format.md 6.3)."""
    is_noted: bool = False
    """Whether the pinned key was noted down off this machine: one that root can change says nothing against root."""

    def after(self, last: Epoch | None) -> tuple[Epoch, ...]:
        """The ends after the last one of the ledger, which may have got some of them meanwhile."""
        if last is not None and last in self.ends:
            return self.ends[self.ends.index(last) + 1 :]
        return self.ends


class Row:
    """The ends of epochs of one ledger, fed in order, and the keys that follow from a pinned one."""

    def __init__(self, pinned: bytes | None) -> None:
        self.last: Epoch | None = None
        self.is_broken = False
        self.long: list[Epoch] = []
        self.follows = False
        """Whether the last key follows from the pinned one."""
        self._counts: dict[bytes, int]
        if pinned is None:
            self._counts = {}
        else:
            self._counts = {bytes(pinned): -1}
        self._tree = Frontier()

    def counting(self, size: int) -> tuple[bytes, ...]:
        """The pinned key, and those that follow from it by what the first `size` entries say."""
        return tuple(key for key, n in self._counts.items() if n < max(size, 1))

    def take(self, end: Epoch, *, store_id: str, leaves: Sequence[int], named: Sequence[bytes]) -> None:
        """Take the next one, which stands after the entries with these leaves, 32 bytes each.

        Args:
            named: the keys that count by the entries before it, the newest last. One of them ends a first epoch.

        Raises:
            FormatError: rule `signature`, it does not follow from the one before it; `head`, the ledger was another one.
        """
        if self.is_broken:
            return  # nothing that comes after it is trusted
        before, self.last, self.is_broken = self.last, end, True
        n = len(leaves) // 32
        known = (*_key(before), *(named[-MOST_KEYS:] if end.epoch == 1 else ()))
        signer = next((key for key in known if end.is_by(key, store_id)), None)
        problem = _problem(end, before, signer)
        if problem is not None:
            raise FormatError(problem, rule=Rule.SIGNATURE.value)
        self._check_root(end, n, leaves)
        added = named_key(end.key)
        self.follows = signer in self._counts
        if self.follows and added is not None:
            self._counts.setdefault(added, n)
        if end.is_long:
            self.long += [end]
        self.is_broken = False

    def _check_root(self, end: Epoch, n: int, leaves: Sequence[int]) -> None:
        if end.size and not self._tree.size <= end.size <= n:
            why = f"epoch {end.epoch} ended over {end.size} entries; {self._tree.size} to {n} could be"
            raise FormatError(why, rule=Rule.HEAD.value)
        while self._tree.size < end.size:
            at = 32 * self._tree.size
            self._tree.append(bytes(leaves[at : at + 32]))
        root = EMPTY_ROOT
        if end.size:
            root = self._tree.root()
        if root.hex() != end.root:
            raise FormatError(
                f"the first {end.size} entries are not what they were when epoch {end.epoch} ended",
                rule=Rule.HEAD.value,
            )


def _key(end: Epoch | None) -> Iterator[bytes]:
    key = None
    if end is not None:
        key = named_key(end.key)
    if key is not None:
        yield key


def _problem(end: Epoch, before: Epoch | None, signer: bytes | None) -> str | None:
    """Why an end does not follow from the one before it. A first one begins a row: of a new signer."""
    number = 0
    if before is not None:
        number = before.epoch
    if end.epoch not in (1, number + 1):
        return f"epoch {end.epoch} follows epoch {number}: what is between them is missing"
    if signer is None:
        return f"the end of epoch {end.epoch} is not signed by that epoch's key"
    if end.ended < end.began:
        return f"epoch {end.epoch} ended before it began"
    if before is not None and end.epoch != 1 and end.began != before.ended:
        return f"epoch {end.epoch} began at {end.began}, and the one before it ended at {before.ended}"
    return None


def why_not_forward(row: Row, live: LiveEpoch | None, *, is_pinned: bool) -> str | None:
    """Why epochs do not guard what is older than the newest of them against who has the signer's key; None if they do."""
    if row.last is None:
        return "no epoch has ended"
    if live is None or named_key(row.last.key) != live.key:
        return "the signer does not have the key that follows from the last epoch's end"
    if live.at > row.last.due:
        return f"epoch {row.last.epoch + 1} was to end by {row.last.due}: the signer did not run, or the record was cut back"
    if not is_pinned or not live.is_noted:
        return (
            "the first epoch's key has to be given from outside this machine: --pinned, as `tally signer init` said it"
        )
    if row.follows:
        return None
    return "no epoch follows from the pinned key"
