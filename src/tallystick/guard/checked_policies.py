"""What the engine said of the shipped policies, kept in the package: to check them takes longer than all else at a start.

Owns that file, and by what it is known to be of these policies, this schema and this engine. Must not know what a policy
says.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path

import msgspec

from tallystick.errors import PolicyError
from tallystick.policy.cedar.parsing import Checked

PLACE = Path(__file__).with_suffix(".json")
_ENGINE = "cedarpy._internal"


class _Kept(msgspec.Struct, frozen=True, kw_only=True):
    stamp: str
    checked: dict[str, Checked]


def stamp_of(texts: Iterable[str]) -> str:
    """What tells texts, read by this engine, from others."""
    found = find_spec(_ENGINE)
    parts = list(texts)
    if found is not None and found.origin is not None:
        status = Path(found.origin).stat()
        parts.append(f"{found.origin} {status.st_size} {status.st_mtime_ns}")
    return sha256("\0".join(f"{len(part)} {part}" for part in parts).encode()).hexdigest()


def kept(stamp: str, make: Callable[[], dict[str, Checked]], place: Path = PLACE) -> Mapping[str, Checked]:
    """What is kept under a stamp, else what `make` gives, which is kept then; nothing where it cannot be made.

    Where the package cannot be written to, it is made at each start.
    """
    with suppress(OSError, msgspec.DecodeError):
        found = msgspec.json.decode(place.read_bytes(), type=_Kept)
        if found.stamp == stamp:
            return found.checked
    try:
        made = make()
    except PolicyError:  # anyone who loads them is told
        return {}
    with suppress(OSError):
        _store(msgspec.json.encode(_Kept(stamp=stamp, checked=made)), place)
    return made


def _store(content: bytes, place: Path) -> None:
    """Put it in its place, whole or not at all: other processes may read or write it meanwhile."""
    import tempfile

    handle, name = tempfile.mkstemp(dir=place.parent, prefix=f".{place.name}.")
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        temporary.chmod(0o644)  # mkstemp's 0600 would hide it from the other users of an installation
        temporary.replace(place)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
