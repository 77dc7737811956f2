"""The chain of one journal: whether each line follows from those before it.

Owns docs/format.md 14, step 2, and the state it needs: hashes and seeds seen, the tree, the end of the session. Must not
know where lines come from, nor which heads cover them.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping

import msgspec

from tallystick.errors import FormatError
from tallystick.model.step import Json
from tallystick.model.verdict import Disclosure
from tallystick.seal.fastline import accept_bare, accept_full
from tallystick.seal.hashes import genesis
from tallystick.seal.line import BlobReader, Line, check_content, hash_of, parse_line
from tallystick.seal.merkle import Frontier
from tallystick.seal.redact import Redaction, check_level
from tallystick.seal.seen import Seen


class Place(enum.StrEnum):
    """Where the lines stand, which decides what forms they may have."""

    STORE = "store"
    LEDGER = "ledger"
    LONE = "lone"


class Withheld(msgspec.Struct, frozen=True):
    """An entry of which names are not shown: whether that is right is for the ledger to say."""

    n: int
    entry: str
    names: tuple[str, ...]
    """All names that are withheld; `*` stands for a line that shows no `meta`."""


_LEVELS_WITH_BARE = (None, Redaction.FULL)


class Chain:
    """Feeds on the lines of one journal in order; stops at the first that does not follow.

    Attributes:
        size: how many lines were sound. head: hash of the last one (or genesis). tree: the Merkle frontier.
        ended: whether the last is a `session_end`. foreign: references to other sessions, with the n that made them.
    """

    def __init__(
        self,
        sid: str,
        *,
        place: Place,
        read_blob: BlobReader | None = None,
        level: Redaction | None = None,
    ) -> None:
        self.sid = sid
        self.place = place
        self.size = 0
        self.head = genesis(sid)
        self.tree = Frontier()
        self.ended = False
        self.clock_steps = 0
        self.disclosure = Disclosure()
        self.withheld: list[Withheld] = []
        self.foreign: list[tuple[int, str]] = []
        self._level = level
        self._read_blob = read_blob
        self._entries = Seen()
        self._seeds = Seen()
        self._sid = sid.encode()
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
                self._advance(bare)
                return {}
        if self._level is None:
            accepted = accept_full(text, sid=self._sid, n=self.size, prev=prev, in_ledger=self.place is Place.LEDGER)
            if accepted is not None:
                self._check_parents(accepted.parents)
                self._check_seed(accepted.seed)
                self._follow(accepted.hash, accepted.meta)
                return accepted.meta
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
        absent, _ = check_content(line, in_ledger=self.place is Place.LEDGER, read_blob=self._read_blob)
        if absent and self.place is not Place.LONE:
            raise FormatError("a blob that the line names is not there", rule="blob")
        self._check_parents(entry.parents)
        if line.seed is not None:
            self._check_seed(bytes.fromhex(line.seed))
        self._note_withheld(line, absent)
        self._follow(hash_of(entry), line.meta)
        return dict(line.meta)

    def _check_parents(self, parents: tuple[str, ...]) -> None:
        if not parents:
            return
        if len(set(parents)) != len(parents):
            raise FormatError("a parent stands twice", rule="parent")
        for parent in parents:
            session, separator, digest = parent.rpartition("#")
            if separator:
                if session == self.sid:
                    raise FormatError("a parent of this session in the form for another", rule="parent")
                self.foreign.append((self.size, parent))
            elif bytes.fromhex(digest) not in self._entries:
                raise FormatError(f"the parent {digest[:12]}… is no earlier entry", rule="parent")

    def _check_seed(self, seed: bytes) -> None:
        if not self._seeds.add(seed):
            raise FormatError("a seed that an earlier entry has", rule="seed")

    def _note_withheld(self, line: Line, absent: int) -> None:
        names = ("*",) if "meta" not in line.fields else tuple(sorted(line.withheld))
        if names:
            self.withheld.append(Withheld(line.entry.n, hash_of(line.entry).hex(), names))
        self.disclosure += Disclosure(withheld=len(line.withheld), absent_blobs=absent)

    def _follow(self, digest: bytes, meta: Mapping[str, Json]) -> None:
        kind = meta.get("type")
        if self.ended and not (
            kind == "recovery" or (kind == "session_start" and meta.get("resumed") is True) or kind is None
        ):
            raise FormatError(f"a {kind} after the session's end", rule="order")
        # A recovery after the end leaves the session ended: it records a torn tail, not something the agent did.
        self.ended = kind == "session_end" or (self.ended and kind == "recovery")
        recorded = str(meta.get("recorded", ""))
        self.clock_steps += recorded < self._recorded and bool(recorded)
        self._recorded = recorded or self._recorded
        self._advance(digest)

    def _advance(self, digest: bytes) -> None:
        self._entries.add(digest)
        self.tree.append(digest)
        self.head = digest
        self.size += 1
