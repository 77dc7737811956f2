"""A new key for a signer that can go on no more: `sudo tally signer recover --new-key`.

Owns comparing what the old key signed with the ledger as it is, setting the signer's files aside, and the sealed entry that
says so (docs/format.md 9.6). It is root who decides, since root wrote down who signs; nothing that the old key signed is
declared void by it: what is not in the ledger is named. Must not judge sessions: verification does.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec

from tallystick.errors import FormatError, JournalError, NotFoundError, TallystickError
from tallystick.journal.archive import system_clock
from tallystick.journal.home import Home
from tallystick.journal.ledger import read_note, roots_of
from tallystick.journal.signing import write_signer_place
from tallystick.model.step import Json
from tallystick.recording.store import open_archive
from tallystick.seal.keys import PublicKey, did_key, named_key
from tallystick.seal.note import verify_note
from tallystick.signer.entry_file import entries_path
from tallystick.signer.epochs import epochs_path
from tallystick.signer.pins import Pin, check_guarded, read_pins, write_pin
from tallystick.signer.server import SUFFIX
from tallystick.signer.vault import signed_heads, vault_owner
from tallystick.trust.drop_privileges import as_user
from tallystick.trust.signer import ask_status, row_keys
from tallystick.trust.signer_program import Places, usual_places
from tallystick.trust.signer_setup import Plan, make_signer_key, start
from tallystick.trust.sudo_command import as_root

_REASON = "the signer could go on no more, and the administrator gave it another key"
_MOST_NAMED = 20


class NewKey(msgspec.Struct, frozen=True, kw_only=True):
    """The result: the key, and what is known of the old one."""

    pin: Pin
    old_key: str
    agreed: int
    """How many entries of the ledger the old key is known to have signed."""
    unknown: tuple[int, ...]
    """The sizes of the heads that it signed over other entries, or over more than there are."""
    aside: tuple[str, ...]
    """The signer's files that were set aside."""


class _Past(msgspec.Struct, frozen=True):
    """How the ledger agrees with heads: up to which size, and with which of them it does not."""

    agreed: int
    unknown: tuple[int, ...]


def give_new_key(
    home: Home,
    *,
    places: Places | None = None,
    seeds: Callable[[int], bytes] = os.urandom,
    clock: Callable[[], str] = system_clock,
) -> NewKey:
    """Set the signer's files of a store aside, give it a new key, and seal in the ledger that this was done.

    Raises:
        NotFoundError: no administrator wrote down a signer for this folder. JournalError: the signer can go on as it is, it
            signed nothing of this ledger, or something cannot be written.
    """
    places = places or usual_places()
    if os.geteuid() != 0:
        raise JournalError(
            "only root can give another user's signer a new key", hint=as_root("signer recover --new-key", home)
        )
    folder = home.folder.absolute()
    pin = next((pin for pin in read_pins(places.pins) if Path(pin.home) == folder), None)
    if pin is None:
        raise NotFoundError(f"no signer is written down for {folder}", hint="run `tally signer status`")
    check_guarded(folder, trusted=frozenset((0, pin.owner)))
    vault = places.folder / f"{pin.store}{SUFFIX}"
    old = _parsed(as_user(pin.signer, lambda: did_key(vault_owner(vault)[0])))
    past = _past(home, pin, vault, old)
    aside = tuple(filter(None, as_user(pin.signer, lambda: _set_aside(vault, clock())).split("\n")))
    public = make_signer_key(places, _plan(home, pin, places), pin.signer, seeds, clock)
    start(places, pin.signer)
    new = msgspec.structs.replace(pin, key=did_key(public))
    write_pin(new, places.pins)
    reason = _REASON
    if past.unknown:
        sizes = ", ".join(map(str, past.unknown[-_MOST_NAMED:]))
        reason = f"{_REASON}; the old one signed heads that are not of this ledger, of {sizes} entries"
    meta: dict[str, Json] = {
        "type": "recovery",
        "bytes": 0,
        "cause": "new_key",
        "from": past.agreed,
        "taken": 0,
        "aside": 0,
    }
    as_user(pin.owner, lambda: _seal(home, Path(pin.socket), public, meta, reason))
    return NewKey(pin=new, old_key=did_key(old), agreed=past.agreed, unknown=past.unknown, aside=aside)


