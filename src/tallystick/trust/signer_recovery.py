"""Getting back from a signer what a store has lost, and going on where the two differ: `tally signer restore`, `recover`.

Owns comparing the ledger on disk with the entries that the signer keeps, putting theirs in its place, and the sealed entry
that says so (docs/format.md 9.6). What the signer keeps is what was signed: it stands. What stood on disk instead is set
aside, and what of it can be said again is said again after that, so that nothing is hidden by it. Must not judge: whether
sessions still are what the ledger says of them, verification finds.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path

import msgspec

from tallystick.errors import FormatError, JournalError, NotFoundError
from tallystick.journal.archive import Archive, system_clock
from tallystick.journal.durable import exchange_file, one_writer, replace_file
from tallystick.journal.home import Home
from tallystick.journal.ledger import read_note, root_of
from tallystick.journal.lines import LineFile
from tallystick.journal.opening import open_file
from tallystick.journal.signing import (
    Growth,
    RefusedBySigner,
    SignerAt,
    SignerPlace,
    signer_place,
    write_signer_place,
)
from tallystick.model.step import Json
from tallystick.recording.store import open_archive
from tallystick.recording.store_identity import read_store
from tallystick.seal.extension import Code
from tallystick.seal.keys import did_key
from tallystick.seal.line import check_content, parse_line, skim
from tallystick.seal.merkle import Frontier
from tallystick.seal.note import verify_note
from tallystick.signer.entries import KINDS
from tallystick.signer.pins import PINS, Pin, pin_of, read_pins
from tallystick.trust.signer import ask_status, current_key, live_key, row_keys

_SHOWN = 20
_KEYS = frozenset(("key_add", "key_retire"))
_SECONDS = 30.0


class EntrySummary(msgspec.Struct, frozen=True):
    """What one ledger entry says, as far as its line can be read."""

    n: int
    type: str
    recorded: str = ""
    session: str = ""


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """How the ledger on disk and the entries that the signer keeps differ."""

    store: str
    kept: int
    """Entries that the signer keeps."""
    on_disk: int
    common: int
    """How many are the same in both, from the first on."""
    only_kept: tuple[EntrySummary, ...] = ()
    """The first of those that only the signer has; `only_on_disk` likewise."""
    only_on_disk: tuple[EntrySummary, ...] = ()
    missing: tuple[str, ...] = ()
    """Sessions that the signer's entries name, and whose journals are not there."""

    @property
    def signer_has_more(self) -> bool:
        """Whether the signer has entries that are not on disk."""
        return self.common < self.kept


