"""The chain of one journal: whether each line follows from those before it.

Owns docs/format.md 14, step 2, and the state it needs: hashes and seeds seen, the tree, the end of the session. Must not
know where lines come from, nor which heads cover them; what may be withheld, the ledger's view says.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping

import msgspec

from tallystick.errors import FormatError
from tallystick.model.ids import HASH
from tallystick.model.step import Json
from tallystick.model.verdict import Disclosure
from tallystick.seal.fastline import accept_bare, accept_full
from tallystick.seal.hashes import Seen, genesis
from tallystick.seal.ledger import LedgerView
from tallystick.seal.line import BlobReader, Line, check_content, hash_of, parse_line
from tallystick.seal.merkle import Frontier
from tallystick.seal.redact import Redaction, check_level


class Place(enum.StrEnum):
    """Where the lines stand, which decides what forms they may have."""

    STORE = "store"
    LEDGER = "ledger"
    LONE = "lone"


class Terms(msgspec.Struct, frozen=True):
    """What forms the lines of a chain may have."""

    place: Place
    in_ledger: bool = False
    """Whether the lines are a ledger's, whose `meta` has other members. Always so at Place.LEDGER."""
    level: Redaction | None = None
    """The level that a lone file promises."""


_LEVELS_WITH_BARE = (None, Redaction.FULL)


