"""The signer of a store, asked: what it remembers, and whether it is who the administrator says.

Owns the way from a store to what its signer knows of it, for verification and for people, and from the key that the
administrator wrote down to the one that the signer has now, epoch by epoch. Nothing that the store itself says of its
signer counts here. Setting one up: signer_setup.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from tallystick.errors import FormatError, JournalError, TallystickError
from tallystick.journal.home import Home
from tallystick.journal.ledger import read_note
from tallystick.journal.signing import PATIENCE_SECONDS, SignerAt, SignerPlace, exchange, signer_place
from tallystick.model.verdict import Level
from tallystick.recording.store_identity import read_store
from tallystick.seal.epochs import Epoch, epoch_of
from tallystick.seal.extension import PROTOCOL
from tallystick.seal.keys import named_key
from tallystick.seal.ledgercheck import KnownHead
from tallystick.seal.note import verify_note
from tallystick.signer.peers import user_of
from tallystick.signer.pins import PINS, Pin, parse_status, read_pins
from tallystick.signer.server import STATUS
from tallystick.workspace.ledger import ledger_entries


class Followed(msgspec.Struct, frozen=True, kw_only=True):
    """Where the epochs of a signer lead.

    `keys` are those that may have signed the newest head, and the one that the signer has now, which is the last.
    """

    keys: tuple[str, ...]
    newest: Epoch | None = None
    """The end of the newest epoch that is over."""
    ends: tuple[Epoch, ...] = ()
    """Those that the ledger does not have."""
    problem: str | None = None
    """Why they are not known."""
    alarm: str | None = None
    """Why the signer's key does not follow."""

    def is_late(self, now: str) -> bool:
        """Whether the epoch that it is now should have ended."""
        return self.newest is not None and now > self.newest.due

    def told(self, now: str) -> str:
        """Where they stand, for a person."""
        if self.newest is None:
            return "the first one; none has ended yet"
        ended = f"epoch {self.newest.epoch:,} ended {self.newest.ended}, its key is erased"
        if not self.is_late(now):
            return ended
        return f"{ended}; the next was to end by {self.newest.due}: no signer did it"


def follow_epochs(home: Home, pin: Pin, key: str) -> Followed:
    """Follow a store's epochs to the did:key that its signer said it has, or beyond: it may have ended one since."""
    sealed = [end for entry in ledger_entries(home, holding=b'"epoch"') if (end := epoch_of(entry.meta)) is not None]
    signer = SignerAt(SignerPlace(pin.socket, pin.key))
    try:
        ends = tuple(signer.ends(pin.store, sealed[-1].key if sealed else None))
    except JournalError as error:
        return Followed(keys=(pin.key,), problem=str(error))
    followed = list(_followed(sealed, pin.key, pin.store))
    sealed_keys = [pin.key, *(end.key for end in followed)]
    followed += _followed(ends, sealed_keys[-1], pin.store)
    keys = [pin.key, *(end.key for end in followed)]
    alarm = None
    if key in sealed_keys[:-1]:
        epoch = sealed_keys.index(key) + 1
        alarm = f"the signer has the key of epoch {epoch} of {len(sealed_keys)}: its files were put back"
    elif key not in keys:
        alarm = "the signer has another key than follows from the one that the administrator wrote down"
    recent = tuple(dict.fromkeys((*sealed_keys[-2:], *keys[len(sealed_keys) :][-2:])))
    return Followed(keys=recent, newest=followed[-1] if followed else None, ends=ends, alarm=alarm)


def _followed(ends: Iterable[Epoch], key: str, store: str) -> Iterator[Epoch]:
    """Those that lead on from a key."""
    for end in ends:
        before = named_key(key)
        if before is not None and end.is_by(before, store):
            key = end.key
            yield end


