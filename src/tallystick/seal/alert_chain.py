"""The hash chain of alerts: what a row commits to, how rows link, and where a chain breaks.

Owns the formulas and the reasons, both as the reference has them, so that its tooling can check our table and we can check
its. Must not know tables, files, nor what an alert means. Times are whole milliseconds since 1970, hashes 64 hex digits.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from hashlib import sha256
from typing import TypeAlias

import msgspec

GENESIS = "0" * 64
"""What the first alert, and the first retention checkpoint, follow."""

MODIFIED = "entry_hash mismatch (row content was modified)"
UNLINKED = "prev_hash does not link to the previous entry (insertion, deletion, or reorder)"
UNCHAINED = "unchained alert (NULL hash) inserted after the chain start"
ANCHOR = "chain head/count does not match the anchor (tail truncation or head rewrite)"
EMPTY = "empty alert chain does not match the retention root/anchor"
CHECKPOINTS = "retention checkpoint verification failed: "
CHECKPOINT_CHANGED = f"{CHECKPOINTS}retention checkpoint chain was modified or reordered"
CHECKPOINT_ANCHOR = f"{CHECKPOINTS}retention checkpoint head/count does not match its anchor"

_CHECKPOINT_TAG = b"gensee-alert-retention-checkpoint-v1"
_NULL, _PRESENT = b"\0", b"\1"

Cell: TypeAlias = str | int | float | bytes | None
"""A value as a database may hold it: a column's type promises nothing about a row that someone edited."""


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """What an alert says: the members that its hash covers, as a row has them.

    `entity_kind` and `entity_id` are both there or both not; `action` is `allow`, `warn`, `ask` or `block`; `evidence` is
    JSON text.
    """

    request_id: Cell = None
    entity_kind: Cell = None
    entity_id: Cell = None
    severity: Cell
    action: Cell
    rule_id: Cell
    message: Cell
    path: Cell = None
    evidence: Cell = None
    created_at: Cell


class Row(msgspec.Struct, frozen=True):
    """A row of the table. One from before there was a chain has no hashes."""

    alert_id: int
    finding: Finding
    prev_hash: Cell
    entry_hash: Cell


class Anchor(msgspec.Struct, frozen=True):
    """What stands beside a chain: the hash of its last link, and how many links there are."""

    head_hash: Cell
    count: Cell


class Checkpoint(msgspec.Struct, frozen=True, kw_only=True):
    """What is left of alerts that were pruned: the root of those that stay."""

    prev_checkpoint_hash: Cell
    checkpoint_hash: Cell
    previous_alert_head: Cell
    previous_alert_count: Cell
    pruned_count: Cell
    highest_pruned_alert_id: Cell
    cutoff_ms: Cell
    pruned_entries_hash: Cell
    created_at: Cell


class Break(msgspec.Struct, frozen=True):
    """Where a chain breaks first, and why. `alert_id` is None where it is the tail or what stands beside the rows."""

    alert_id: int | None
    reason: str


class Walk(msgspec.Struct, frozen=True, kw_only=True):
    """What a walk along a chain found.

    `chained` links hold, up to the hash `head`; `legacy` rows stand before the chain.
    """

    chained: int
    legacy: int
    head: str
    broken: Break | None


# Hashes ---------------------------------------------------------------------------------------------------------------


def entry_hash(prev_hash: str, finding: Finding) -> str:
    """The hash of an alert that follows `prev_hash`.

    Raises:
        ValueError: a member is missing or has a type that no row of a chain has.
    """
    parts = (
        _framed(_text(prev_hash)),
        _optional(finding.request_id),
        _optional(finding.entity_kind),
        _optional(finding.entity_id),
        _framed(_text(finding.severity)),
        _framed(_text(finding.action)),
        _framed(_text(finding.rule_id)),
        _framed(_text(finding.message)),
        _optional(finding.path),
        _optional(finding.evidence),
        _framed(_whole(finding.created_at)),
    )
    return sha256(b"".join(parts)).hexdigest()


def checkpoint_hash(checkpoint: Checkpoint) -> str:
    """The hash of a retention checkpoint. Raises ValueError as `entry_hash` does."""
    parts = (
        _CHECKPOINT_TAG,
        _text(checkpoint.prev_checkpoint_hash),
        _text(checkpoint.previous_alert_head),
        _whole(checkpoint.previous_alert_count),
        _whole(checkpoint.pruned_count),
        _whole(checkpoint.highest_pruned_alert_id),
        _whole(checkpoint.cutoff_ms),
        _text(checkpoint.pruned_entries_hash),
        _whole(checkpoint.created_at),
    )
    return sha256(b"".join(map(_framed, parts))).hexdigest()


def pruned_hash(pruned: Iterable[tuple[int, str]]) -> str:
    """The hash over (alert_id, entry_hash) of the alerts that were pruned, in the order of their ids."""
    framed = (_framed(_whole(alert_id)) + _framed(_text(digest)) for alert_id, digest in pruned)
    return sha256(b"".join(framed)).hexdigest()


def _framed(data: bytes) -> bytes:
    return len(data).to_bytes(8, "little") + data


def _optional(value: Cell) -> bytes:
    if value is None:
        return _NULL
    if type(value) is int:
        return _PRESENT + _framed(str(value).encode())
    return _PRESENT + _framed(_text(value))


