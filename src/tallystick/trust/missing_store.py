"""A store that is not there: who wrote down, kept or remembers that it was.

Owns asking them before anyone is asked to make a new one: where a record was deleted whole, what is left of it is elsewhere.
Must not read the store, of which there is nothing to read.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

import msgspec

from tallystick.anchors.kept import AnchorError, Kept
from tallystick.errors import FormatError
from tallystick.journal.home import Home, is_store
from tallystick.model.verdict import Authenticity, Completeness, Defect, Level, Rule, Verdict
from tallystick.seal.keys import parse_did_key
from tallystick.seal.note import Note, parse_note, verify_note
from tallystick.trust.anchors import Target
from tallystick.trust.external_evidence import ExternalEvidence

_MOST_STORES = 20


class Memory(msgspec.Struct, frozen=True, kw_only=True):
    """What a caller knows of a store that is not there."""

    around: ExternalEvidence
    """What the administrator of the machine wrote down."""
    pinned: str | None = None
    """The did:key under which heads count; None: under any."""
    remembered: bytes | None = None
    """A head of its ledger."""
    anchored: Sequence[Target] = ()
    """Places that are known to have heads of it."""


def verdict_on_missing(home: Home, known: Memory) -> Verdict | None:
    """The verdict on a store that is not there, by what others know of it; None: it is there, or no one knows of any.

    Raises: FormatError: the pinned key is not a did:key.
    """
    if is_store(home.folder):
        return None
    notes = list(known.around.notes)
    found = [*known.around.alarms, *_of_remembered(known), *_of_places(known, notes)]
    if not found:
        return None
    return Verdict(
        completeness=Completeness.MISSING,
        authenticity=Authenticity.UNSIGNED,
        level=Level.A1,
        why_not_higher=f"there is no record at {home.folder}, and there was one",
        defects=tuple(Defect(None, None, Rule.MISSING, said) for said in found),
        remarks=tuple(notes),
    )


def _of_remembered(known: Memory) -> Iterator[str]:
    if known.remembered is not None and (note := _head(known.remembered, known.pinned)) is not None:
        yield f"a head over {note.size} ledger entries of store {note.store_id} was saved earlier: its ledger is gone"


def _of_places(known: Memory, notes: list[str]) -> Iterator[str]:
    for target in known.anchored:
        try:
            kept = _kept(target)
        except AnchorError as error:
            notes.append(f"{target.name}: {error}")
            continue
        newest = dict[str, tuple[Note, Kept]]()
        for each in kept:
            note = _head(each.note, known.pinned)
            if note is not None and (note.store_id not in newest or note.size >= newest[note.store_id][0].size):
                newest[note.store_id] = note, each
        if not newest:
            yield f"{target.name} has no head of this store, which was to be there: an anchor went missing"
        for store, (note, each) in list(newest.items())[:_MOST_STORES]:
            at = f" of {each.at}" if each.at is not None else ""
            yield f"{target.name} keeps a head{at} over {note.size} ledger entries of store {store}: its ledger is gone"


def _kept(target: Target) -> list[Kept]:
    """The heads at a place. Which store they are of, only the store could say: without a ref, those of all."""
    if target.kind == "git":
        from tallystick.anchors.git import GitAnchor, default_ref

        refs = [target.ref] if target.ref else GitAnchor(target.target, default_ref("none"), os.environ).refs()
        return [kept for ref in refs for kept in GitAnchor(target.target, ref, os.environ).heads()]
    if target.kind == "nats" and target.ref:
        from tallystick.anchors.nats import NatsAnchor

        return NatsAnchor(target.target, target.ref).heads()
    raise AnchorError("which heads are this store's cannot be told without it", hint="name the place as WHERE#SUBJECT")


def _head(data: bytes, pinned: str | None) -> Note | None:
    """The head in a note; None: it is none, or not by the key that counts."""
    key = parse_did_key(pinned) if pinned is not None else None
    try:
        note = parse_note(data)
        if key is not None and not verify_note(note, [key]):
            return None
    except FormatError:
        return None
    return note
