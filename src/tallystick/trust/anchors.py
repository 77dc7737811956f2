"""Anchoring a store: having its heads kept off this machine, and asking what is kept there.

Owns which places there are (the ledger says it: each anchoring is an entry of it), what an answer of a place is worth, and
what is an alarm. Only heads leave the machine. Must not know how a place is spoken with: tallystick.anchors does.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from hashlib import sha256
from typing import Protocol

import msgspec

from tallystick.anchors.kept import Guarded, Kept
from tallystick.errors import FormatError, JournalError, NotFoundError, UsageError
from tallystick.journal.durable import replace_file
from tallystick.journal.home import Home
from tallystick.journal.ledger import read_note
from tallystick.journal.opening import read_whole
from tallystick.model.recorded import Recorded
from tallystick.model.step import Json
from tallystick.recording.freshness import keep_newest
from tallystick.recording.store import open_archive
from tallystick.recording.store_identity import read_store
from tallystick.seal.ledger import LedgerView
from tallystick.seal.note import parse_note
from tallystick.workspace.ledger import ledger_entries

KINDS = ("git", "tsa", "nats")
_MOST_TARGET = 2_000
_TRY_SECONDS = 86_400.0
_AHEAD_SECONDS = 600.0


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
    tried: str | None = None
    """When it was last tried how well it is guarded."""
    guarded: bool | None = None
    says: str = ""
    """How well it is guarded, in words; known only when it was just tried."""

    @property
    def name(self) -> str:
        """For people: `git https://example.org/anchors.git`."""
        return f"{self.kind} {self.target}"

    @property
    def place(self) -> tuple[str, str, str | None]:
        """What tells it from others."""
        return self.kind, self.target, self.ref


def place_of(home: Home, target: Target) -> Place:
    """Speak with a place. Raises AnchorError: what names it names none; UsageError: no such kind."""
    if target.kind == "git":
        from tallystick.anchors.git import GitAnchor, default_ref

        return GitAnchor(target.target, target.ref or default_ref(read_store(home).store_id), os.environ)
    if target.kind == "tsa":
        from tallystick.anchors.tsa import TsaAnchor

        folder = home.folder / "trust" / "anchors" / sha256(f"tsa\0{target.target}".encode()).hexdigest()[:16]
        return TsaAnchor(folder, target.target, (target.ca or "").encode())
    if target.kind == "nats":
        from tallystick.anchors.nats import NatsAnchor, default_subject

        return NatsAnchor(target.target, target.ref or default_subject(read_store(home).store_id))
    raise UsageError(f"unknown kind of anchor {target.kind!r}", hint=f"use {', '.join(KINDS)}")


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
        note = read_whole(home.note)
        head = parse_note(note)
        is_new = not any(each.place == target.place for each in known)
        if _wants_a_try(target, clock()):
            guarded = place.guarded()
        else:
            guarded = Guarded(keeps=None, says="")
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
        target,
        size=head.size,
        at=kept.at,
        count=target.count + 1,
        guarded=target.guarded if guarded.keeps is None else guarded.keeps,
        says=guarded.says,
    )


def _wants_a_try(target: Target, now: str) -> bool:
    """Whether to try again how well a place guards what it keeps: its rules may be others now."""
    from datetime import datetime

    try:
        past = datetime.fromisoformat(now) - datetime.fromisoformat(target.tried or "")
    except ValueError:
        return True
    return abs(past.total_seconds()) > _TRY_SECONDS


def _keep(home: Home, note: bytes, size: int) -> None:
    """Keep a head that someone else has: two that contradict each other are evidence."""
    folder = home.folder / "trust" / "heads"
    home.make_folder(folder)
    replace_file(folder / f"{size}.note", [note])


def stop(home: Home, target: Target) -> None:
    """Seal in the ledger that a place is not used any more. What it keeps stays there. Raises what `anchor` raises."""
    archive = open_archive(home)
    try:
        meta: dict[str, Json] = {"type": "anchor", "kind": target.kind, "size": target.size, "stopped": True}
        values: dict[str, Json] = {"content.target": target.target}
        if target.ref is not None:
            values["content.ref"] = target.ref
        archive.ledger.append(meta, values)
        archive.sign()
    finally:
        archive.close()


def targets(home: Home) -> tuple[Target, ...]:
    """The places where a store is anchored, in the order in which they were first used.

    Raises:
        NotFoundError: there is no store.
    """
    if not home.folder.is_dir():
        raise NotFoundError(f"no store at {home.folder}", hint="create one with `tally init`")
    found: dict[tuple[str, str, str | None], Target] = {}
    for entry in _anchorings(home):
        _take(found, entry)
    return tuple(found.values())


def _anchorings(home: Home) -> Iterator[Recorded]:
    return (entry for entry in ledger_entries(home, holding=b'"anchor"') if entry.type == "anchor")


def _take(found: dict[tuple[str, str, str | None], Target], entry: Recorded) -> None:
    said = _target_of(entry)
    if said is None:
        return
    if entry.meta.get("stopped") is True:
        found.pop(said.place, None)
        return
    before = found.get(said.place, said)
    guarded = entry.meta.get("guarded")
    is_tried = isinstance(guarded, bool)
    found[said.place] = msgspec.structs.replace(
        before,
        ca=said.ca or before.ca,
        size=said.size,
        at=str(entry.meta.get("ts") or "") or before.at,
        count=before.count + 1,
        tried=str(entry.meta.get("recorded") or "") if is_tried else before.tried,
        guarded=guarded if is_tried else before.guarded,
    )


def _target_of(entry: Recorded) -> Target | None:
    """The place that an entry of the ledger names, and the size of the head that it was given; None: it names none."""
    kind, target, size = entry.meta.get("kind"), entry.text("content.target"), entry.meta.get("size")
    if not isinstance(kind, str) or target is None or type(size) is not int:
        return None
    return Target(kind=kind, target=target, ref=entry.text("content.ref"), ca=entry.text("content.ca"), size=size)


def given(home: Home) -> dict[tuple[str, str, str | None], set[int]]:
    """The sizes of all heads that each place was given."""
    given: dict[tuple[str, str, str | None], set[int]] = {}
    for entry in _anchorings(home):
        said = _target_of(entry)
        if said is not None and entry.meta.get("stopped") is True:
            given.pop(said.place, None)
        elif said is not None:
            given.setdefault(said.place, set()).add(said.size)
    return given


def find_target(home: Home, kind: str, name: str | None, ref: str | None = None) -> Target:
    """The place that a person named; without a name or a ref the only one that fits.

    Raises: NotFoundError: none exists, or more than one.
    """
    found = [
        each
        for each in targets(home)
        if each.kind == kind and (name is None or each.target == name) and (ref is None or each.ref == ref)
    ]
    if len(found) != 1:
        raise NotFoundError(
            f"{len(found)} anchors of kind {kind}{f' at {name}' if name else ''}", hint="`tally anchor list` lists them"
        )
    return found[0]


def keys_of(home: Home, pinned: bytes | None = None) -> tuple[bytes, ...]:
    """The keys under which heads of a store count: all that its ledger has named, and the pinned one."""
    view, every = LedgerView(), dict[bytes, None]()
    for entry in ledger_entries(home):
        try:
            view.feed(entry.meta)
        except FormatError:
            break
        every.update(dict.fromkeys(view.keys))
    if pinned is None:
        return tuple(every)
    return (pinned, *(key for key in every if key != pinned))


def is_due(home: Home, target: Target, *, now: float, every_seconds: float) -> bool:
    """Whether a place should be given the newest head: that time has passed, and more than anchors came since."""
    from datetime import datetime

    try:
        note = read_note(home)
        if target.at:
            then = datetime.fromisoformat(target.at).timestamp()
        else:
            then = 0.0
    except (JournalError, ValueError):
        return False
    if note is None:
        return False
    # What says that it is from later, or over more than there is, is no reason to wait.
    has_grown = note.size > target.size + len(targets(home)) or target.size > note.size
    return has_grown and (now - then >= every_seconds or then - now > _AHEAD_SECONDS)


def too_old(home: Home, found: Iterable[Target], *, now: float, most_hours: int) -> tuple[str, ...]:
    """The places that have got no head for longer than that, though the ledger has grown: each in words."""
    return tuple(
        f"{target.name} has got no head since {target.at}, though the ledger has grown: the anchor is too old"
        for target in found
        if is_due(home, target, now=now, every_seconds=3600.0 * most_hours)
    )
