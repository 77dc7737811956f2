"""Anchoring a store: having its heads kept off this machine, and asking what is kept there.

Owns which places there are (the ledger says it: each anchoring is an entry of it), what an answer of a place is worth, and
what is an alarm. Only heads leave the machine. Must not know how a place is spoken with: tallystick.anchors does.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Protocol

import msgspec

from tallystick.anchors.kept import AnchorError, Guarded, Kept
from tallystick.errors import FormatError, JournalError, NotFoundError, UsageError
from tallystick.journal.durable import replace_file
from tallystick.journal.home import Home
from tallystick.journal.ledger import read_note
from tallystick.model.recorded import Recorded
from tallystick.model.step import Json
from tallystick.model.verdict import Level
from tallystick.operations.ledger import ledger_entries
from tallystick.operations.lower_bound import keep_newest
from tallystick.operations.store import open_archive
from tallystick.operations.store_identity import read_store
from tallystick.seal.ledger import LedgerView
from tallystick.seal.ledgercheck import KnownHead
from tallystick.seal.note import Note, parse_note, verify_note

KINDS = ("git", "tsa", "nats")
_MOST_TARGET = 2_000


class Place(Protocol):
    """One place, of whatever kind."""

    def put(self, note: bytes) -> Kept:
        """Have a head kept there."""
        ...

    def heads(self) -> list[Kept]:
        """What is kept there, oldest first."""
        ...

    def guarded(self) -> Guarded:
        """How well it is guarded there."""
        ...


class Target(msgspec.Struct, frozen=True, kw_only=True):
    """A place where this store is anchored, as the ledger says it, and the newest head that it was given."""

    kind: str
    target: str
    ref: str | None = None
    """In git the ref, in NATS the subject."""
    ca: str | None = None
    """Of a time-stamping authority: the certificates that it is trusted by, in PEM."""
    size: int = 0
    at: str | None = None
    count: int = 0
    guarded: bool | None = None
    says: str = ""
    """How well it is guarded, in words; known only when it was just tried."""

    @property
    def name(self) -> str:
        """For people: `git https://example.org/anchors.git`."""
        return f"{self.kind} {self.target}"


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What a place says. `problem`: it could not be asked."""

    target: Target
    kept: tuple[Kept, ...] = ()
    heads: tuple[KnownHead, ...] = ()
    newest_at: str | None = None
    alarms: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    problem: str | None = None


def place_of(home: Home, target: Target) -> Place:
    """Speak with a place. Raises AnchorError: what names it names none; UsageError: no such kind."""
    folder = home.folder / "trust" / "anchors" / sha256(f"{target.kind}\0{target.target}".encode()).hexdigest()[:16]
    if target.kind == "git":
        from tallystick.anchors.git import GitAnchor, default_ref

        ref = target.ref or default_ref(read_store(home).store_id)
        return GitAnchor(folder, target.target, ref, os.environ)
    if target.kind == "tsa":
        from tallystick.anchors.tsa import TsaAnchor

        return TsaAnchor(folder, target.target, (target.ca or "").encode())
    if target.kind == "nats":
        from tallystick.anchors.nats import NatsAnchor, default_subject

        return NatsAnchor(target.target, target.ref or default_subject(read_store(home).store_id))
    raise UsageError(f"no kind of anchor {target.kind!r}", hint=f"one of {', '.join(KINDS)}")


def anchor(home: Home, target: Target, *, clock: Callable[[], str]) -> Target:
    """Have the store's newest head kept at a place, and seal in the ledger that it is.

    Raises:
        NotFoundError: there is no store. AnchorError: the place cannot be reached, or refuses.
        JournalError: the store cannot be written, or has no head.
    """
    known = targets(home)
    place = place_of(home, target)
    archive = open_archive(home)
    try:
        archive.sign()
        note = home.note.read_bytes()
        head = parse_note(note)
        is_new = not any(each.kind == target.kind and each.target == target.target for each in known)
        guarded = place.guarded() if is_new else Guarded(keeps=target.guarded, says="")
        kept = place.put(note)
        _keep(home, note, head.size)
        keep_newest(home, target.kind, target.target, kept)
        meta: dict[str, Json] = {"type": "anchor", "kind": target.kind, "size": head.size, "root": head.root.hex()}
        meta["ts"] = kept.at or clock()
        if guarded.keeps is not None:
            meta["guarded"] = guarded.keeps
        values: dict[str, Json] = {"content.target": target.target[:_MOST_TARGET], "content.receipt": kept.receipt}
        if target.ref is not None:
            values["content.ref"] = target.ref
        if target.ca is not None and is_new:
            values["content.ca"] = target.ca
        archive.ledger.append(meta, values)
        archive.sign()
    finally:
        archive.close()
    return msgspec.structs.replace(
        target, size=head.size, at=kept.at, count=target.count + 1, guarded=guarded.keeps, says=guarded.says
    )


def _keep(home: Home, note: bytes, size: int) -> None:
    """Keep a head that somebody else has: two that contradict each other are evidence."""
    folder = home.folder / "trust" / "heads"
    home.make_folder(folder)
    replace_file(folder / f"{size}.note", [note])


def stop(home: Home, target: Target) -> None:
    """Seal in the ledger that a place is not used any more. What it keeps stays there. Raises what `anchor` raises."""
    archive = open_archive(home)
    try:
        meta: dict[str, Json] = {"type": "anchor", "kind": target.kind, "size": target.size, "stopped": True}
        archive.ledger.append(meta, {"content.target": target.target})
        archive.sign()
    finally:
        archive.close()


