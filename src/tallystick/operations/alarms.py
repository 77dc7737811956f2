"""Alarms: signs that somebody has put something back, taken something away, or stands in another's place.

Owns looking for them, and the evidence that is kept of each under `trust/evidence/`. What they are found in is outlook's;
that they become alerts is the recorder's.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path

import orjson

from tallystick.errors import JournalError
from tallystick.journal.durable import replace_file
from tallystick.journal.home import Home
from tallystick.journal.ledger import root_of
from tallystick.operations.outlook import Outlook, outlook
from tallystick.seal.ledgercheck import KnownHead
from tallystick.signer.pins import PINS

_MOST_LEDGER_BYTES = 64 << 20


def find_alarms(home: Home, around: Outlook) -> tuple[str, ...]:
    """The alarms around a store, and each head that somebody remembers and that the ledger contradicts."""
    contradicted = (said for head in around.heads if (said := _contradiction(home, head)) is not None)
    return (*around.alarms, *contradicted)


def _contradiction(home: Home, head: KnownHead) -> str | None:
    root = root_of(home.ledger, head.size) if home.ledger.exists() else None
    if root is None:
        return f"{head.who} remembers {head.size} ledger entries, and there are fewer"
    return f"{head.who} remembers another root over the first {head.size} ledger entries" if root != head.root else None


class Alarms:
    """Looks for alarms again and again, and says each once. What was said is remembered beside the evidence."""

    def __init__(self, home: Home, *, pins: Path = PINS) -> None:
        self._home = home
        self._pins = pins
        self._folder = home.folder / "trust" / "evidence"

    def new(self, *, at: str, with_anchors: bool = False, further: Iterable[str] = ()) -> list[str]:
        """The alarms that were not said before; evidence of each is kept.

        Args:
            at: the time, RFC 3339. with_anchors: ask the places off this machine too. further: alarms found elsewhere.

        Raises:
            JournalError: the evidence cannot be written.
        """
        around = outlook(self._home, pins=self._pins, with_anchors=with_anchors)
        fresh = [alarm for alarm in (*find_alarms(self._home, around), *further) if not self._place(alarm).exists()]
        for alarm in fresh:
            self._keep(alarm, around, at)
        return fresh

    def _place(self, alarm: str) -> Path:
        return self._folder / sha256(alarm.encode()).hexdigest()[:16]

    def _keep(self, alarm: str, around: Outlook, at: str) -> None:
        """Keep what speaks for an alarm as it is now: the head, the ledger, and what others remember."""
        place = self._place(alarm)
        self._home.make_folder(place)
        try:
            for path in (self._home.note, self._home.ledger):
                if path.exists() and path.stat().st_size <= _MOST_LEDGER_BYTES:
                    shutil.copyfile(path, place / path.name)
        except OSError as error:
            raise JournalError(f"cannot keep evidence in {place}: {error.strerror}") from error
        heads = [{"who": head.who, "size": head.size, "root": head.root.hex()} for head in around.heads]
        replace_file(place / "alarm.json", [orjson.dumps({"alarm": alarm, "found": at, "others": heads}) + b"\n"])


def kept_alarms(home: Home) -> list[tuple[str, str]]:
    """The alarms of which evidence is kept, newest last: when it was found, and what was said."""
    found = []
    for path in (home.folder / "trust" / "evidence").glob("*/alarm.json"):
        try:
            said = orjson.loads(path.read_bytes())
            found.append((str(said["found"]), str(said["alarm"])))
        except (OSError, ValueError, KeyError, TypeError):
            continue
    return sorted(found)
