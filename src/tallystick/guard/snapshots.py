"""States of families as they are kept from one recorder to the next, so that a history is not judged again.

Owns the files below `state/`: a cache, which verification never reads. One that is of other rules, of a journal that is
another one, or from before an erasure is not used, and is made again from the journals. Must not know what is in a state.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import msgspec

from tallystick.errors import TallystickError
from tallystick.guard.family_reader import Position, is_at
from tallystick.journal.durable import exchange_file
from tallystick.journal.home import Home
from tallystick.journal.kept_states import erasure_mark
from tallystick.journal.opening import open_to_read
from tallystick.state.families import Family
from tallystick.state.family_state import FamilyState

_SUFFIX = ".state"
_MOST_KEPT = 256
_LARGEST = 64 << 20


class Snapshot(msgspec.Struct, frozen=True, kw_only=True):
    """A state, and what it was made of."""

    rules: str
    """The digest of the rules that it follows."""
    erased: str
    """What was erased last before it was begun (`journal.kept_states`)."""
    family: Family
    positions: dict[str, Position]
    """How far each journal was read."""
    state: FamilyState


_DECODER = msgspec.msgpack.Decoder(Snapshot)


class Snapshots:
    """The snapshots of one store."""

    def __init__(self, home: Home, rules: Callable[[], str]) -> None:
        """`rules` gives the digest of what a state follows from besides journals."""
        self._home = home
        self._rules = rules

    def mark(self) -> str:
        """What was erased last. States that were begun before may hold it."""
        return erasure_mark(self._home)

    def load(self, family: Family, journals: dict[str, Path]) -> Snapshot | None:
        """The snapshot of a family whose journals are given by their sessions; None without one that holds."""
        path = self._path(family)
        try:
            with open_to_read(path) as file:
                if os.fstat(file.fileno()).st_size > _LARGEST:
                    return None
                found = _DECODER.decode(file.read())
        except (OSError, TallystickError, msgspec.DecodeError, ValueError, RecursionError):
            return None
        is_current = found.family == family and found.rules == self._rules() and found.erased == self.mark()
        if is_current and all(self._is_at(journals.get(sid), position) for sid, position in found.positions.items()):
            return found
        return None

    def _is_at(self, path: Path | None, position: Position) -> bool:
        return path is not None and is_at(self._home, path, position)

    def keep(self, family: Family, state: FamilyState, positions: dict[str, Position], erased: str) -> bool:
        """Keep the state of a family; whether that was done.

        Args:
            erased: what was erased last when the state was begun.
        """
        snapshot = Snapshot(rules=self._rules(), erased=erased, family=family, positions=positions, state=state)
        path = self._path(family)
        try:
            data = msgspec.msgpack.encode(snapshot)
            if erased != self.mark() or len(data) > _LARGEST:
                return False
            self._home.make_folder(self._home.states)
            exchange_file(path, [data])
            if erased != self.mark():  # it was erased meanwhile
                path.unlink(missing_ok=True)
                return False
            self._drop_oldest()
        except (TallystickError, OSError, TypeError, ValueError, OverflowError):  # half a surrogate pair, for example
            return False
        return True

    def _drop_oldest(self) -> None:
        found = [path for path in self._home.states.iterdir() if path.suffix == _SUFFIX]
        if len(found) <= _MOST_KEPT:
            return
        with contextlib.suppress(OSError):
            for path in sorted(found, key=lambda path: path.stat().st_mtime)[:-_MOST_KEPT]:
                path.unlink(missing_ok=True)

    def _path(self, family: Family) -> Path:
        named = sha256("\0".join(family).encode("utf-8", "surrogatepass")).hexdigest()
        return self._home.states / f"{named[:32]}{_SUFFIX}"
