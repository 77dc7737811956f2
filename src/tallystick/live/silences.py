"""What a recorder noticed of what it does not hear: who took its place, what is missing, which hooks are gone.

Owns the file `run/silences.json`, in which each stands until it is over, or for a day where it is over as it happens, and
which of them a user was shown at the start of a session. Must not know how any of it is found.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path

import msgspec

from tallystick.errors import JournalError
from tallystick.journal.archive import system_clock
from tallystick.journal.durable import replace_file
from tallystick.journal.opening import read_whole
from tallystick.policy.alert import UNHEARD, UNHOOKED

_LASTING = (UNHOOKED, UNHEARD)
_SHOWN_FOR = timedelta(days=1)
_SAME_FOR = timedelta(minutes=10)
"""What happened may be noticed twice, and is one thing."""
_KEPT_FOR = timedelta(days=7)
_MOST = 64


class Silence(msgspec.Struct, frozen=True, kw_only=True):
    """One of them."""

    rule: str
    """The rule of its alert."""
    about: str = ""
    """The agent, if it is about one."""
    said: str
    found: str
    """RFC 3339."""
    over: str | None = None
    """Since when it is not so any more."""
    shown: bool = False


def read_silences(run: Path) -> tuple[Silence, ...]:
    """All that is in the file, oldest first; nothing, if it is missing or damaged."""
    try:
        return tuple(msgspec.json.decode(read_whole(run / "silences.json"), type=list[Silence]))
    except (OSError, JournalError, msgspec.DecodeError):
        return ()


def standing(silences: Sequence[Silence], now: datetime) -> tuple[Silence, ...]:
    """Those that a user should know of: what is so now, and what happened within a day."""
    return tuple(one for one in silences if one.over is None and (one.rule in _LASTING or _age(one, now) < _SHOWN_FOR))


def _age(one: Silence, now: datetime) -> timedelta:
    try:
        return now - datetime.fromisoformat(one.found)
    except (ValueError, TypeError):
        return _KEPT_FOR


class Silences:
    """The file, as a recorder uses it. Safe for several threads."""

    def __init__(self, run: Path) -> None:
        self._run = run
        self._lock = threading.Lock()
        self._known = list(read_silences(run))

    def note(self, rule: str, said: str, *, about: str = "") -> bool:
        """Something was noticed; whether that is news."""
        with self._lock:
            if any(
                self._is(one, rule, about) and (rule in _LASTING or self._is_same(one, said)) for one in self._known
            ):
                return False
            self._known.append(Silence(rule=rule, about=about, said=said, found=system_clock()))
            self._write()
            return True

    def over(self, rule: str, about: str) -> None:
        """It is not so any more."""
        with self._lock:
            if any(self._is(one, rule, about) for one in self._known):
                at = system_clock()
                replace = msgspec.structs.replace
                self._known = [replace(one, over=at) if self._is(one, rule, about) else one for one in self._known]
                self._write()

    def open(self, rule: str) -> tuple[str, ...]:
        """The agents of which it is so now."""
        with self._lock:
            return tuple(one.about for one in self._known if one.rule == rule and one.over is None)

    def show(self) -> tuple[Silence, ...]:
        """What is to be shown to a user who begins a session: what none was shown before. It counts as shown from now on."""
        with self._lock:
            if all(one.shown for one in self._known):
                return ()
            found = standing([one for one in self._known if not one.shown], datetime.fromisoformat(system_clock()))
            self._known = [msgspec.structs.replace(one, shown=True) for one in self._known]
            self._write()
            return found

    @staticmethod
    def _is_same(one: Silence, said: str) -> bool:
        return one.said == said and _age(one, datetime.fromisoformat(system_clock())) < _SAME_FOR

    @staticmethod
    def _is(one: Silence, rule: str, about: str) -> bool:
        return one.rule == rule and one.about == about and one.over is None

    def _write(self) -> None:
        now = datetime.fromisoformat(system_clock())
        self._known = [one for one in self._known if one in standing([one], now) or _age(one, now) < _KEPT_FOR][-_MOST:]
        with contextlib.suppress(JournalError):  # a full disk: it is known for as long as this process lives
            replace_file(self._run / "silences.json", [msgspec.json.encode(self._known)])