class Chain:
    """Feeds on the lines of one journal in order; stops at the first that does not follow.

    Attributes:
        size: how many lines were sound. head: hash of the last one (or genesis). tree: the Merkle frontier.
        closed: whether the last is a `session_end`. foreign: references to other sessions, with the n that made them.
        unfinished: the n of entries that still show, or keep a blob of, what a sealed erasure names, or a retention of that
            entry alone.
        lost_marks: the n of checkpoints that mark an entry which is not before them.
    """

    def __init__(
        self,
        sid: str,
        terms: Terms,
        *,
        view: LedgerView | None = None,
        read_blob: BlobReader | None = None,
    ) -> None:
        """An empty chain.

        Args:
            view: what the ledger says of erasures: nothing else lets a value be gone from a store.
        """
        self.sid = sid
        self.place = terms.place
        self.size = 0
        self.head = genesis(sid)
        self.tree = Frontier()
        self.closed = False
        self.clock_steps = 0
        self.disclosure = Disclosure()
        self.foreign: list[tuple[int, str]] = []
        self.unfinished: list[int] = []
        self.lost_marks: list[int] = []
        self._in_ledger = terms.in_ledger or terms.place is Place.LEDGER
        if view is None:
            self._view = LedgerView()
        else:
            self._view = view
        self._dropped: dict[int, frozenset[str]] = {}
        for drop in self._view.drops.get(sid, ()):
            if drop.first == drop.last:
                self._dropped[drop.first] = self._dropped.get(drop.first, frozenset()) | drop.names
        self._level = terms.level
        self._read_blob = read_blob
        self._entries = Seen()
        self._seeds = Seen()
        self._sid = sid.encode()
        self._ended = False
        self._recorded = ""

    def feed(self, text: bytes) -> dict[str, Json]:
        """Take the next line (without its LF). Returns its `meta`, empty where it is not shown.

        Raises:
            FormatError: the line breaks a rule. Nothing after it is to be trusted, so feed no more.
        """
        prev = self.head.hex().encode()
        if self.place is Place.LONE and self._level in _LEVELS_WITH_BARE and text.endswith(b',"v":1}}'):
            bare = accept_bare(text, sid=self._sid, n=self.size, prev=prev)
            if bare is not None:
                self._follow(bare, {})
                return {}
        is_touched = self.size in self._view.erasures.get(self.sid, ()) or self.size in self._dropped
        if self._level is None and not is_touched:
            full = accept_full(text, sid=self._sid, n=self.size, prev=prev, in_ledger=self._in_ledger)
            if full is not None:
                self._check_parents(full.parents)
                self._check_seed(full.seed)
                self._check_order(full.meta)
                self._follow(full.hash, full.meta)
                return full.meta
        return self._feed_plainly(text)

    def _feed_plainly(self, text: bytes) -> dict[str, Json]:
        line = parse_line(text)
        entry = line.entry
        if entry.sid != self.sid:
            raise FormatError(f"an entry of session {entry.sid}", rule="sid")
        if entry.n != self.size:
            raise FormatError(f"numbered {entry.n} where {self.size} is due", rule="n")
        if entry.prev != self.head.hex():
            raise FormatError("does not follow from the entry before it", rule="prev")
        if self._level is not None:
            check_level(line, self._level)
        digest = hash_of(entry)
        absent = check_content(
            line,
            in_ledger=self._in_ledger,
            read_blob=self._read_blob,
            may_be_absent=lambda name: self._may_be_gone(digest, name),
        )
        self._check_parents(entry.parents)
        if line.seed is not None:
            self._check_seed(bytes.fromhex(line.seed))
        self._check_order(line.meta)
        self._check_withheld(line, digest)
        self._count(line, digest, absent)
        self._follow(digest, line.meta)
        return dict(line.meta)

    def _may_be_gone(self, digest: bytes, name: str) -> bool:
        return self.place is Place.LONE or self._view.releases(self.sid, self.size, digest.hex(), name)

    def _check_parents(self, parents: tuple[str, ...]) -> None:
        if not parents:
            return
        if len(set(parents)) != len(parents):
            raise FormatError("a parent stands twice", rule="parent")
        foreign: list[tuple[int, str]] = []
        for parent in parents:
            session, separator, digest = parent.rpartition("#")
            if not separator:
                if bytes.fromhex(digest) not in self._entries:
                    raise FormatError(f"the parent {digest[:12]}… is no earlier entry", rule="parent")
            elif session == self.sid:
                raise FormatError("a parent of this session in the form for another", rule="parent")
            else:
                foreign.append((self.size, parent))
        self.foreign += foreign

    def _check_seed(self, seed: bytes) -> None:
        if not self._seeds.add(seed):
            raise FormatError("a seed that an earlier entry has", rule="seed")

    def _check_order(self, meta: Mapping[str, Json]) -> None:
        """What comes first, and what after `session_end` (section 7). What is not shown cannot be judged."""
        kind = meta.get("type")
        if kind is None:
            return
        first = "session_start"
        if self._in_ledger:
            first = "store_start"
        if self.size == 0 and kind != first:
            raise FormatError(f"begins with a {kind} instead of a {first}", rule="order")
        resumed = kind == "session_start" and meta.get("resumed") is True
        if self._ended and kind != "recovery" and not resumed:
            raise FormatError(f"a {kind} after the session's end", rule="order")

    def _check_withheld(self, line: Line, digest: bytes) -> None:
        """In a store every line shows its `meta`, and all that the ledger does not say is erased or dropped."""
        if self.place is Place.LONE:
            return
        if "meta" not in line.fields:
            raise FormatError("meta is withheld in a store", rule="withheld")
        for name in sorted(line.withheld):
            if not self._may_be_gone(digest, name):
                raise FormatError(f"{name} is withheld, and no sealed erasure says so", rule="withheld")

    def _count(self, line: Line, digest: bytes, absent: int) -> None:
        names = line.fields.keys() | line.blobs.keys() | line.withheld.keys()
        erased = {name for name in names if self._view.erases(self.sid, self.size, digest.hex(), name)}
        if any(self._is_there(line, name) for name in erased | (names & self._dropped.get(self.size, frozenset()))):
            self.unfinished.append(self.size)
        self.disclosure += Disclosure(
            withheld=len(line.withheld), erased=len(erased & line.withheld.keys()), absent_blobs=absent
        )

    def _is_there(self, line: Line, name: str) -> bool:
        """Whether a value is shown, or withheld with its blob still in its file."""
        if name not in line.withheld:
            return True
        return self._read_blob is not None and self._read_blob(line.withheld[name]) is not None

    def _follow(self, digest: bytes, meta: Mapping[str, Json]) -> None:
        kind = meta.get("type")
        self.closed = kind == "session_end"
        # A recovery after the end leaves the session ended: it records a torn tail, not something the agent did.
        self._ended = self.closed or (self._ended and kind == "recovery")
        recorded = str(meta.get("recorded", ""))
        if kind == "checkpoint" and not self._has_marked(meta.get("position_hash")):
            self.lost_marks.append(self.size)
        self.clock_steps += bool(recorded) and recorded < self._recorded
        self._recorded = recorded or self._recorded
        self._entries.add(digest)
        self.tree.append(digest)
        self.head = digest
        self.size += 1

    def _has_marked(self, digest: Json) -> bool:
        """Whether the entry that a checkpoint marks is here. One that names none, as other programs write them, is fine."""
        if digest is None:
            return True
        return isinstance(digest, str) and HASH.match(digest) is not None and bytes.fromhex(digest) in self._entries
