"""Checking the ledger and the heads over it (docs/format.md 14, step 1).

Owns what a ledger's lines and its notes turn out to be worth, and so which `session_head`s and erasures count. Must not
know the sessions' journals, nor where bytes come from.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import msgspec

from tallystick.errors import FormatError
from tallystick.model.step import Json
from tallystick.model.verdict import Defect, Rule
from tallystick.seal.chain import Chain, Place
from tallystick.seal.keys import PublicKey
from tallystick.seal.ledger import LedgerView
from tallystick.seal.line import BlobReader, sid_of
from tallystick.seal.merkle import EMPTY_ROOT
from tallystick.seal.note import Note, parse_note, verify_note


class Lines(Protocol):
    """The complete lines of a file, in order, without their LF.

    A line over the limit comes as its first LINE_BYTES + 1 bytes. `torn`, the number of bytes after the last LF, is known
    once all lines were read.
    """

    torn: int

    def __iter__(self) -> Iterator[bytes]: ...


class LedgerCheck(msgspec.Struct, frozen=True, kw_only=True):
    """What the ledger and its head are worth.

    `view` holds the entries that count: those a verified head covers, or all sound ones if no head does. `tail` holds what
    comes after them, which justifies nothing. `head_size` is the size of the verified head.
    """

    store_id: str | None
    view: LedgerView
    tail: LedgerView
    head_size: int | None = None
    pinned: bool = False
    wrong_key: bool = False
    defects: tuple[Defect, ...] = ()
    remarks: tuple[str, ...] = ()

    @property
    def is_signed(self) -> bool:
        """Whether a verified head covers the ledger."""
        return self.head_size is not None


def found_defect(session: str | None, n: int | None, error: FormatError) -> Defect:
    """The defect that an error at entry `n` stands for."""
    return Defect(session, n, Rule(error.rule), str(error))


class _Reading:
    """One pass over the ledger: its chain, its views, and roots and keys at the sizes that heads speak of."""

    def __init__(self, covered_size: int | None, sizes: frozenset[int]) -> None:
        self.store_id: str | None = None
        self.size = 0
        self.whole = LedgerView()
        self.covered = LedgerView()
        self.tail = LedgerView()
        self.roots: dict[int, bytes] = {0: EMPTY_ROOT}
        self.keys: dict[int, tuple[PublicKey, ...]] = {0: ()}
        self.defect: Defect | None = None
        self.remarks: list[str] = []
        self._covered_size = covered_size
        self._sizes = sizes

    def read(self, lines: Lines, read_blob: BlobReader | None) -> None:
        chain: Chain | None = None
        for text in lines:
            try:
                if chain is None:
                    self.store_id = sid_of(text)
                    chain = Chain(self.store_id, place=Place.LEDGER, read_blob=read_blob)
                self._take(chain, chain.feed(text))
            except FormatError as error:
                self.defect = found_defect(self.store_id, self.size, error)
                return
        if lines.torn:
            self.remarks.append(f"ledger: {lines.torn} bytes after the last line, a torn write")
        if chain is not None and chain.clock_steps:
            self.remarks.append(f"ledger: `recorded` goes back {chain.clock_steps} times")

    def _take(self, chain: Chain, meta: dict[str, Json]) -> None:
        if chain.withheld:
            raise FormatError("the ledger withholds nothing", rule="withheld")
        if self.size == 0 and meta.get("type") != "store_start":
            raise FormatError("the ledger does not begin with store_start", rule="order")
        self.whole.feed(meta)
        is_covered = self._covered_size is not None and self.size < self._covered_size
        (self.covered if is_covered else self.tail).feed(meta)
        self.size += 1
        if self.size in self._sizes:
            self.roots[self.size] = chain.tree.root()
            self.keys[self.size] = tuple(self.whole.keys)


def check_ledger(
    lines: Lines | None,
    note: bytes | None,
    *,
    pinned: PublicKey | None = None,
    remembered: bytes | None = None,
    read_blob: BlobReader | None = None,
) -> LedgerCheck:
    """Check the ledger's lines, its head, and the head that the verifier remembers from earlier.

    Args:
        lines: the ledger; None if there is none. note: the head beside it; None if there is none.
        pinned: the only key to trust; else the keys that the ledger itself names are taken, and the verdict says so.
    """
    defects: list[Defect] = []
    heads = {
        what: _parsed(text, what, defects)
        for what, text in (("head", note), ("remembered head", remembered))
        if text is not None
    }
    parsed = [head for head in heads.values() if head is not None]
    own = heads.get("head")
    reading = _Reading(own.size if own else None, frozenset(head.size for head in parsed))
    if lines is not None:
        reading.read(lines, read_blob)
    if reading.defect is not None:
        defects.insert(0, reading.defect)
    wrong_key = False
    signed = False
    for what, head in heads.items():
        problem = _problem_with(head, what, reading, pinned) if head is not None else None
        if problem is not None and not (problem.rule is Rule.CUT and reading.defect is not None):
            defects.append(problem)
        wrong_key |= what == "head" and problem is not None and problem.why.endswith(_NOT_SIGNED)
        signed |= what == "head" and head is not None and problem is None
    return LedgerCheck(
        store_id=reading.store_id or (own.store_id if own else None),
        view=reading.covered if signed else reading.whole,
        tail=reading.tail if signed else LedgerView(),
        head_size=own.size if own is not None and signed else None,
        pinned=pinned is not None,
        wrong_key=wrong_key,
        defects=tuple(_named(item, reading.store_id) for item in defects),
        remarks=(*reading.remarks, *_remarks(lines, note)),
    )


_NOT_SIGNED = "is not signed by a key that counts"


def _parsed(text: bytes, what: str, defects: list[Defect]) -> Note | None:
    try:
        return parse_note(text)
    except FormatError as error:
        defects.append(Defect(None, None, Rule(error.rule), f"{what}: {error}"))
        return None


def _named(item: Defect, store_id: str | None) -> Defect:
    return item if item.session is not None else msgspec.structs.replace(item, session=store_id)


def _remarks(lines: Lines | None, note: bytes | None) -> Iterator[str]:
    if lines is None:
        yield "there is no ledger: a deleted session or a cut journal cannot show"
    elif note is None:
        yield "the ledger has no signed head"


def _problem_with(head: Note, what: str, reading: _Reading, pinned: PublicKey | None) -> Defect | None:
    """What is wrong with one head over this ledger, if anything."""
    store = reading.store_id
    if store is not None and head.store_id != store:
        return Defect(store, None, Rule.SIGNATURE, f"the {what} is of another store, {head.store_id}")
    keys = (pinned,) if pinned is not None else reading.keys.get(head.size, tuple(reading.whole.keys))
    try:
        signers = verify_note(head, keys)
    except FormatError as error:
        return Defect(store, None, Rule.SIGNATURE, f"{what}: {error}")
    if not signers:
        return Defect(store, None, Rule.SIGNATURE, f"the {what} {_NOT_SIGNED}")
    if reading.size < head.size:
        why = f"the {what} covers {head.size} ledger entries, {reading.size} are there"
        return Defect(store or head.store_id, reading.size, Rule.CUT, why)
    if reading.roots[head.size] != head.root:
        why = f"the {what} has another root over the first {head.size} ledger entries"
        return Defect(store, max(head.size - 1, 0), Rule.HEAD, why)
    return None
