"""What others know of a store: its signer, its anchors, and the heads that were kept.

Owns gathering that for verification, and what in it is an alarm: a sign that someone put something back, took something
away or is in another's place. Must not judge the ledger: seal.ledgercheck holds it against what is gathered here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from pathlib import Path

import msgspec

from tallystick.errors import FormatError, JournalError, NotFoundError, TallystickError
from tallystick.journal.home import Home
from tallystick.seal.keys import named_key
from tallystick.seal.ledgercheck import KnownHead
from tallystick.signer.pins import PINS, read_pins
from tallystick.trust.anchor_answers import Answer, ask
from tallystick.trust.anchors import Target, keys_of, targets, too_old
from tallystick.trust.signer import SignerReport, signed_beyond, signer_report
from tallystick.workspace import settings
from tallystick.workspace.ledger import ledger_entries

_CLOCK_STEP = timedelta(minutes=10)
_TOO_OLD = "anchors.too_old_hours"


class ExternalEvidence(msgspec.Struct, frozen=True, kw_only=True):
    """What others know of a store. `alarms` are signs of tampering, `notes` say why something does not count."""

    signer: SignerReport | None = None
    anchors: tuple[Answer, ...] = ()
    key: str | None = None
    """The did:key that counts, where the administrator wrote one down."""
    heads: tuple[KnownHead, ...] = ()
    alarms: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def has_asked(self) -> bool:
        """Whether there are places off this machine, and all of them answered."""
        return bool(self.anchors) and all(answer.problem is None for answer in self.anchors)


def _nameless(home: Home, pins: Path, error: TallystickError) -> ExternalEvidence:
    """Of a store whose ledger cannot even be named: that it is gone shows where someone wrote down that it was there."""
    try:
        known = [pin for pin in read_pins(pins) if Path(pin.home) == home.folder.absolute()]
    except JournalError as problem:
        return ExternalEvidence(notes=(f"signer: {problem}",))
    alarms = tuple(f"the ledger of store {pin.store} was in this folder: {error}" for pin in known)
    return ExternalEvidence(alarms=alarms, key=known[0].key if known else None)


def _clock_alarms(home: Home) -> Iterator[str]:
    """Where the ledger's own times first go back by more than a clock that is set right does, or lag behind another's."""
    before: tuple[datetime, int] | None = None
    for entry in ledger_entries(home):
        at = _time(entry.meta.get("recorded"))
        if at is None:
            continue
        if before is not None and before[0] - at > _CLOCK_STEP:
            back = f"{before[0] - at}".partition(".")[0]
            yield f"the clock went back by {back} between ledger entries {before[1]} and {entry.n}"
            return
        theirs = None
        if entry.meta.get("kind") == "tsa":
            theirs = _time(entry.meta.get("ts"))
        if theirs is not None and theirs - at > _CLOCK_STEP:
            behind = f"{theirs - at}".partition(".")[0]
            yield f"the clock was {behind} behind that of {entry.text('content.target')} at ledger entry {entry.n}"
            return
        before = (at, entry.n)


def _time(said: object) -> datetime | None:
    try:
        found = datetime.fromisoformat(str(said))
    except ValueError:
        return None
    if found.tzinfo is None:
        return None
    return found


def _stale(home: Home, places: Sequence[Target], now: float | None) -> tuple[str, ...]:
    """The places that have got nothing for longer than the settings allow; damaged ones allow what is usual."""
    if now is None or not places:
        return ()
    try:
        hours = settings.read_setting(home, _TOO_OLD)
    except TallystickError:
        hours = settings.known_setting(_TOO_OLD).default
    return too_old(home, places, now=now, most_hours=int(str(hours)))


def outlook(
    home: Home,
    *,
    pins: Path = PINS,
    with_anchors: bool = False,
    further: Sequence[Target] = (),
    now: float | None = None,
) -> ExternalEvidence:
    """Ask all who may know something of a store. Never raises for what they answer.

    Args:
        with_anchors: ask the places off this machine too, which takes a network. further: places that someone knows of
            from elsewhere. now: seconds since 1970; None: nothing is too old.
    """
    try:
        signer = signer_report(home, pins)
    except (NotFoundError, FormatError) as error:
        return _nameless(home, pins, error)
    head, beyond = signer.head, signed_beyond(home, signer)
    key = None
    if signer.pin is not None:
        key = named_key(signer.pin.key)
    places = targets(home)
    if with_anchors:
        answers = ask(home, keys_of(home, key), places, further=further, now=now)
    else:
        answers = ()
    return ExternalEvidence(
        signer=signer,
        anchors=answers,
        key=signer.pin.key if signer.pin is not None else None,
        heads=(*((head,) if head is not None else ()), *(head for answer in answers for head in answer.heads)),
        alarms=(
            *signer.alarms,
            *(_clock_alarms(home) if signer.pin is not None or places else ()),
            *_stale(home, places, now),
            *((beyond,) if beyond is not None else ()),
            *(alarm for answer in answers for alarm in answer.alarms),
        ),
        notes=(
            *(f"signer: {problem}" for problem in signer.problems),
            *(note for answer in answers for note in answer.notes),
            *(f"{answer.target.name}: {answer.problem}" for answer in answers if answer.problem is not None),
        ),
    )