class Recovery(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a recovery. `cause` is None where there was nothing to recover from."""

    difference: Difference
    cause: str | None = None
    aside: str | None = None
    """The file with the lines that were set aside."""
    said_again: int = 0
    """How many of them were sealed again."""
    size: int = 0
    """Entries that are signed now."""


def differences(home: Home, store: str, signer: SignerAt) -> tuple[Difference, list[bytes], list[bytes]]:
    """How disk and signer differ; and the lines of both. Raises JournalError: the signer does not answer, or keeps none."""
    kept, on_disk = list(signer.entries(store, seconds=_SECONDS)), list[bytes]()
    with contextlib.suppress(FileNotFoundError):
        on_disk = list(LineFile(home.ledger))
    pairs = zip(kept, on_disk, strict=False)
    common = next((n for n, (one, other) in enumerate(pairs) if one != other), min(len(kept), len(on_disk)))
    named = dict.fromkeys(said.session for said in map(_summary, kept) if said.type == "session_head")
    dropped = {said.session for said in map(_summary, kept) if said.type == "retention"}
    found = Difference(
        store=store,
        kept=len(kept),
        on_disk=len(on_disk),
        common=common,
        only_kept=tuple(map(_summary, kept[common : common + _SHOWN])),
        only_on_disk=tuple(map(_summary, on_disk[common : common + _SHOWN])),
        missing=tuple(sid for sid in named if sid not in dropped and home.journal(sid) is None),
    )
    return found, kept, on_disk


def _summary(text: bytes) -> EntrySummary:
    try:
        line = parse_line(text)
    except FormatError:
        return EntrySummary(-1, "illegible")
    meta = line.meta
    return EntrySummary(line.entry.n, str(meta.get("type")), str(meta.get("recorded")), str(meta.get("session", "")))


# A store that is gone ----------------------------------------------------------------------------------------------------


def restore(home: Home, *, pins: Path = PINS) -> Difference:
    """Bring the ledger of a store that is gone back from its signer; of one that is there only tell what differs.

    Raises:
        NotFoundError: no administrator wrote down a signer for this folder. JournalError: the signer is not the one that
            was written down or keeps no entries, or the disk refuses.
    """
    pin = _pin_of(home, pins)
    if os.geteuid() != pin.owner:
        raise JournalError(f"the store is user {pin.owner}'s", hint="run it as that user")
    user, _ = ask_status(Path(pin.socket))
    if user != pin.signer:
        raise JournalError(f"user {user} listens at {pin.socket}, not the signer's user {pin.signer}")
    key = current_key(pin)
    signer = SignerAt(SignerPlace(pin.socket, key))
    home.make_folder(home.folder)
    with one_writer(home.folder):
        found, kept, _ = differences(home, pin.store, signer)
        if home.exists:
            return found
        if not kept:
            raise JournalError("the signer keeps no entries of this store", hint="it is older than that, or new")
        for folder in (home.journals, home.note.parent, home.blobs, home.key.parent):
            home.make_folder(folder)
        write_signer_place(home, Path(pin.socket), signer.public)
        _put(home, signer, pin.store, kept)
    return found


def _pin_of(home: Home, pins: Path) -> Pin:
    here = home.folder.absolute()
    found = next((pin for pin in read_pins(pins) if Path(pin.home) == here), None)
    if found is None:
        raise NotFoundError(
            f"no store at {here}, and no signer is written down for one",
            hint="create one with `tally init`, or name the folder that it had with --home",
        )
    return found


def _put(home: Home, signer: SignerAt, store: str, kept: Sequence[bytes]) -> None:
    """Put the signer's entries and its head over them in the place of what is there."""
    tree = Frontier()
    for line in kept:
        entry = skim(line)
        if entry is None or entry.sid != store or entry.n != tree.size:
            raise JournalError("what the signer keeps is no ledger of this store", hint="run `tally signer status`")
        tree.append(entry.hash)
    growth = Growth(
        store_id=store,
        size=tree.size,
        root=tree.root(),
        signed_size=tree.size,
        entries=lambda start: kept[start:],
        known=None,
        seconds=_SECONDS,
    )
    text = signer.sign(growth)
    replace_file(home.ledger, (line + b"\n" for line in kept))
    exchange_file(home.note, [text])


# A store that goes on ----------------------------------------------------------------------------------------------------


def recover(home: Home, *, pins: Path = PINS, clock: Callable[[], str] = system_clock) -> Recovery:
    """Go on where the signer refuses: its entries stand, what happened is sealed, and what is honest is signed again.

    Raises:
        NotFoundError: there is no store, or it has no signer. JournalError: the signer still refuses, or the disk does.
    """
    store, place = _store_of(home, pins), signer_place(home)
    if place is None:
        raise NotFoundError("this store has no signer", hint="`tally verify` says what is wrong with it")
    signer = SignerAt(SignerPlace(place.socket, live_key(Path(place.socket), store)))
    found, _, _ = differences(home, store, signer)
    cause = _cause(home, signer, found)
    if cause is None and _is_signed(home):
        return Recovery(difference=found, size=found.on_disk)
    if cause != "old_signer":
        _drop_nothing_signed(home, signer, found, pin_of(store, pins))
    if cause is None:
        cause = "unfit_entries" if found.on_disk > found.kept else "lost_key"
    aside, lines = None, list[bytes]()
    if cause != "old_signer":
        with _held(home.ledger):
            found, kept, on_disk = differences(home, store, signer)
            lines = on_disk[found.common :]
            aside = _set_aside(home, store, found.common, lines, clock)
            _put(home, signer, store, kept)
    archive = open_archive(home)
    try:
        with archive.ledger.locked():
            again = _say(archive, found, cause, lines, aside)
            archive.ledger.follow(signer)
            if signer.public not in archive.ledger.view.keys:
                archive.ledger.append({"type": "key_add", "key": did_key(signer.public)})
            note = archive.ledger.sign(keep=True, seconds=_SECONDS, recovers=True)
    finally:
        archive.close()
    where = None if aside is None else str(aside)
    return Recovery(difference=found, cause=cause, aside=where, said_again=again, size=note.size)


def _store_of(home: Home, pins: Path) -> str:
    """The store's id: of a ledger that cannot even be named, what the administrator wrote down."""
    try:
        return read_store(home).store_id
    except FormatError:
        return _pin_of(home, pins).store


@contextlib.contextmanager
def _held(path: Path) -> Iterator[None]:
    """Keep all writers from a journal, whether or not it can be read."""
    try:
        descriptor = open_file(path, os.O_RDWR)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)
    except OSError as error:
        raise JournalError(f"cannot hold {path}: {error.strerror}") from error