def _text(value: Cell) -> bytes:
    if not isinstance(value, str):
        raise ValueError("this is no text")
    return value.encode("utf-8", "surrogateescape")  # bytes of a database that are not UTF-8 come back as they were


def _whole(value: Cell) -> bytes:
    if type(value) is not int or not -(1 << 63) <= value < 1 << 63:
        raise ValueError("this is no number of 64 bits")
    return value.to_bytes(8, "little", signed=True)


# Walking --------------------------------------------------------------------------------------------------------------


def walk(
    rows: Iterable[Row], *, root: str = GENESIS, anchor: Anchor | None = None, erased: Collection[str] = ()
) -> Walk:
    """Walk a chain from its root to its end, rows in the order of their ids.

    Rows before the first one with a hash are from before there was a chain: counted, and there is no record of them.
    Without an anchor nothing says where the chain should end.

    Args:
        erased: hashes of alerts whose words were erased on purpose, so that the row cannot give its hash any more.
    """
    head, chained, legacy = root, 0, 0
    for row in rows:
        if row.entry_hash is None and not chained:
            legacy += 1
            continue
        reason = _broken_at(row, head, erased)
        if reason is not None:
            return Walk(chained=chained, legacy=legacy, head=head, broken=Break(row.alert_id, reason))
        head, chained = str(row.entry_hash), chained + 1
    reason, broken = _broken_end(head, chained, root, anchor), None
    if reason:
        broken = Break(None, reason)
    return Walk(chained=chained, legacy=legacy, head=head, broken=broken)


def _broken_at(row: Row, head: str, erased: Collection[str]) -> str | None:
    if row.entry_hash is None or row.prev_hash is None:
        return UNCHAINED
    if row.prev_hash != head:
        return UNLINKED
    if row.entry_hash in erased:
        return None
    try:
        if entry_hash(head, row.finding) == row.entry_hash:
            return None
        return MODIFIED
    except ValueError:
        return MODIFIED


def _broken_end(head: str, chained: int, root: str, anchor: Anchor | None) -> str | None:
    if anchor is None:
        if not chained and root != GENESIS:
            return EMPTY
        return None
    if (anchor.head_hash, anchor.count) == (head, chained):
        return None
    if chained:
        return ANCHOR
    return EMPTY


def retention_root(checkpoints: Sequence[Checkpoint], anchor: Anchor | None) -> tuple[str, str | None]:
    """What the oldest alert that was kept follows, and what is wrong with the checkpoints that say so; None: nothing."""
    root = GENESIS
    for checkpoint in checkpoints:
        try:
            is_whole = checkpoint.prev_checkpoint_hash == root and checkpoint_hash(checkpoint) == (
                checkpoint.checkpoint_hash
            )
        except ValueError:
            is_whole = False
        if not is_whole:
            return root, CHECKPOINT_CHANGED
        root = str(checkpoint.checkpoint_hash)
    known = None
    if anchor is not None:
        known = anchor.head_hash, anchor.count
    if known == (root, len(checkpoints)) or (anchor is None and not checkpoints):
        return root, None
    return root, CHECKPOINT_ANCHOR


# From sealed steps ----------------------------------------------------------------------------------------------------


class Sealed(msgspec.Struct, frozen=True, kw_only=True):
    """An alert as a step seals it. `order` is when it was recorded and where: (recorded, session, n).

    `is_erased`: some of its words were erased, so that its hash cannot be made again.
    """

    order: tuple[str, str, int]
    prev_hash: str
    entry_hash: str
    finding: Finding
    is_erased: bool = False


class Link(msgspec.Struct, frozen=True):
    """A sealed alert in its place: the hashes that its row has. They are the sealed ones, unless it had to be moved."""

    sealed: Sealed
    prev_hash: str
    entry_hash: str

    @property
    def is_as_sealed(self) -> bool:
        """Whether the row has the hashes that the step seals."""
        return (self.prev_hash, self.entry_hash) == (self.sealed.prev_hash, self.sealed.entry_hash)


def chain_order(alerts: Iterable[Sealed], *, head: str = GENESIS) -> Iterator[Link]:
    """Sealed alerts in the order of their chain, which goes on from `head`.

    The next one is the one that seals the hash before it as its `prev_hash`. Of several, and where none exists, it is
    the one that was recorded first; it is linked to the chain where it stands, so that its hashes are not the sealed
    ones. That happens where two recorders appended at the same instant, or where an alert between is gone from the
    record.
    """
    waiting = sorted(alerts, key=lambda alert: alert.order)
    following: dict[str, list[int]] = {}
    for index in range(len(waiting) - 1, -1, -1):
        following.setdefault(waiting[index].prev_hash, []).append(index)  # the first recorded last: it is popped first
    placed: set[int] = set()
    first = 0
    while len(placed) < len(waiting):
        candidates = following.get(head, [])
        while candidates and candidates[-1] in placed:
            candidates.pop()
        while first in placed:
            first += 1
        index = first
        if candidates:
            index = candidates[-1]
        placed.add(index)
        link = _linked(waiting[index], head)
        head = link.entry_hash
        yield link


def _linked(sealed: Sealed, head: str) -> Link:
    if sealed.is_erased and sealed.prev_hash == head:
        return Link(sealed, head, sealed.entry_hash)
    return Link(sealed, head, entry_hash(head, sealed.finding))
