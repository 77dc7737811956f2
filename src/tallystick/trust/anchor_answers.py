"""Asking the places where a store is anchored, and what an answer is worth: which heads count, and what is an alarm.

Must not know how a place is spoken with, nor how a head gets there: trust.anchors does.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime

import msgspec

from tallystick.anchors.kept import AnchorError, Kept
from tallystick.errors import FormatError, UsageError
from tallystick.journal.home import Home
from tallystick.model.verdict import Level
from tallystick.recording.store_identity import read_store
from tallystick.seal.ledgercheck import KnownHead, newest_of
from tallystick.seal.note import Note, parse_note, verify_note
from tallystick.trust.anchors import Target, given, place_of, targets

_CLOCK_SECONDS = 600.0
"""By how much another machine's clock may be ahead of this one."""


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What a place says. `problem`: it could not be asked."""

    target: Target
    kept: tuple[Kept, ...] = ()
    heads: tuple[KnownHead, ...] = ()
    newest_at: str | None = None
    alarms: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    problem: str | None = None


class _Said:
    """What is to be said of what a place keeps, gathered while it is gone through."""

    def __init__(self) -> None:
        self.alarms: list[str] = []
        self.notes: list[str] = []
        self.foreign = self.doubtful = self.undated = 0

    def counted(self, target: Target) -> Iterator[str]:
        """What is reported by its number only."""
        if self.foreign:
            yield f"{target.name}: {self.foreign} heads of other stores are passed over"
        if self.undated:
            yield f"{target.name}: {self.undated} heads have no date, or one that is still to come: they count as old"


def ask(
    home: Home,
    keys: Sequence[bytes],
    some: Iterable[Target] | None = None,
    *,
    further: Iterable[Target] = (),
    now: float | None = None,
) -> tuple[Answer, ...]:
    """What the places keep of this store.

    Args:
        keys: under which a head counts. One of this store under another key is an alarm.
        some: these places; None: all that the ledger names. further: places that someone knows of from elsewhere, which
            have heads of this store, whatever the ledger says.
        now: seconds since 1970; the date of a head that lies beyond it is not believed. None: each is.
    """
    store, sizes = read_store(home).store_id, given(home)
    if some is None:
        some = targets(home)
    own = tuple(some)
    known = {place for target in own for place in (target.place, (target.kind, target.target, None))}
    asked = (*own, *(target for target in further if target.place not in known))
    counting = _Counting(store, keys, now)
    return tuple(_ask(home, target, counting, sizes.get(target.place, set())) for target in asked)


class _Counting(msgspec.Struct, frozen=True):
    """Which heads count: those of a store, under some keys, of a date that is not still to come."""

    store: str
    keys: Sequence[bytes]
    now: float | None


def _ask(home: Home, target: Target, counting: _Counting, sizes: Collection[int]) -> Answer:
    try:
        kept = tuple(place_of(home, target).heads())
    except (AnchorError, UsageError) as error:
        return Answer(target=target, problem=str(error))
    heads, said = list[KnownHead](), _Said()
    for each in kept:
        note = _judged(each, target, counting, said)
        if note is not None:
            at = None
            if each.at is not None and not _is_after(each.at, counting.now):
                at = each.at
            said.undated += at is None
            heads.append(KnownHead(who=target.name, size=note.size, root=note.root, level=Level.A4, at=at))
    said.alarms += _missing(target, sizes, {head.size for head in heads}, said.doubtful)
    if target.guarded is False:
        said.notes.append(f"{target.name} lets heads be taken away, so it does not count as an anchor")
        heads = [msgspec.structs.replace(head, level=Level.A2) for head in heads]
    newest_at = None
    if heads:
        newest_at = newest_of(heads).get(heads[0].level)
    return Answer(
        target=target,
        kept=kept,
        heads=tuple(heads),
        newest_at=newest_at,
        alarms=tuple(said.alarms),
        notes=(*said.notes, *said.counted(target)),
    )


def _judged(each: Kept, target: Target, counting: _Counting, said: _Said) -> Note | None:
    """The head that counts, if this is one; else what is to be said of it."""
    if each.unreadable is not None:
        said.doubtful += 1
        said.notes.append(f"{target.name}: {each.receipt} cannot be read: {each.unreadable}")
        return None
    if each.false is not None:
        said.doubtful += 1
        said.alarms.append(f"{target.name}: {each.receipt} is not genuine: {each.false}")
        return None
    note = parse_note(each.note)
    if note.store_id != counting.store:
        said.foreign += 1
        return None
    if not _is_by(note, counting.keys):
        said.alarms.append(
            f"{target.name} keeps a head of this store ({each.receipt[:12]}) by a key that does not count"
        )
        return None
    return note


def _missing(target: Target, sizes: Collection[int], found: Collection[int], doubtful: int) -> Iterator[str]:
    """What a place was given and does not have. A later head in its place does not make that good."""
    gone = sorted(set(sizes).difference(found))
    if len(gone) > doubtful:
        others = ""
        if len(gone) > 1:
            others = f", and {len(gone) - 1} more"
        yield (
            f"{target.name} was given a head over {gone[-1]} ledger entries and does not have it{others}:"
            " an anchor went missing"
        )
    if not found and not sizes:
        yield f"{target.name} has no head of this store, which was to be there: an anchor went missing"


def _is_after(at: str, now: float | None) -> bool:
    try:
        return now is not None and datetime.fromisoformat(at).timestamp() > now + _CLOCK_SECONDS
    except ValueError:
        return True


def _is_by(note: Note, keys: Sequence[bytes]) -> bool:
    try:
        return bool(verify_note(note, keys))
    except FormatError:
        return False