def _cause(home: Home, signer: SignerAt, found: Difference) -> str | None:
    """Why the signer refuses, as far as the entries show it."""
    if found.signer_has_more:
        return "lost_entries" if found.common == found.on_disk else "other_entries"
    try:
        note = read_note(home)
        if note is not None and note.size > found.kept and verify_note(note, [signer.public]):
            return "old_signer"
    except (JournalError, FormatError):
        return None
    return None


def _drop_nothing_signed(home: Home, signer: SignerAt, found: Difference, pin: Pin | None) -> None:
    """Refuse where the signer's own signature is over entries on disk that it does not keep: nothing explains them away."""
    try:
        note = read_note(home)
        keys = (bytes(signer.public), *(() if pin is None else row_keys(home, pin)))
        is_signed = note is not None and note.size > found.common and bool(verify_note(note, keys))
    except (JournalError, FormatError):
        return  # a damaged head, or one of another store
    if note is not None and is_signed and root_of(home.ledger, note.size) == note.root:
        raise JournalError(
            f"the signer signed {note.size} entries that are here and keeps {found.kept}, other ones or fewer: its files "
            "were put back",
            hint="restore the newest copy of the signer's files, whole; keep everything as it is",
        )


def _is_signed(home: Home) -> bool:
    """Whether the signer signs the ledger as it is."""
    try:
        archive = open_archive(home)
    except JournalError:
        return False
    try:
        archive.ledger.sign(seconds=_SECONDS)
        place = signer_place(home)
        return place is not None and SignerAt(place).public in archive.ledger.view.keys
    except RefusedBySigner as error:
        if error.code is Code.UNFIT:
            return False
        raise
    finally:
        archive.close()


def _set_aside(home: Home, store: str, start: int, lines: Sequence[bytes], clock: Callable[[], str]) -> Path | None:
    if not lines:
        return None
    home.make_folder(home.torn)
    target = home.torn / f"{store}-{start}-{clock().replace(':', '').replace('.', '')}"
    replace_file(target, (line + b"\n" for line in lines))
    return target


_REASONS = {
    "lost_entries": "the ledger on disk had lost entries that the signer keeps",
    "other_entries": "the ledger on disk had other entries than those that the signer keeps",
    "unfit_entries": "entries had been added that the signer refuses",
    "old_signer": "the signer's files had been put back to older ones",
    "lost_key": "the ledger did not name the key of the signer",
}


def _say(archive: Archive, found: Difference, cause: str, aside: Sequence[bytes], path: Path | None) -> int:
    """Seal what happened; then again what was set aside, as far as a recorder says such things. How many that are."""
    data = b"".join(line + b"\n" for line in aside)
    meta: dict[str, Json] = {
        "type": "recovery",
        "bytes": len(data),
        "cause": cause,
        "from": found.common,
        "taken": found.kept - found.common,
        "aside": len(aside),
    }
    values: dict[str, Json] = {"content.reason": _REASONS[cause]}
    if path is not None:
        values["local.source"] = {"path": path.name, "digest": sha256(data).hexdigest()}
    archive.ledger.append(meta, values)
    again = 0
    for line in aside:
        said = _fields(line)
        meta = dict(said.get("meta", {}))
        is_smaller = meta.get("type") == "session_head" and meta["size"] < archive.ledger.view.covered(meta["session"])
        if meta.get("type") not in KINDS - _KEYS or is_smaller:
            continue
        meta.pop("recorded", None)
        archive.ledger.append(meta, {name: value for name, value in said.items() if name != "meta"})
        again += 1
    return again


def _fields(text: bytes) -> Mapping[str, Json]:
    """What an entry says; nothing where a ledger cannot have it."""
    try:
        line = parse_line(text)
        check_content(line, in_ledger=True)
        return line.fields
    except FormatError:
        return {}
