"""What the ledger says (docs/format.md 9, 12): heads of sessions, erasures, retention, keys.

Owns reading the `meta` of ledger entries into a view that verification asks. Must not know whether the entries are
sound, nor how many of them a signed head covers: callers feed it the ones that count.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from tallystick.errors import FormatError
from tallystick.model.step import Json
from tallystick.seal.epochs import epoch_of
from tallystick.seal.keys import named_key


class SessionHead(msgspec.Struct, frozen=True):
    """One `session_head`: the session had `size` entries under `root` (hex), as ledger entry `n` says."""

    size: int
    root: str
    closed: bool
    n: int


class Erasure(msgspec.Struct, frozen=True):
    """Names of one entry that were erased on purpose."""

    entry: str
    names: frozenset[str]


class DropContent(msgspec.Struct, frozen=True):
    """A sealed retention of a range of entries: `names` may be withheld from `first` to `last`."""

    first: int
    last: int
    names: frozenset[str]


class LedgerView:
    """Everything verification asks of the ledger entries fed to it, in order."""

    def __init__(self) -> None:
        self.size = 0
        self.heads: dict[str, list[SessionHead]] = {}
        self.erasures: dict[str, dict[int, list[Erasure]]] = {}
        self.drops: dict[str, list[DropContent]] = {}
        self.dropped: dict[str, SessionHead] = {}
        self.keys: list[bytes] = []
        """The log keys, as they are: a low-order one among them is refused when it has signed (9.4)."""
        self.epoch_key: str | None = None
        """The did:key that the newest end of an epoch names (docs/format.md 19.8)."""
        self.fallen: list[int] = []
        """The `n` of each head that is smaller than one before of its session (9.3). Such heads count for nothing."""

    def feed(self, meta: Mapping[str, Json]) -> None:
        """Take the `meta` of the next ledger entry.

        Raises:
            FormatError: rule `class`, a member of section 9.2 is missing or of another kind.
        """
        kind = meta.get("type")
        if kind == "session_head":
            self._take_head(meta)
        elif kind == "erasure":
            of_session = self.erasures.setdefault(_text(meta, "session"), {})
            of_session.setdefault(_number(meta, "n"), []).append(Erasure(_text(meta, "entry"), _names(meta)))
        elif kind == "retention":
            self._take_retention(meta)
        elif kind in ("store_start", "key_add"):
            added = named_key(_text(meta, "key"))
            if added is not None and added not in self.keys:
                self.keys += [added]
            end = epoch_of(meta)
            if end is not None:
                self.epoch_key = end.key
        elif kind == "key_retire":
            retired = named_key(_text(meta, "key"))
            self.keys = [key for key in self.keys if key != retired]
        self.size += 1

    def _take_head(self, meta: Mapping[str, Json]) -> None:
        session = _text(meta, "session")
        head = SessionHead(_number(meta, "size"), _text(meta, "root"), meta.get("closed") is True, self.size)
        if head.size < self.covered(session):
            self.fallen.append(self.size)
        else:
            self.heads.setdefault(session, []).append(head)

    def _take_retention(self, meta: Mapping[str, Json]) -> None:
        action = meta.get("action")
        if action == "drop_content":
            drop = DropContent(_number(meta, "from"), _number(meta, "to"), _names(meta))
            self.drops.setdefault(_text(meta, "session"), []).append(drop)
        elif action == "drop_session":
            head = SessionHead(_number(meta, "size"), _text(meta, "root"), False, self.size)
            self.dropped[_text(meta, "session")] = head

    def only(self, session: str) -> LedgerView:
        """The part of the view that concerns one session: what is sent to another process."""
        part = LedgerView()
        part.size = self.size
        if session in self.heads:
            part.heads = {session: self.heads[session]}
        else:
            part.heads = {}
        if session in self.erasures:
            part.erasures = {session: self.erasures[session]}
        else:
            part.erasures = {}
        if session in self.drops:
            part.drops = {session: self.drops[session]}
        else:
            part.drops = {}
        if session in self.dropped:
            part.dropped = {session: self.dropped[session]}
        else:
            part.dropped = {}
        return part

    def covered(self, session: str) -> int:
        """The size of a session's last head; 0 if it has none."""
        heads = self.heads.get(session)
        if heads:
            return heads[-1].size
        return 0

    def erases(self, session: str, n: int, entry: str, name: str) -> bool:
        """Whether an erasure names this value of entry `n`, whose hash is `entry`."""
        found = self.erasures.get(session, {}).get(n, ())
        return any(erasure.entry == entry and name in erasure.names for erasure in found)

    def releases(self, session: str, n: int, entry: str, name: str) -> bool:
        """Whether an erasure or retention explains that this value of entry `n` is gone (12.2)."""
        drops = self.drops.get(session, ())
        dropped = any(drop.first <= n <= drop.last and name in drop.names for drop in drops)
        return dropped or self.erases(session, n, entry, name)


def _text(meta: Mapping[str, Json], member: str) -> str:
    value = meta.get(member)
    if not isinstance(value, str):
        raise FormatError(f"meta has no {member}", rule="class")
    return value


def _number(meta: Mapping[str, Json], member: str) -> int:
    value = meta.get(member)
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise FormatError(f"meta has no number {member}", rule="class")
    return value


def _names(meta: Mapping[str, Json]) -> frozenset[str]:
    value = meta.get("names")
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise FormatError("meta has no names", rule="class")
    return frozenset(value)
