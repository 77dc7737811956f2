"""The spool: deliveries that hooks kept on disk while no recorder answered.

Owns reading them back in order, whether our hook wrote them, and removing each once it is recorded. Owns the file
`run/unfinished.json` too, in which one recorder tells the next which transcripts it followed: a hint, without which
nothing is lost that `tally import` would not find.
"""

from __future__ import annotations

import contextlib
import hmac
import os
import stat
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
from msgspec.structs import replace

from tallystick.errors import FormatError, JournalError
from tallystick.guard.fallback_decision import ON_ERROR
from tallystick.journal.durable import replace_file
from tallystick.journal.opening import open_file, read_whole
from tallystick.live.delivery import Delivery, Unfinished
from tallystick.model.decision import Decision, Effect
from tallystick.model.pattern import pattern_of
from tallystick.service.wire import MOST_DATA, MOST_HEADER, moment, read_header

_AFTER = pattern_of(rb"(?:\nMAC (?P<code>[0-9a-f]{64})?\n)?")
"""What follows a delivery: the code by which our hook is known (decision 0068), or nothing."""
_MOST_AFTER = 80
_FORGOTTEN_SECONDS = 60.0
"""After so long no one writes to a file any more: its hook, which has two seconds, was killed."""


def waiting(folder: Path, *, now: float | None = None) -> list[Path]:
    """Deliveries in the spool, oldest first, with those that a killed hook has left half-written."""
    if now is None:
        now = time.time()
    try:
        return sorted(path for path in folder.iterdir() if path.suffix == ".spool" or _is_forgotten(path, now))
    except OSError:
        return []


def _is_forgotten(path: Path, now: float) -> bool:
    try:
        return path.suffix == ".part" and now - path.stat().st_mtime > _FORGOTTEN_SECONDS
    except OSError:
        return False


def take_back(path: Path, key: bytes | None = None) -> Delivery:
    """A delivery as it was kept. Without the code that the store's `key` of the spool makes, its times are only claims.

    Raises:
        FormatError: the file is not what hook.py writes. OSError: it cannot be read, or is gone.
    """
    status = path.lstat()
    if stat.S_ISLNK(status.st_mode):
        raise FormatError(f"{path.name} is a symbolic link, and no delivery is", hint="look at it, and remove it")
    if not stat.S_ISREG(status.st_mode):
        raise FormatError(f"{path.name} is not a file", hint="look at it, and remove it")
    if status.st_size > MOST_HEADER + MOST_DATA + _MOST_AFTER:
        raise FormatError(f"{path.name} is too large for a delivery", hint="look at it, and remove it")
    with os.fdopen(open_file(path, os.O_RDONLY), "rb") as file:
        line = file.readline(MOST_HEADER)
        data = file.read()
    header = read_header(line)
    data, after = data[: header.length], data[header.length :]
    found = _AFTER.fullmatch(after)
    if len(data) != header.length or found is None:
        length = len(data) + len(after)
        raise FormatError(f"{path.name} is {length} bytes long and says {header.length}", hint="it was cut")
    name = path.name.split(".")
    delivery = header.delivery(data, spooled=True)
    if not _is_by(key, f"{name[0]}\n".encode() + line + data, found["code"]):
        return replace(delivery, received=moment(time.time_ns()), claimed=delivery.received)
    if len(name) == 4 and _is_by(key, f"{name[0]}.{name[1]}".encode(), name[2].encode()):
        return replace(delivery, decided=_decided_before(name[1]))
    return delivery


def _is_by(key: bytes | None, said: bytes, code: bytes | None) -> bool:
    """Whether who wrote the code had the key."""
    return key is not None and hmac.compare_digest(hmac.digest(key, said, "sha256").hex().encode(), code or b"")


def late_answers(folder: Path) -> int:
    """How many calls the setting hooks.on_error answered after their delivery was taken: their hooks say so once."""
    found = 0
    with contextlib.suppress(OSError):
        for path in folder.glob("*.late"):
            path.unlink(missing_ok=True)
            found += 1
    return found


def set_aside(path: Path, torn: Path) -> None:
    """Keep a file that is not a delivery where nothing reads it again."""
    with contextlib.suppress(OSError):
        torn.mkdir(mode=0o700, exist_ok=True)
        path.rename(torn / path.name)


def deliveries(folder: Path, torn: Path, key: bytes | None = None) -> Iterator[tuple[Path, Delivery | FormatError]]:
    """All that waits, with its file; what is not a delivery is set aside."""
    for path in waiting(folder):
        try:
            yield path, take_back(path, key)
        except FormatError as error:
            try:
                yield path, error
            finally:  # who stops here for now has told of it, and would tell of it again
                set_aside(path, torn)
        except OSError:
            continue  # someone else took it


def _decided_before(word: str) -> Decision | None:
    """What the setting hooks.on_error made of the call, as the file's name says. None: policy is asked again."""
    for effect in (Effect.ALLOW, Effect.ASK, Effect.DENY):
        if word == f"on_error-{effect.value}":
            return Decision(effect=effect, rules=(ON_ERROR,), reason="nobody could decide on this call in time")
    return None


def read_unfinished(path: Path) -> list[Unfinished]:
    """What was left; nothing, if the file is missing or damaged."""
    try:
        return msgspec.json.decode(read_whole(path), type=list[Unfinished])
    except (OSError, JournalError, msgspec.DecodeError):
        return []


def write_unfinished(path: Path, unfinished: Sequence[Unfinished]) -> None:
    """Leave it. Raises: JournalError: it cannot be written."""
    replace_file(path, [msgspec.json.encode(unfinished)])