def _parsed(name: str) -> PublicKey:
    """The key of a did:key of ours."""
    key = named_key(name)
    if key is None:
        raise JournalError(f"{name} is not a key", hint="restore the signer's files, whole")
    return PublicKey(key)


def _plan(home: Home, pin: Pin, places: Places) -> Plan:
    return Plan(
        store=pin.store,
        home=home.folder.absolute(),
        owner=pin.owner,
        user=str(pin.signer),
        uid=pin.signer,
        places=places,
        epochs=pin.epoch_seconds,
        steps=(),
    )


def _past(home: Home, pin: Pin, vault: Path, old: PublicKey) -> _Past:
    """How the ledger agrees with what the old key signed. Raises JournalError: there is no need for another, or no ledger."""
    said = as_user(pin.signer, lambda: msgspec.json.encode(signed_heads(vault)).decode())
    heads = msgspec.json.decode(said, type=tuple[tuple[int, str], ...])

    def compare() -> str:
        return msgspec.json.encode(_compared(home, heads, (bytes(old), *row_keys(home, pin)))).decode()

    found = msgspec.json.decode(as_user(pin.owner, compare), type=_Past)
    if not found.agreed:
        raise JournalError(
            "the signer's key signed nothing of this ledger: it is another one",
            hint="keep everything as it is: `tally verify` says what is wrong",
        )
    newest = max((size for size, _ in heads), default=0)
    if found.agreed <= newest and (not found.unknown or _keeps(pin, newest)):
        raise JournalError("the signer can go on with the key that it has", hint="run `tally signer recover`")
    return found


def _keeps(pin: Pin, size: int) -> bool:
    """Whether the signer has all entries that it signed, so that the ledger can go on from those."""
    try:
        logs = ask_status(Path(pin.socket))[1].get("logs")
    except TallystickError:
        return False
    if not isinstance(logs, list):
        return False
    return any(log.get("store") == pin.store and log.get("kept") == size for log in logs if isinstance(log, dict))


def _compared(home: Home, heads: Iterable[tuple[int, str]], keys: tuple[bytes, ...]) -> _Past:
    """Compare the ledger with the heads that the signer remembers, and with the one beside it, if the signer signed it."""
    known = list(heads)
    try:
        note = read_note(home)
        if note is not None and verify_note(note, keys):
            known.append((note.size, note.root.hex()))
    except (JournalError, FormatError):
        pass  # a damaged head says nothing
    roots = roots_of(home.ledger, {size for size, _ in known})
    agreed = max((size for size, root in known if _hex(roots.get(size)) == root), default=0)
    return _Past(agreed, tuple(sorted({size for size, root in known if _hex(roots.get(size)) != root})))


def _hex(root: bytes | None) -> str:
    return "" if root is None else root.hex()


def _set_aside(vault: Path, now: str) -> str:
    """Give the signer's files other names; which they are, a line each."""
    stamp = now.replace(":", "").replace(".", "")
    names = []
    for path in (entries_path(vault), epochs_path(vault), vault):  # the key last: without it the others are made again
        if path.exists():
            names.append(path.rename(path.with_name(f"{path.name}.before-{stamp}")))
    return "\n".join(map(str, names))


def _seal(home: Home, socket: Path, public: PublicKey, meta: dict[str, Json], reason: str) -> str:
    """Seal what was done, the new key, and the end of all others."""
    write_signer_place(home, socket, public)
    archive = open_archive(home)
    try:
        with archive.ledger.locked():
            others = [key for key in archive.ledger.view.keys if key != public]
            archive.ledger.append(meta, {"content.reason": reason})
            archive.ledger.append({"type": "key_add", "key": did_key(public)})
            for key in others:
                archive.ledger.append({"type": "key_retire", "key": did_key(PublicKey(key))})
            archive.sign(keep=True)
    finally:
        archive.close()
    return ""
