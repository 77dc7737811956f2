"""Alarms: signs that someone has put something back, taken something away, or is in another's place.

Owns looking for them, the evidence that is kept of each under `trust/evidence/`, and when one is over: who looks again and
does not find it says so, the evidence stays. What they are found in is outlook's; that they become alerts is the recorder's.
"""

from __future__ import annotations

import contextlib
import enum
import os
import shutil
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec
import orjson

from tallystick.errors import JournalError
from tallystick.journal.durable import replace_file
from tallystick.journal.home import Home
from tallystick.journal.ledger import roots_of
from tallystick.model.verdict import Level
from tallystick.seal.ledgercheck import KnownHead
from tallystick.signer.pins import PINS
from tallystick.trust.drop_privileges import as_user
from tallystick.trust.external_evidence import ExternalEvidence, outlook

_FILE = "alarm.json"
_MOST_ALARM_BYTES = 1 << 20
_MOST_LEDGER_BYTES = 64 << 20
_MOST_COPIES = 50
"""Of so many alarms the ledger is copied as it was; of more only what was said is kept."""


class By(enum.StrEnum):
    """Who can find an alarm again, and so say that it is over."""

    LOOK = "look"
    """Anyone who looks around the store."""
    PLACES = "places"
    """Anyone who asks the places off this machine."""
    RECORDER = "recorder"
    """The recorder, to which it happened."""


class KeptAlarm(msgspec.Struct, frozen=True, kw_only=True):
    """An alarm of which evidence is kept."""

    alarm: str
    found: str
    """When it was found first, or again after it was over."""
    by: By = By.LOOK
    told: bool = False
    """Whether it was made an alert."""
    over: str | None = None
    """Since when it is not found any more."""
    others: tuple[dict[str, Any], ...] = ()
    """What others remembered when it was found."""


def find_alarms(home: Home, around: ExternalEvidence) -> dict[str, By]:
    """The alarms around a store, and those who remember a head that the ledger contradicts."""
    told_by_places = {alarm for answer in around.anchors for alarm in answer.alarms}
    found = {alarm: By.PLACES if alarm in told_by_places else By.LOOK for alarm in around.alarms}
    if home.ledger.exists():
        roots = roots_of(home.ledger, {head.size for head in around.heads})
    else:
        roots = {}
    contradicted = dict[str, KnownHead]()
    for head in sorted(around.heads, key=lambda head: head.size):
        if roots.get(head.size) != head.root:
            contradicted.setdefault(head.who, head)
    for head in contradicted.values():
        found[_contradiction(head, is_there=head.size in roots)] = By.LOOK if head.level is Level.A3 else By.PLACES
    return found


def _contradiction(head: KnownHead, *, is_there: bool) -> str:
    if is_there:
        return f"{head.who} remembers another root over the first {head.size} ledger entries"
    return f"{head.who} remembers {head.size} ledger entries, and there are fewer"


def open_alarms(home: Home, around: ExternalEvidence) -> tuple[str, ...]:
    """The alarms around a store as it is now, and those found before that this look could not find again."""
    return tuple(dict.fromkeys((*find_alarms(home, around), *open_before(home, around))))


def open_before(home: Home, around: ExternalEvidence) -> tuple[str, ...]:
    """The alarms found before that this look cannot find again, and that no one has found to be over."""
    if around.has_asked:
        unseen = {By.RECORDER}
    else:
        unseen = {By.RECORDER, By.PLACES}
    return tuple(kept.alarm for kept in kept_alarms(home) if kept.by in unseen and kept.over is None)


