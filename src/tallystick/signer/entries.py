"""What a signer knows of a ledger's entries, and which entry may come next.

Owns what the next ones are asked before they are signed (docs/format.md 19.10): their form, their chain and their kind, so
that no one can have signed what makes the ledger a damaged one for ever. What is asked is decided before anything is
taken, so that a request that is refused leaves no trace. Must not know where entries are kept, nor who sends them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from tallystick.errors import FormatError
from tallystick.seal.epochs import MOST_KEYS, Epoch, epoch_of
from tallystick.seal.extension import Code, LogState, RefusedError
from tallystick.seal.fastline import Accepted, accept_full
from tallystick.seal.hashes import Seen, genesis
from tallystick.seal.keys import named_key
from tallystick.seal.line import check_content, hash_of, parse_line, skim
from tallystick.seal.merkle import Frontier

KINDS = frozenset(
    ("session_head", "erasure", "retention", "import", "alert_head", "key_add", "key_retire", "recovery", "anchor")
)
"""The types of ledger entries after the first one,"""
_RESERVED = frozenset(("export", "witness", "gap", "heartbeat"))
"""and those that later recorders may write."""


class _Shown(msgspec.Struct, frozen=True):
    fields: dict[str, Any]
    seed: str


_SHOWN = msgspec.json.Decoder(_Shown)


class Own(msgspec.Struct, frozen=True, kw_only=True):
    """What the signer itself is: what it alone may say, or must agree to.

    `key` is the one that it signs with now, `first` the one that it began with. `ended` gives the key that signed an end of
    an epoch of its own, None of any other. `left` says whether it is shown a head over more than so many entries that one
    of these keys signed.
    """

    key: bytes
    first: bytes
    ended: Callable[[Epoch], bytes | None]
    left: Callable[[int, frozenset[bytes]], bool]


class Keys(msgspec.Struct, frozen=True, kw_only=True):
    """What entries said of keys.

    Those that were `named` at any time, those that `count`, those that `ends` of epochs named, and whose epoch is `over`.
    """

    named: frozenset[bytes] = frozenset()
    count: frozenset[bytes] = frozenset()
    ends: frozenset[bytes] = frozenset()
    over: frozenset[bytes] = frozenset()

    def after(self, meta: Mapping[str, Any], own: Own) -> Keys:
        """The same after one more entry."""
        kind = meta["type"]
        if kind not in ("store_start", "key_add", "key_retire"):
            return self
        key = named_key(str(meta["key"]))
        if key is None:
            return self
        if kind == "key_retire":
            return msgspec.structs.replace(self, count=self.count - {key})
        end = epoch_of(meta)
        before = None if end is None else own.ended(end)
        ends, over = self.ends, self.over
        if before is not None:
            ends, over = ends | {key}, over | {before}
        return Keys(named=self.named | {key}, count=self.count | {key}, ends=ends, over=over)

    def why_not(self, meta: Mapping[str, Any], own: Own, n: int) -> str | None:
        """Why entry `n` may not say this of keys, now that the signer's own is among them; None if it may."""
        key, end = named_key(str(meta["key"])), epoch_of(meta)
        if end is not None:
            before = own.ended(end)
            follows = before is not None and (before == own.first or before in self.ends)
            return None if follows and key not in self.ends else "no epoch of this signer ended so, or not now"
        if meta["type"] == "key_add":
            is_full = key not in self.count and key != own.key and len(self.count) >= MOST_KEYS - 1
            return "too many keys count already: retire those that are not used" if is_full else None
        is_own = key == own.key or key == own.first or key in self.ends
        if not is_own or key in self.over or own.left(n, self.named - self.ends - {own.key, own.first}):
            return None
        return "it ends a key of the signer, and no other key has signed since"