class SignerReport(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a store's signer.

    `problems` keep it from counting (it does not answer, it is not who it should be); `alarms` are signs of tampering.
    """

    store: str
    pin: Pin | None = None
    is_configured: bool = False
    """Whether the store itself has its heads signed by a signer."""
    answers_as: int | None = None
    """The user whose process answers."""
    size: int | None = None
    root: bytes | None = None
    signed_at: str | None = None
    kept: int | None = None
    """How many entries it keeps; None: it is an older signer, which only has their hashes."""
    epochs: Followed | None = None
    """Where its epochs lead, if its key is one that is erased."""
    refusals: dict[str, int] = {}
    """What it refused since it started, by kind."""
    problems: tuple[str, ...] = ()
    alarms: tuple[str, ...] = ()

    @property
    def keys(self) -> tuple[bytes, ...]:
        """The keys under which its heads count: the one written down, and those that follow by its epochs."""
        if self.epochs is not None:
            names = self.epochs.keys
        elif self.pin is None:
            names = ()
        else:
            names = (self.pin.key,)
        return tuple(key for name in names if (key := named_key(name)) is not None)

    @property
    def head(self) -> KnownHead | None:
        """What the signer remembers, where it counts."""
        if self.size is None or self.root is None or self.problems:
            return None
        return KnownHead(who="the signer", size=self.size, root=self.root, level=Level.A3, at=self.signed_at)


class _Log(msgspec.Struct, frozen=True):
    """What a signer says of one log."""

    store: str
    key: str
    size: int
    root: str
    signed_at: str | None = None
    kept: int | None = None


class _Said(msgspec.Struct, frozen=True):
    """What a signer says of itself, as far as it counts."""

    logs: tuple[_Log, ...]
    refusals: dict[str, int] = {}


def signer_report(home: Home, pins: Path = PINS) -> SignerReport:
    """What is known of the signer of a store.

    Raises:
        NotFoundError: there is no store. FormatError: its ledger begins with something else.
    """
    store = read_store(home).store_id
    try:
        configured = signer_place(home) is not None
        known = list(read_pins(pins))
    except JournalError as error:
        return SignerReport(store=store, problems=(str(error),))
    pin = next((pin for pin in known if pin.store == store), None)
    if pin is None:
        moved = [each for each in known if Path(each.home) == home.folder.absolute()]
        alarms = tuple(f"the store in this folder was {each.store}; another one is in its place" for each in moved)
        return SignerReport(store=store, is_configured=configured, alarms=alarms)
    if configured:
        alarms = ()
    else:
        alarms = ("the store says nothing of its signer any more: keys/signer.json is gone",)
    return _asked(home, SignerReport(store=store, pin=pin, is_configured=configured, alarms=alarms), pin)


def signed_beyond(home: Home, report: SignerReport) -> str | None:
    """That the signer's state is an old one: the store has a head with its signature over more than it remembers."""
    if report.size is None:
        return None
    try:
        note = read_note(home)
        if note is None or not verify_note(note, report.keys) or note.size <= report.size:
            return None
    except (JournalError, FormatError):
        return None  # what is wrong with the head is verification's to say
    return (
        f"the signer has signed {note.size} entries and remembers {report.size}: its state was put back to an older one"
    )


def _asked(home: Home, report: SignerReport, pin: Pin) -> SignerReport:
    try:
        user, said = ask_status(Path(pin.socket))
    except (JournalError, FormatError) as error:
        return msgspec.structs.replace(report, problems=(str(error),))
    problems, alarms = [], []
    if user != pin.signer:
        problems.append(f"user {user} listens at {pin.socket}, not the signer's user {pin.signer}")
        if user is not None:
            alarms += problems
    if pin.signer == pin.owner:
        problems.append("the signer runs as the user who records: it guards against accidents, not against that user")
    try:
        told = msgspec.convert(said, _Said)
        log = next((log for log in told.logs if log.store == pin.store), None)
        root = bytes.fromhex(log.root if log is not None else "")
    except (msgspec.ValidationError, ValueError) as error:
        problems.append(f"the signer's answer is none: {error}")
        return msgspec.structs.replace(
            report, answers_as=user, problems=tuple(problems), alarms=(*report.alarms, *alarms)
        )
    if log is None:
        problems.append("the signer knows nothing of this store, or does not tell this user")
        if not alarms and os.geteuid() in (0, pin.owner):  # whom it tells
            alarms.append("the signer knows nothing of this store any more, and signs none of it")
        return msgspec.structs.replace(
            report, answers_as=user, problems=tuple(problems), alarms=(*report.alarms, *alarms)
        )
    epochs = follow_epochs(home, pin, log.key) if pin.epoch_seconds is not None else None
    if epochs is None and log.key != pin.key:
        problems.append("the signer has another key than the administrator wrote down")
        alarms.append(problems[-1])
    if epochs is not None:
        problems += [found for found in (epochs.problem, epochs.alarm) if found is not None]
        alarms += [epochs.alarm] if epochs.alarm is not None else []
    return msgspec.structs.replace(
        report,
        answers_as=user,
        size=log.size,
        root=root,
        signed_at=log.signed_at,
        kept=log.kept,
        epochs=epochs,
        refusals=told.refusals,
        problems=tuple(problems),
        alarms=(*report.alarms, *alarms),
    )


def live_key(path: Path, store: str) -> str:
    """The did:key that a signer signs a store with now, as it says. Raises JournalError: it has none, or says nothing."""
    try:
        told = msgspec.convert(ask_status(path)[1], _Said)
    except (FormatError, msgspec.ValidationError) as error:
        raise JournalError(f"the signer at {path} does not say what it signs: {error}") from error
    key = next((log.key for log in told.logs if log.store == store), None)
    if key is None:
        raise JournalError(
            f"the signer at {path} knows nothing of store {store}", hint="`tally signer init` makes a key"
        )
    return key


def is_outdated(pin: Pin) -> bool:
    """Whether the signer that runs is of an older version than this program."""
    try:
        return ask_status(Path(pin.socket))[1].get("protocol") != PROTOCOL
    except TallystickError:
        return False


def row_keys(home: Home, pin: Pin) -> tuple[bytes, ...]:
    """The key that was written down, and those that follow from it by the ends of epochs that the ledger has."""
    sealed = [end for entry in ledger_entries(home, holding=b'"epoch"') if (end := epoch_of(entry.meta)) is not None]
    names = (pin.key, *(end.key for end in _followed(sealed, pin.key, pin.store)))
    return tuple(key for name in names if (key := named_key(name)) is not None)


def current_key(pin: Pin) -> str:
    """The did:key that a store's signer signs with now, which is the one written down, or follows from it by its epochs.

    Raises: JournalError: it is another, or no one answers.
    """
    key = live_key(Path(pin.socket), pin.store)
    signer = SignerAt(SignerPlace(pin.socket, pin.key))
    ends = () if pin.epoch_seconds is None else tuple(signer.ends(pin.store, None))
    if key not in (pin.key, *(end.key for end in _followed(ends, pin.key, pin.store))):
        raise JournalError("the signer has another key than the administrator wrote down", hint="`tally signer status`")
    return key


def ask_status(path: Path) -> tuple[int | None, dict[str, object]]:
    """Which user answers at a signer's socket, and what it says of itself.

    Raises: JournalError: no one answers. FormatError: the answer is none.
    """
    users: list[int | None] = []
    data = exchange(
        path,
        STATUS,
        until=time.monotonic() + PATIENCE_SECONDS,
        met=lambda connection: users.append(user_of(connection)),
    )
    return users[0], parse_status(data)