class Alarms:
    """Looks for alarms again and again, and says each once. What was said is remembered beside the evidence."""

    def __init__(self, home: Home, *, pins: Path = PINS) -> None:
        self._home = home
        self._pins = pins
        self._folder = _folder(home)

    def new(
        self, *, at: str, with_anchors: bool = False, further: Iterable[str] = (), now: float | None = None
    ) -> list[str]:
        """The alarms that were not said before, oldest first; evidence of each is kept. What is not found again is over.

        Args:
            at: the time, RFC 3339. with_anchors: ask the places off this machine too. further: what the recorder found.
            now: the same time in seconds since 1970; None: nothing is too old.

        Raises:
            JournalError: the evidence cannot be written.
        """
        around = outlook(self._home, pins=self._pins, with_anchors=with_anchors, now=now)
        found = {**find_alarms(self._home, around), **dict.fromkeys(further, By.RECORDER)}
        seen = {By.LOOK, By.RECORDER, *((By.PLACES,) if around.has_asked else ())}
        for kept in kept_alarms(self._home):
            if kept.alarm not in found and kept.by in seen and kept.over is None:
                self._write(msgspec.structs.replace(kept, over=at))
        for alarm, by in found.items():
            self._keep(alarm, by, around, at)
        fresh = [kept for kept in kept_alarms(self._home) if not kept.told and kept.over is None]
        for kept in fresh:  # also what someone else found, who asked more
            self._write(msgspec.structs.replace(kept, told=True))
        return [kept.alarm for kept in fresh]

    def keep(self, around: ExternalEvidence, *, at: str) -> None:
        """Keep evidence of what someone found who looked around; the recorder still tells it.

        Raises:
            JournalError: it cannot be written.
        """
        for alarm, by in find_alarms(self._home, around).items():
            self._keep(alarm, by, around, at)

    def _keep(self, alarm: str, by: By, around: ExternalEvidence, at: str) -> KeptAlarm:
        """Keep what speaks for an alarm as it is now: the head, the ledger, and what others remember."""
        before = _kept_alarm(self._place(alarm) / _FILE)
        if before is not None and before.over is None:
            return before
        heads = [{"who": head.who, "size": head.size, "root": head.root.hex()} for head in around.heads[-_MOST_COPIES:]]
        kept = KeptAlarm(alarm=alarm, found=at, by=by, others=tuple(heads))
        if before is None and sum(1 for _ in self._folder.glob("*")) < _MOST_COPIES:
            self._copy(self._place(alarm))
        self._write(kept)
        return kept

    def _copy(self, place: Path) -> None:
        self._home.make_folder(place)
        try:
            for path in (self._home.note, self._home.ledger):
                if path.exists() and path.stat().st_size <= _MOST_LEDGER_BYTES:
                    shutil.copyfile(path, place / path.name)
        except OSError as error:
            raise JournalError(f"cannot keep evidence in {place}: {error.strerror}") from error

    def _write(self, kept: KeptAlarm) -> None:
        self._home.make_folder(self._place(kept.alarm))
        replace_file(self._place(kept.alarm) / _FILE, [orjson.dumps(msgspec.to_builtins(kept)) + b"\n"])

    def _place(self, alarm: str) -> Path:
        return self._folder / sha256(alarm.encode()).hexdigest()[:16]


def keep_evidence(home: Home, around: ExternalEvidence, *, at: str) -> None:
    """Keep evidence of what verification found, with the rights of the store's owner.

    That it cannot be kept is not an error.
    """
    owner = home.folder.stat().st_uid
    if os.geteuid() not in (0, owner):
        return

    def keep() -> str:
        Alarms(home).keep(around, at=at)
        return ""

    with contextlib.suppress(JournalError):
        as_user(owner, keep)


def kept_alarms(home: Home) -> list[KeptAlarm]:
    """The alarms of which evidence is kept, newest last."""
    found = (_kept_alarm(path) for path in _folder(home).glob(f"*/{_FILE}"))
    return sorted((kept for kept in found if kept is not None), key=lambda kept: (kept.found, kept.alarm))


def _folder(home: Home) -> Path:
    return home.folder / "trust" / "evidence"


def _kept_alarm(path: Path) -> KeptAlarm | None:
    try:
        if not path.is_file() or path.stat().st_size > _MOST_ALARM_BYTES:  # a pipe would be waited for
            return None
        return _DECODER.decode(path.read_bytes())
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None


_DECODER = msgspec.json.Decoder(KeptAlarm)