class Batch:
    """Entries that may come next, one after the other: what they change, and nothing of it is done yet."""

    def __init__(self, known: Entries, own: Own) -> None:
        self.tree, self.head = known.tree.copy(), known.head
        self.seeds: set[bytes] = set()
        self.sizes: dict[bytes, int] = {}
        self.keys: Keys = known.keys
        self._known, self._own = known, own

    def add(self, text: bytes) -> None:
        """Take the next line. Raises FormatError: it cannot stand there."""
        n = self.tree.size
        found, is_plain = self._read(text, n)
        kind = str(found.meta["type"])
        if (n == 0) is not (kind == "store_start"):
            raise FormatError(f"a {kind} at this place", rule="order")
        if found.seed in self.seeds or found.seed in self._known.seeds:
            raise FormatError("a seed that an earlier entry has", rule="seed")
        if kind == "session_head":
            self._take_size(found.meta)
        if not self.keys.named.isdisjoint((self._own.key, self._own.first)):  # before, it is the store's own past
            self._ask_kind(found.meta, kind, n, is_plain=is_plain)
        self.keys = self.keys.after(found.meta, self._own)
        self.seeds.add(found.seed)
        self.tree.append(found.hash)
        self.head = found.hash

    def _read(self, text: bytes, n: int) -> tuple[Accepted, bool]:
        """What a line in its full form says; and whether all of it is in the line."""
        store = self._known.store
        found = accept_full(text, sid=store.encode(), n=n, prev=self.head.hex().encode(), in_ledger=True)
        if found is not None:
            return found, not found.parents
        line = parse_line(text)
        entry = line.entry
        for rule, is_so in (("sid", entry.sid == store), ("n", entry.n == n), ("prev", entry.prev == self.head.hex())):
            if not is_so:
                raise FormatError("does not follow from the entry before it", rule=rule)
        if line.seed is None or line.withheld:
            raise FormatError("a ledger withholds nothing", rule="withheld")
        check_content(line, in_ledger=True)
        accepted = Accepted(hash_of(entry), bytes.fromhex(line.seed), dict(line.meta), entry.parents)
        return accepted, not entry.parents and not line.blobs

    def _take_size(self, meta: Mapping[str, Any]) -> None:
        session, size = bytes.fromhex(meta["session"]), meta["size"]
        if size < self.sizes.get(session, self._known.sizes.get(session, 0)):
            raise FormatError("a size smaller than one before of its session", rule="head")
        self.sizes[session] = size

    def _ask_kind(self, meta: Mapping[str, Any], kind: str, n: int, *, is_plain: bool) -> None:
        if kind not in KINDS | _RESERVED:
            raise FormatError(f"a signer of this version knows no {kind}", rule="class")
        if not is_plain:
            raise FormatError("it refers to what a signer does not have", rule="blob")
        if kind in ("key_add", "key_retire") and (why := self.keys.why_not(meta, self._own, n)) is not None:
            raise FormatError(why, rule="signature")


class Entries:
    """What is known of the entries of one ledger. Not safe for several threads."""

    def __init__(self, store: str) -> None:
        self.store = store
        self.tree, self.head = Frontier(), genesis(store)
        self.seeds = Seen()
        self.sizes: dict[bytes, int] = {}
        self.keys = Keys()

    @property
    def size(self) -> int:
        """How many they are."""
        return self.tree.size

    @property
    def state(self) -> LogState:
        """What is signed of them, if all of them are."""
        return LogState(self.store, self.tree.size, self.tree.subtrees)

    def load(self, text: bytes, own: Own) -> None:
        """Take an entry that was asked for everything before, and is no other since. Raises FormatError: it is."""
        entry = skim(text)
        if entry is None or entry.n != self.size or entry.prev != self.head.hex():
            raise FormatError(f"entry {self.size} does not follow from the one before it", rule="prev")
        try:
            shown = _SHOWN.decode(text)
        except msgspec.MsgspecError as error:
            raise FormatError(str(error), rule="line") from error
        meta = shown.fields["meta"]
        self.seeds.add(bytes.fromhex(shown.seed))
        if meta["type"] == "session_head":
            self.sizes[bytes.fromhex(meta["session"])] = meta["size"]
        self.keys = self.keys.after(meta, own)
        self.tree.append(entry.hash)
        self.head = entry.hash

    def read(self, lines: Sequence[bytes], own: Own, roots: Mapping[int, bytes]) -> Batch:
        """Read what comes next.

        Args:
            roots: what the tree must be at some of the sizes on the way.

        Raises:
            RefusedError: one of the lines cannot stand there, or another root comes of them.
        """
        batch = Batch(self, own)
        for line in lines:
            try:
                batch.add(line)
            except FormatError as error:
                why = f"entry {batch.tree.size} is not one that this ledger can have there: {error}"
                raise RefusedError(Code.UNFIT, why, size=self.size) from error
            wanted = roots.get(batch.tree.size)
            if wanted is not None and batch.tree.root() != wanted:
                why = f"the first {batch.tree.size} entries are not those that were signed"
                raise RefusedError(Code.NOT_CONSISTENT, why, size=self.size)
        return batch

    def take(self, batch: Batch) -> None:
        """Take what was read."""
        self.tree, self.head, self.keys = batch.tree, batch.head, batch.keys
        self.sizes |= batch.sizes
        for seed in batch.seeds:
            self.seeds.add(seed)
