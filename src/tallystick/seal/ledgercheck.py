"""Checking the ledger and the heads over it (docs/format.md 14, step 1).

Owns what a ledger's lines and its notes turn out to be worth, and so which `session_head`s and erasures count; and which
assurance level that is, why not a higher one, and how fresh (DESIGN 3). Must not know the sessions' journals, nor where
bytes come from.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

import msgspec

from tallystick.errors import FormatError
from tallystick.model.step import Json
from tallystick.model.verdict import Defect, Level, Require, Rule
from tallystick.seal.chain import Chain, Place, Terms
from tallystick.seal.epochs import Epoch, LiveEpoch, Row, epoch_of, why_not_forward
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


class KnownHead(msgspec.Struct, frozen=True, kw_only=True):
    """What someone else remembers of this ledger: over its first `size` entries it had `root`.

    Anyone who gathers them has checked that they said so; here the ledger is held against it. `who` names them for a
    person.
    """

    who: str
    size: int
    root: bytes
    level: Level
    """What it gives that they remember it: A3 a signer of this machine, A4 someone off it."""
    at: str | None = None
    """Since when they remember it, by their own word (docs/format.md 6.3)."""


class LedgerCheck(msgspec.Struct, frozen=True, kw_only=True):
    """What the ledger and its head are worth.

    `view` holds the entries that count: those that the head covers, or all sound ones if it covers none. A head covers
    the ledger if it is signed by a known key and the ledger has its size and root. `tail` holds what comes after them,
    which justifies nothing. `head_size` is the size of a head that covers.
    """

    store_id: str | None
    view: LedgerView
    tail: LedgerView
    head_size: int | None = None
    pinned: bool = False
    wrong_key: bool = False
    defects: tuple[Defect, ...] = ()
    """The first defect of the ledger and its heads, if there is one."""
    foreign: tuple[tuple[int, str], ...] = ()
    """References of ledger entries to sessions: (n, `<sid>#<hash>`)."""
    remarks: tuple[str, ...] = ()
    agreed: frozenset[Level] = frozenset()
    """The levels of those who remember this ledger as it is."""
    newest: dict[Level, str] = {}
    """When the newest of their heads was taken, by level, where they say it."""
    why_not_forward: str | None = None
    """Why its epochs do not guard the past; None where they do, or where none exist."""

    @property
    def is_signed(self) -> bool:
        """Whether a verified head covers the ledger."""
        return self.head_size is not None


def found_defect(session: str | None, n: int | None, error: FormatError) -> Defect:
    """The defect that an error at entry `n` stands for."""
    return Defect(session, n, Rule(error.rule), str(error))


class _Reading:
    """One pass over the ledger: its chain, its views, and roots and keys at the sizes that heads speak of."""

    def __init__(self, own: Note | None, heads: Sequence[Note | KnownHead], pinned: PublicKey | None) -> None:
        self.store_id: str | None = None
        self.lines = 0
        self.size = 0
        self.whole = LedgerView()
        self.covered = LedgerView()
        self.tail = LedgerView()
        self.roots: dict[int, bytes] = {0: EMPTY_ROOT}
        self.defects: list[Defect] = []
        self.foreign: tuple[tuple[int, str], ...] = ()
        self.remarks: list[str] = []
        self.row = Row(pinned)
        self.broken: list[Defect] = []
        """What is wrong with the ends of epochs. The entries that say them are sound all the same."""
        self._recent: deque[tuple[int, str]] = deque(maxlen=_MOST_RECENT)
        """The newest entries that are heads of sessions: a recovery says from which one on a signer gave them."""
        self._leaves = bytearray()
        self._keys: dict[int, tuple[bytes, ...]] = {}
        # Who else remembers the ledger vouches for as much of it: an old head put back does not uncover the rest.
        others = (head.size for head in heads if isinstance(head, KnownHead))
        if own is not None:
            self._covered_size = max(own.size, *others, 0)
        else:
            self._covered_size = 0
        self._sizes = frozenset(head.size for head in heads)

    def read(self, lines: Lines, read_blob: BlobReader | None) -> None:
        """Read all lines; after the first that is not sound they are only counted."""
        chain: Chain | None = None
        for text in lines:
            self.lines += 1
            if self.defects:
                continue
            try:
                if chain is None:
                    self.store_id = sid_of(text)
                    chain = Chain(self.store_id, Terms(Place.LEDGER), read_blob=read_blob)
                self._take(chain, chain.feed(text))
            except FormatError as error:
                self.defects.append(found_defect(self.store_id, self.size, error))
        if lines.torn:
            self.remarks.append(f"ledger: {lines.torn} bytes after the last line, a torn write")
        if chain is not None:
            self.foreign = tuple(chain.foreign)
            if chain.clock_steps:
                self.remarks.append(f"ledger: `recorded` goes back {chain.clock_steps} times")

    def _take(self, chain: Chain, meta: dict[str, Json]) -> None:
        self.take_end(epoch_of(meta), self.size)
        if meta.get("type") == "recovery" and "cause" in meta:
            self.remarks.append(_recovery(self.size, meta, self._recent))
        if meta.get("type") == "session_head":
            self._recent.append((self.size, str(meta.get("session"))))
        self.whole.feed(meta)
        self._leaves += chain.head
        if self.size < self._covered_size:
            self.covered.feed(meta)
        else:
            self.tail.feed(meta)
        self.size += 1
        if self.size in self._sizes:
            self.roots[self.size] = chain.tree.root()
        if self.size in self._sizes or self.size == 1:
            self._keys[self.size] = tuple(self.whole.keys)

    def take_end(self, end: Epoch | None, n: int | None) -> None:
        """Take the end of an epoch, which entry `n` says; None: someone else says it."""
        if end is None or self.store_id is None:
            return
        try:
            self.row.take(end, store_id=self.store_id, leaves=self._leaves, named=self.whole.keys)
        except FormatError as error:
            self.broken.append(found_defect(self.store_id, n, error))

    def keys(self, size: int) -> tuple[bytes, ...]:
        """The keys that the first `size` entries name; the first entry always counts, for it names the first key."""
        return self._keys.get(max(size, 1), tuple(self.whole.keys))


class Outside(msgspec.Struct, frozen=True, kw_only=True):
    """What a verifier knows of a ledger that is not beside it."""

    pinned: PublicKey | None = None
    """The only key to trust; else the keys that the ledger itself names are taken, and the verdict says so."""
    remembered: bytes | None = None
    """A head that the verifier has from earlier."""
    known: Sequence[KnownHead] = ()
    """What others remember of this ledger."""
    live: LiveEpoch | None = None
    """What its signer says of its epochs, if it has some."""


def check_ledger(
    lines: Lines | None, note: bytes | None, outside: Outside | None = None, *, read_blob: BlobReader | None = None
) -> LedgerCheck:
    """Check the ledger's lines, its head, and what the verifier knows from elsewhere.

    Args:
        lines: the ledger, or None. note: the head beside it, or None.
    """
    outside = outside or Outside()
    pinned, known, live = outside.pinned, outside.known, outside.live
    texts = (("head", note), ("remembered head", outside.remembered))
    parsed = {what: _parsed(text) for what, text in texts if text is not None}
    heads = {what: head for what, head in parsed.items() if isinstance(head, Note)}
    own = heads.get("head")
    reading = _Reading(own, (*heads.values(), *known), pinned)
    if lines is not None:
        reading.read(lines, read_blob)
    if live is not None and not reading.defects:
        for end in live.after(reading.row.last):
            reading.take_end(end, None)
    reading.defects += reading.broken
    defects, store, signed, wrong_key = list(reading.defects), reading.store_id, False, False
    for what, head in parsed.items():
        if isinstance(head, FormatError):
            defects.append(Defect(store, None, Rule(head.rule), f"{what}: {head}"))
            continue
        found, is_by_other = _problem_with(head, what, store, reading, pinned)
        if found is not None:
            defects += [found]
        store = store or head.store_id
        if what == "head":
            signed, wrong_key = found is None and head.size <= reading.size, is_by_other
    contradicted = {head: found for head in known if (found := _contradiction(head, store, reading)) is not None}
    defects += contradicted.values()
    agreeing = [head for head in known if head not in contradicted and reading.size >= head.size and _counts(head, own)]
    levels, newest = {head.level for head in agreeing}, newest_of(agreeing)
    lacks = why_not_forward(reading.row, live, is_pinned=pinned is not None)
    if lacks is None and reading.row.last is not None:
        levels.add(Level.A3F)
        newest[Level.A3F] = reading.row.last.ended
    view, tail, head_size = reading.whole, LedgerView(), None
    if signed and own is not None:
        view, tail, head_size = reading.covered, reading.tail, own.size
    stated = max((head.size for head in heads.values() if head.store_id == store), default=0)
    defects += [Defect(store, n, Rule.HEAD, "a size smaller than one before of its session") for n in view.fallen]
    return LedgerCheck(
        store_id=store,
        view=view,
        tail=tail,
        head_size=head_size,
        pinned=pinned is not None,
        wrong_key=wrong_key,
        defects=tuple(item.under(stated) for item in sorted(defects, key=lambda item: item.place)[:1]),
        foreign=reading.foreign,
        remarks=(*reading.remarks, *_remarks(lines, note), *_long(reading.row)),
        agreed=frozenset(levels),
        newest=newest,
        why_not_forward=lacks if live is not None else None,
    )


def _recovery(n: int, meta: dict[str, Json], recent: Iterable[tuple[int, str]]) -> str:
    """What an entry says of how the ledger went on after its signer had refused (9.6), and of which sessions that tells.

    Where one of these sessions is short or missing, someone may have invented the head instead of taking away the session.
    """
    if meta["cause"] == "new_key":
        return f"ledger: entry {n} seals a recovery (new_key): {_NEW_KEY.format(meta.get('from', 0))}"
    taken, aside, start = (meta.get(name, 0) for name in ("taken", "aside", "from"))
    first = start if type(start) is int else n
    named = list(dict.fromkeys(session for at, session in recent if at >= first))
    whose = f", of the sessions {', '.join(named[:_MOST_NAMED])}" * bool(named)
    return (
        f"ledger: entry {n} seals a recovery ({meta['cause']}): from entry {start} on, {taken} entries were taken back "
        f"from the signer{whose}{' and others' * (len(named) > _MOST_NAMED)}; {aside} were set aside"
    )


_NEW_KEY = "root gave the signer another key; the old one is known to have signed the first {} entries"
_MOST_RECENT = 1_000
_MOST_NAMED = 5


def _parsed(text: bytes) -> Note | FormatError:
    try:
        return parse_note(text)
    except FormatError as error:
        return error


def _remarks(lines: Lines | None, note: bytes | None) -> Iterator[str]:
    if lines is None:
        yield "there is no ledger: a deleted session or a cut journal cannot show"
    elif note is None:
        yield "the ledger has no signed head"


def _long(row: Row) -> Iterator[str]:
    if row.long:
        last = row.long[-1]
        times = f"the last of them from {last.began} to {last.ended}"
        yield f"{len(row.long)} epochs lasted longer than they were to, {times}: the signer did not run"


def _problem_with(
    head: Note, what: str, store: str | None, reading: _Reading, pinned: PublicKey | None
) -> tuple[Defect | None, bool]:
    """What is wrong with one head over this ledger, if anything; and whether other keys than the known ones signed it."""
    if store is not None and head.store_id != store:
        return Defect(store, None, Rule.SIGNATURE, f"the {what} is of another store, {head.store_id}"), False
    store = head.store_id
    try:
        if pinned is not None:
            known = reading.row.counting(head.size)
        else:
            known = reading.keys(head.size)
        signers = verify_note(head, known)
    except FormatError as error:
        return Defect(store, None, Rule.SIGNATURE, f"{what}: {error}"), False
    # Without a pinned key only a ledger that is sound up to the head can say which keys are known.
    is_by_other = not signers and (pinned is not None or reading.size >= head.size)
    if head.size == 0 and head.root != EMPTY_ROOT:
        return Defect(store, None, Rule.HEAD, f"the {what} of nothing has another root than that"), is_by_other
    if is_by_other:
        return Defect(store, None, Rule.SIGNATURE, f"the {what} is not signed by a key that counts"), True
    return _misfit(f"the {what}", head, store, reading), False


def newest_of(heads: Sequence[KnownHead]) -> dict[Level, str]:
    """Of when the largest head is, by level: a smaller one that someone puts there again later is no newer.

    Of several of one size it is the earliest that counts.
    """
    sizes: dict[Level, int] = {}
    for head in heads:
        sizes[head.level] = max(head.size, sizes.get(head.level, 0))
    newest: dict[Level, str] = {}
    for head in heads:
        if head.at is not None and head.size == sizes[head.level]:
            newest[head.level] = min(head.at, newest.get(head.level, head.at))
    return newest


def _counts(head: KnownHead, own: Note | None) -> bool:
    """A signer guards what it has signed; one that is behind the newest head does not guard that."""
    return head.level is not Level.A3 or (own is not None and head.size >= own.size)


def _misfit(what: str, head: Note | KnownHead, store: str | None, reading: _Reading) -> Defect | None:
    """The defect of a ledger that is not what a head, or someone who remembers one, says that it was."""
    if reading.lines < head.size:
        why = f"{what} covers {head.size} ledger entries, {reading.lines} are there"
        return Defect(store, reading.lines, Rule.CUT, why)
    if reading.size >= head.size and reading.roots[head.size] != head.root:
        why = f"{what} has another root over the first {head.size} ledger entries"
        return Defect(store, max(head.size - 1, 0), Rule.HEAD, why)
    return None


def _contradiction(head: KnownHead, store: str | None, reading: _Reading) -> Defect | None:
    return _misfit(f"what {head.who} remembers", head, store, reading)


def level_of(ledger: LedgerCheck) -> Level:
    """The highest level that is reached with all below it."""
    if not ledger.is_signed:
        return Level.A1
    if Level.A3 not in ledger.agreed:
        return Level.A2
    return max(level for level in ledger.agreed if level >= Level.A3)  # A3, A3f, A4: in the order of the alphabet


def lacks_epochs(ledger: LedgerCheck, require: Require) -> str | None:
    """Why epochs that are required do not guard the past, where an anchor gives a level that is higher still."""
    if require is not Require.A3F or Level.A3F in ledger.agreed:
        return None
    return f"no epochs guard what is older (A3f): {ledger.why_not_forward or 'no signer answers that has some'}"


def too_old_for(ledger: LedgerCheck, require: Require, since: str) -> str | None:
    """Why the newest head that someone at the required level has is older than it may be; None if it is not."""
    whose = {
        Require.A3: "the signer signed",
        Require.A3F: "an epoch's key signed as its last",
        Require.A4: "anyone off this machine has",
    }.get(require)
    if whose is None:
        return None
    newest = ledger.newest.get(Level(require.value))
    if newest is not None and newest >= since:
        return None
    found = "nobody says of when it is"
    if newest is not None:
        found = f"it is of {newest}"
    return f"the newest head that {whose} is older than {since}: {found}"


def why_not_higher(ledger: LedgerCheck) -> str:
    """What keeps a ledger from a higher level, for a person."""
    if not ledger.is_signed:
        return "no verified signed head covers the ledger"
    match level_of(ledger):
        case Level.A4:
            return "no witness has cosigned the head (A5)"
        case Level.A3F:
            return "no one off this machine remembers the head (A4)"
        case Level.A3:
            epochs = ""
            if ledger.why_not_forward:
                epochs = f"; its epochs do not count (A3f): {ledger.why_not_forward}"
            return f"nobody off this machine remembers the head (A4){epochs}"
    whose = "the store's own key, which this verifier has no other word for"
    if ledger.pinned:
        whose = "a pinned key"
    if Level.A4 in ledger.agreed:
        return f"signed with {whose}; anchored off this machine, but no separate signer guards the head (A3)"
    if ledger.pinned:
        return f"signed with {whose}; no separate signer, anchor or witness guards the head (A3 and above)"
    return f"signed with {whose}; nothing outside this store vouches for it (A3 and above)"
