"""What others know of a store: its signer, its anchors, and the heads that were kept.

Owns gathering that for verification, and what in it is an alarm: a sign that somebody put something back, took something away
or stands in another's place. Must not judge the ledger: seal.ledgercheck holds it against what is gathered here.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

import msgspec

from tallystick.errors import FormatError, JournalError, NotFoundError, TallystickError
from tallystick.journal.home import Home
from tallystick.operations.anchors import Answer, ask, keys_of
from tallystick.operations.ledger import ledger_entries
from tallystick.operations.signer import SignerReport, signed_beyond, signer_report
from tallystick.seal.keys import named_key
from tallystick.seal.ledgercheck import KnownHead
from tallystick.signer.pins import PINS, read_pins

_CLOCK_STEP = timedelta(minutes=10)


class Outlook(msgspec.Struct, frozen=True, kw_only=True):
    """What others know of a store. `alarms` are signs of tampering, `notes` say why something does not count."""

    signer: SignerReport | None = None
    anchors: tuple[Answer, ...] = ()
    key: str | None = None
    """The did:key that counts, where the administrator wrote one down."""
    heads: tuple[KnownHead, ...] = ()
    alarms: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def _nameless(home: Home, pins: Path, error: TallystickError) -> Outlook:
    """Of a store whose ledger cannot even be named: that it is gone shows where somebody wrote down that it was there."""
    try:
        known = [pin for pin in read_pins(pins) if Path(pin.home) == home.folder.absolute()]
    except JournalError as problem:
        return Outlook(notes=(f"signer: {problem}",))
    alarms = tuple(f"the ledger of store {pin.store} was in this folder: {error}" for pin in known)
    return Outlook(alarms=alarms, key=known[0].key if known else None)


def _clock_alarms(home: Home) -> tuple[str, ...]:
    """Where the ledger's own times go back by more than a clock that is set right does."""
    before: tuple[datetime, int] | None = None
    for entry in ledger_entries(home):
        try:
            at = datetime.fromisoformat(str(entry.meta.get("recorded")))
        except ValueError:
            continue
        if before is not None and before[0] - at > _CLOCK_STEP:
            back = f"{before[0] - at}".partition(".")[0]
            return (f"the clock went back by {back} between ledger entries {before[1]} and {entry.n}",)
        before = (at, entry.n)
    return ()


def outlook(home: Home, *, pins: Path = PINS, with_anchors: bool = False) -> Outlook:
    """Ask all who may know something of a store. Never raises for what they answer.

    Args:
        with_anchors: ask the places off this machine too, which takes a network.
    """
    try:
        signer = signer_report(home, pins)
    except (NotFoundError, FormatError) as error:
        return _nameless(home, pins, error)
    head, beyond = signer.head, signed_beyond(home, signer)
    key = named_key(signer.pin.key) if signer.pin is not None else None
    answers = ask(home, keys_of(home, key)) if with_anchors else ()
    return Outlook(
        signer=signer,
        anchors=answers,
        key=signer.pin.key if signer.pin is not None else None,
        heads=(*((head,) if head is not None else ()), *(head for answer in answers for head in answer.heads)),
        alarms=(
            *signer.alarms,
            *(_clock_alarms(home) if signer.pin is not None else ()),
            *((beyond,) if beyond is not None else ()),
            *(alarm for answer in answers for alarm in answer.alarms),
        ),
        notes=(
            *(f"signer: {problem}" for problem in signer.problems),
            *(note for answer in answers for note in answer.notes),
            *(f"{answer.target.name}: {answer.problem}" for answer in answers if answer.problem is not None),
        ),
    )
