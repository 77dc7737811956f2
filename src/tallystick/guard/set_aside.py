"""Copies of what a call that was asked about would remove, so that a person can bring it back.

Owns the folder `kept` of a store: what is copied there and what is left out, its limit of size, and bringing files back.
Secrets are never copied: a copy cannot be scrubbed. Must not know why a file would be removed.
"""

from __future__ import annotations

import os
import secrets
import shutil
import time
from collections.abc import Callable, Iterable, Iterator
from hashlib import sha256
from pathlib import Path

import msgspec

from tallystick.capture.loose_work import LooseFile
from tallystick.errors import JournalError, NotFoundError, UsageError
from tallystick.journal.durable import replace_file
from tallystick.journal.home import Home

_MANIFEST = "kept.json"
_PIECE = 1 << 20
_LOOKED_AT = 256 << 10


class KeptFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file that was copied, or that was left out and why."""

    path: str
    size: int
    mode: int = 0o600
    digest: str = ""
    """SHA-256 in hex."""
    left_out: str = ""
    """secret, too large, changed while it was read, no time: it is not copied."""


class SetAside(msgspec.Struct, frozen=True, kw_only=True):
    """What was kept aside before one call."""

    id: str
    at: str
    agent: str
    session: str
    command: str
    files: tuple[KeptFile, ...]
    is_whole: bool = False
    """All files were looked at. Else copying goes on, or was cut off."""

    @property
    def copied(self) -> tuple[KeptFile, ...]:
        """Those that can be brought back."""
        return tuple(file for file in self.files if not file.left_out)


class Removal(msgspec.Struct, frozen=True, kw_only=True):
    """What would be removed, by which call."""

    at: str
    agent: str
    session: str
    command: str
    files: tuple[LooseFile, ...]

    @property
    def size(self) -> int:
        """In bytes."""
        return sum(file.size for file in self.files)


def new_id() -> str:
    """A name for what is kept. It sorts by time."""
    return f"{time.time_ns() // 1_000_000_000:x}-{secrets.token_hex(3)}"


def folder_of(home: Home) -> Path:
    """Where copies are."""
    return home.folder / "kept"


def keep(
    home: Home, name: str, removal: Removal, *, limit: int, is_secret: Callable[[str, str], bool], until: float
) -> SetAside:
    """Copy what would be removed; what does not fit into `limit` bytes, or is a secret, is left out.

    Args:
        is_secret: asked with the path of a file and the beginning of its text.
        until: when to stop, by the clock `time.monotonic`.

    Raises:
        JournalError, OSError: the store cannot be written.
    """
    folder = folder_of(home) / name
    home.make_folder(folder)
    _make_room(home, min(removal.size, limit), limit, name)
    kept = SetAside(
        id=name, at=removal.at, agent=removal.agent, session=removal.session, command=removal.command[:2000], files=()
    )
    done: list[KeptFile] = []
    left = limit
    for number, file in enumerate(removal.files):
        one = _copied(file, folder / f"{number:05}", left, is_secret, until)
        left -= 0 if one.left_out else one.size
        done.append(one)
    kept = msgspec.structs.replace(kept, files=tuple(done), is_whole=True)
    replace_file(folder / _MANIFEST, [msgspec.json.encode(kept)])
    return kept


def _copied(file: LooseFile, to: Path, left: int, is_secret: Callable[[str, str], bool], until: float) -> KeptFile:
    found = KeptFile(path=file.path, size=file.size)
    if time.monotonic() > until:
        return msgspec.structs.replace(found, left_out="no time")
    try:
        source = os.open(file.path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return msgspec.structs.replace(found, left_out="it cannot be read")
    with os.fdopen(source, "rb") as reading:
        state = os.fstat(source)
        if state.st_size > left:
            return msgspec.structs.replace(found, left_out="too large")
        first = reading.read(_LOOKED_AT)
        if is_secret(file.path, first.decode("utf-8", "replace")):
            return msgspec.structs.replace(found, left_out="secret")
        digest, size = sha256(), 0
        target = os.open(to, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(target, "wb") as writing:
            piece = first
            while piece and size <= left and time.monotonic() <= until:
                digest.update(piece)
                size += len(piece)
                writing.write(piece)
                piece = reading.read(_PIECE)
    if piece:
        to.unlink()
        return msgspec.structs.replace(found, left_out="no time")
    return KeptFile(path=file.path, size=size, mode=state.st_mode & 0o777, digest=digest.hexdigest())


def _make_room(home: Home, wanted: int, limit: int, name: str) -> None:
    """Remove the oldest until what is wanted fits."""
    folders = [one for one in sorted(folder_of(home).iterdir()) if one.is_dir() and one.name != name]
    sizes = {one: sum(file.stat().st_size for file in one.iterdir()) for one in folders}
    used = sum(sizes.values())
    for one in folders:
        if used + wanted <= limit:
            return
        shutil.rmtree(one, ignore_errors=True)
        used -= sizes[one]


# Looking, and bringing back -------------------------------------------------------------------------------------------


def list_kept(home: Home) -> list[SetAside]:
    """What is kept, the newest first."""
    return sorted(_read(folder_of(home)), key=lambda one: one.id, reverse=True)


def _read(folder: Path) -> Iterator[SetAside]:
    try:
        names = list(folder.iterdir())
    except OSError:
        return
    for one in names:
        try:
            yield msgspec.json.decode((one / _MANIFEST).read_bytes(), type=SetAside)
        except (OSError, msgspec.DecodeError):  # it is still being written
            continue


def find_kept(home: Home, name: str) -> SetAside:
    """What is kept under a name, or the beginning of one. Raises NotFoundError."""
    found = [one for one in list_kept(home) if one.id.startswith(name)]
    if len(found) != 1:
        raise NotFoundError(f"nothing is kept under {name}", hint="`tally policy restore` lists what is kept")
    return found[0]


def restore(home: Home, kept: SetAside, *, force: bool = False) -> list[str]:
    """Bring files back to where they were; their paths.

    Raises:
        UsageError: something else is there now, and `force` is not given; nothing is written then.
        JournalError: a copy is not as it was made, or a file cannot be written.
    """
    wanted = {number: file for number, file in enumerate(kept.files) if not file.left_out}
    others = [file.path for file in wanted.values() if _differs(file)]
    if others and not force:
        raise UsageError(
            f"{others[0]} is there and holds something else{_more(others)}",
            hint="--force replaces it with what was kept",
        )
    folder = folder_of(home) / kept.id
    for number, file in wanted.items():
        _bring_back(folder / f"{number:05}", file)
    return [file.path for file in wanted.values()]


def _more(paths: Iterable[str]) -> str:
    count = len(list(paths)) - 1
    if not count:
        return ""
    return f", and so do {count} more"


def _differs(file: KeptFile) -> bool:
    try:
        return sha256(Path(file.path).read_bytes()).hexdigest() != file.digest
    except FileNotFoundError:
        return False
    except OSError:
        return True


def _bring_back(copy: Path, file: KeptFile) -> None:
    try:
        data = copy.read_bytes()
        if sha256(data).hexdigest() != file.digest:
            raise JournalError(f"the copy of {file.path} was changed", hint="it is left where it is")
        place = Path(file.path)
        place.parent.mkdir(parents=True, exist_ok=True)
        if str(place.parent.resolve()) != str(place.parent) or place.is_symlink():
            raise JournalError(f"{file.path} leads elsewhere by a link", hint="remove the link, then restore again")
        temporary = place.with_name(f".{place.name}.{secrets.token_hex(4)}")
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, file.mode)
        with os.fdopen(descriptor, "wb") as writing:
            writing.write(data)
        temporary.chmod(file.mode)
        temporary.replace(place)
    except OSError as error:
        raise JournalError(f"{file.path} cannot be brought back: {error.strerror}") from error
