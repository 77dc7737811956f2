"""What the machine's administrator says of signers: which store is signed by whom, and where to ask.

Owns the files below `/etc/tallystick/signers`, which only root may write, and the check that it is so. What a store itself
says of its signer is a hint for those who record; who verifies believes only this.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import msgspec

from tallystick.errors import FormatError, JournalError
from tallystick.journal.durable import replace_file
from tallystick.seal.canonical import canonical

PINS = Path("/etc/tallystick/signers")
_FOREIGN_WRITE = stat.S_IWGRP | stat.S_IWOTH


class Pin(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One store and its signer. `home` is the store's folder, `owner` the user who records into it.

    Where there are epochs, `key` is that of the first one, and `epoch_seconds` their length.
    """

    store: str
    key: str
    socket: str
    signer: int
    owner: int
    home: str
    epoch_seconds: int | None = None


def write_pin(pin: Pin, folder: Path = PINS) -> Path:
    """Write down who signs a store; where that stands. Raises JournalError: it cannot be written."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o755)
    path = folder / f"{pin.store}.json"
    replace_file(path, [canonical(msgspec.to_builtins(pin)) + b"\n"])
    path.chmod(0o644)
    return path


def read_pins(folder: Path = PINS) -> Iterator[Pin]:
    """All pins.

    Raises:
        JournalError: one may be written by others than root, or is none: then none of them is worth anything.
    """
    if not folder.is_dir():
        return
    check_guarded(folder)
    for path in sorted(folder.glob("*.json")):
        check_guarded(path)
        try:
            yield msgspec.json.decode(path.read_bytes(), type=Pin)
        except (OSError, msgspec.MsgspecError) as error:
            raise JournalError(f"cannot read {path}: {error}", hint="`tally signer init` rewrites it") from error


def check_guarded(path: Path, *, trusted: frozenset[int] = frozenset((0,))) -> None:
    """Check that no one but root, or another of `trusted` users, can change what stands at a path.

    Raises: JournalError: someone can, at the path itself or at a folder or link on the way to it.
    """
    own, real = path.absolute(), Path(os.path.realpath(path))
    for place in dict.fromkeys((own, *own.parents, real, *real.parents)):
        try:
            found = place.lstat()
        except OSError as error:
            raise JournalError(f"cannot examine {place}: {error.strerror}") from error
        # A link's own mode says nothing; and in a folder like /tmp no one replaces what is not theirs.
        is_shared = stat.S_ISDIR(found.st_mode) and bool(found.st_mode & stat.S_ISVTX) and place not in (own, real)
        is_open = bool(found.st_mode & _FOREIGN_WRITE) and not stat.S_ISLNK(found.st_mode) and not is_shared
        if is_open or found.st_uid not in trusted:
            raise JournalError(
                f"other users can change {place}: owner {found.st_uid}, mode {stat.S_IMODE(found.st_mode):o}",
                hint="a file there cannot guard against them",
            )


def pin_of(store: str, folder: Path = PINS) -> Pin | None:
    """The pin of a store; None if no administrator said who signs it. Raises what `read_pins` raises."""
    return next((pin for pin in read_pins(folder) if pin.store == store), None)


def parse_status(data: bytes) -> dict[str, object]:
    """What a signer says of itself. Raises FormatError."""
    code, _, said = data.partition(b"\n")
    try:
        found = None
        if code == b"200":
            found = msgspec.json.decode(said)
    except msgspec.MsgspecError:
        found = None
    if code == b"403":
        raise FormatError("the signer tells of itself only to its own users and root")
    if not isinstance(found, dict):
        raise FormatError("the answer of the signer is invalid")
    return found
