"""The newest word from outside that this store has: what a journal begins with, so that it cannot have begun before.

Owns one small file, `trust/newest.json`, which is not evidence itself: what counts is that a sealed step names what
only the place outside could give. Of a time stamp that is the digest of the token, which no one could have known
before; a commit or a number in a stream says no more than the order of things.
"""

from __future__ import annotations

import orjson

from tallystick.anchors.kept import Kept
from tallystick.errors import FormatError, JournalError
from tallystick.journal.durable import replace_file
from tallystick.journal.home import Home
from tallystick.journal.opening import read_whole
from tallystick.journal.read import read_session
from tallystick.model.step import Json

FIELD = "content.not_before"
"""The value of a `session_start` that has it: kind, target, receipt, at, digest."""

_MEMBERS = ("kind", "target", "receipt", "at", "digest")
_MOST = 2_000


def keep_newest(home: Home, kind: str, target: str, kept: Kept) -> None:
    """Remember what a place outside gave last. Raises JournalError: it cannot be written."""
    said = {"kind": kind, "target": target, "receipt": kept.receipt, "at": kept.at, "digest": kept.digest}
    home.make_folder(home.folder / "trust")
    replace_file(home.folder / "trust" / "newest.json", [orjson.dumps(said)])


def newest(home: Home) -> dict[str, Json]:
    """What a journal is to begin with: a value by its name; nothing where the store was anchored nowhere."""
    try:
        said = orjson.loads(read_whole(home.folder / "trust" / "newest.json"))
    except (OSError, JournalError, orjson.JSONDecodeError):
        return {}
    value = _members(said)
    if value:
        return {FIELD: value}
    return {}


def _members(said: object) -> dict[str, Json]:
    if not isinstance(said, dict):
        return {}
    return {name: said[name][:_MOST] for name in _MEMBERS if isinstance(said.get(name), str)}


def began_after(home: Home, sid: str) -> dict[str, Json]:
    """What a session's first entry names: it was not there before that. Nothing where it names nothing, or is gone."""
    try:
        first = next(iter(read_session(home, sid)), None)
    except (JournalError, FormatError):
        return {}
    if first is not None:
        return _members(first.values.get(FIELD))
    return {}