def targets(home: Home) -> tuple[Target, ...]:
    """The places where a store is anchored, in the order in which they were first used.

    Raises:
        NotFoundError: there is no store.
    """
    if not home.folder.is_dir():
        raise NotFoundError(f"there is no store at {home.folder}", hint="`tally init` makes one")
    found: dict[tuple[str, str], Target] = {}
    for entry in ledger_entries(home, holding=b'"anchor"'):
        if entry.type == "anchor":
            _take(found, entry)
    return tuple(found.values())


def _take(found: dict[tuple[str, str], Target], entry: Recorded) -> None:
    kind, target, size = entry.meta.get("kind"), entry.text("content.target"), entry.meta.get("size")
    if not isinstance(kind, str) or target is None or type(size) is not int:
        return
    if entry.meta.get("stopped") is True:
        found.pop((kind, target), None)
        return
    before = found.get((kind, target), Target(kind=kind, target=target))
    guarded = entry.meta.get("guarded")
    found[kind, target] = msgspec.structs.replace(
        before,
        ref=entry.text("content.ref") or before.ref,
        ca=entry.text("content.ca") or before.ca,
        size=max(size, before.size),
        at=str(entry.meta.get("ts") or "") or before.at,
        count=before.count + 1,
        guarded=guarded if isinstance(guarded, bool) else before.guarded,
    )


def find_target(home: Home, kind: str, name: str | None) -> Target:
    """The place that a person named; without a name the only one of its kind.

    Raises:
        NotFoundError: there is none, or more than one.
    """
    found = [each for each in targets(home) if each.kind == kind and (name is None or each.target == name)]
    if len(found) != 1:
        raise NotFoundError(
            f"{len(found)} anchors of kind {kind}{f' at {name}' if name else ''}", hint="`tally anchor list` shows them"
        )
    return found[0]


# Asking --------------------------------------------------------------------------------------------------------------


def ask(home: Home, keys: Sequence[bytes], some: Iterable[Target] | None = None) -> tuple[Answer, ...]:
    """What the places keep of this store.

    Args:
        keys: under which a head counts. One of this store under another key is an alarm.
        some: these places; None: all that the ledger names.
    """
    store = read_store(home).store_id
    return tuple(_ask(home, target, store, keys) for target in (targets(home) if some is None else some))


def _ask(home: Home, target: Target, store: str, keys: Sequence[bytes]) -> Answer:
    try:
        kept = tuple(place_of(home, target).heads())
    except (AnchorError, UsageError) as error:
        return Answer(target=target, problem=str(error))
    heads, alarms, notes = list[KnownHead](), list[str](), list[str]()
    foreign = 0
    newest: str | None = None
    for each in kept:
        if each.unreadable is not None:
            notes.append(f"{target.name}: {each.receipt} cannot be read: {each.unreadable}")
            continue
        if each.false is not None:
            alarms.append(f"{target.name}: {each.receipt} is not genuine: {each.false}")
            continue
        note = parse_note(each.note)
        if note.store_id != store:
            foreign += 1
            continue
        if not _is_by(note, keys):
            alarms.append(
                f"{target.name} keeps a head of this store ({each.receipt[:12]}) by a key that does not count"
            )
            continue
        heads.append(KnownHead(who=target.name, size=note.size, root=note.root, level=Level.A4, at=each.at))
        newest = max(newest or "", each.at or "") or None
    largest = max((head.size for head in heads), default=0)
    if largest < target.size:
        alarms.append(
            f"{target.name} was given a head over {target.size} ledger entries and has none over more than {largest}:"
            " an anchor went missing"
        )
    if foreign:
        notes.append(f"{target.name}: {foreign} heads of other stores are passed over")
    if target.guarded is False:
        notes.append(f"{target.name} lets heads be taken away, so it does not count as an anchor")
        heads = [msgspec.structs.replace(head, level=Level.A2) for head in heads]
    return Answer(
        target=target, kept=kept, heads=tuple(heads), newest_at=newest, alarms=tuple(alarms), notes=tuple(notes)
    )


def _is_by(note: Note, keys: Sequence[bytes]) -> bool:
    try:
        return bool(verify_note(note, keys))
    except FormatError:
        return False


def keys_of(home: Home, pinned: bytes | None = None) -> tuple[bytes, ...]:
    """The keys under which heads of a store count: all that its ledger has named, and the pinned one."""
    view, every = LedgerView(), dict[bytes, None]()
    for entry in ledger_entries(home):
        try:
            view.feed(entry.meta)
        except FormatError:
            break
        every.update(dict.fromkeys(view.keys))
    return tuple(every) if pinned is None else (pinned, *(key for key in every if key != pinned))


def is_due(home: Home, target: Target, *, now: float, every_seconds: float) -> bool:
    """Whether a place should be given the newest head: that time has passed, and more than anchors came since."""
    from datetime import datetime

    try:
        note = read_note(home)
        then = datetime.fromisoformat(target.at).timestamp() if target.at else 0.0
    except (JournalError, ValueError):
        return False
    return note is not None and note.size > target.size + len(targets(home)) and now - then >= every_seconds


def too_old(home: Home, found: Iterable[Target], *, now: float, most_hours: int) -> tuple[str, ...]:
    """The places that have got no head for longer than that, though the ledger has grown: each in words."""
    return tuple(
        f"{target.name} has got no head since {target.at}"
        for target in found
        if is_due(home, target, now=now, every_seconds=3600.0 * most_hours)
    )


def kept_heads(folder: Path) -> list[bytes]:
    """The heads that were kept on this machine because others have them."""
    return [path.read_bytes() for path in sorted(folder.glob("*.note"))] if folder.is_dir() else []
