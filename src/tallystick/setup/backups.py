"""What settings files were before we changed them, kept beside the store.

Owns `backups/<agent>/<name>/` in the store's folder: `note.json` and `before`. A file that no one else has changed
since is restored from here to the byte. Must not know how settings are changed.
"""

from __future__ import annotations

import contextlib
from hashlib import sha256
from pathlib import Path

import msgspec

from tallystick.journal.durable import replace_file
from tallystick.journal.home import Home

_NOTE, _BEFORE = "note.json", "before"


class Backup(msgspec.Struct, frozen=True, kw_only=True):
    """One file that was changed."""

    path: str
    after: str
    """SHA-256 of what we wrote, in hex."""
    existed: bool
    """It was there before us; its content is kept beside this note."""
    folders: tuple[str, ...] = ()
    """The folders that we made for it, outermost first."""
    events: tuple[str, ...] = ()
    """Those that call our hook since; empty in notes of before."""

    def is_untouched(self, content: bytes) -> bool:
        """Whether the file is as we left it."""
        return digest(content) == self.after


def digest(content: bytes) -> str:
    """SHA-256 of a content, in hex."""
    return sha256(content).hexdigest()


def read_backup(home: Home, agent: str, path: Path) -> Backup | None:
    """What is known of a file; None if nothing is, or nothing that can be understood."""
    return _read(_folder(home, agent, path) / _NOTE)


def backups_of(home: Home, agent: str) -> Path:
    """The folder that has a folder a file of an agent that we changed."""
    return home.folder / "backups" / agent


def note_of(home: Home, agent: str, path: Path) -> Path:
    """Where what is known of a file is kept; written with each installation."""
    return _folder(home, agent, path) / _NOTE


def read_before(home: Home, agent: str, path: Path) -> bytes | None:
    """The content that a file had before us; None if that is not kept."""
    try:
        return (_folder(home, agent, path) / _BEFORE).read_bytes()
    except OSError:
        return None


def keep(home: Home, agent: str, backup: Backup, before: bytes) -> None:
    """Keep what a file was.

    Raises:
        JournalError: the store's folder cannot be written.
    """
    folder = _folder(home, agent, Path(backup.path))
    for each in (home.folder, folder.parent.parent, folder.parent, folder):  # each for this user only
        home.make_folder(each)
    if backup.existed:
        replace_file(folder / _BEFORE, (before,))
    replace_file(folder / _NOTE, (msgspec.json.encode(backup),))


def forget(home: Home, agent: str, path: Path) -> None:
    """Keep nothing of a file any longer."""
    folder = _folder(home, agent, path)
    with contextlib.suppress(OSError):
        for name in (_NOTE, _BEFORE):
            (folder / name).unlink(missing_ok=True)
        folder.rmdir()
        folder.parent.rmdir()


def changed_files(home: Home, agent: str) -> list[Path]:
    """All files of an agent that we changed and did not restore, in a project or not."""
    notes = sorted(backups_of(home, agent).glob(f"*/{_NOTE}"))
    return [Path(backup.path) for note in notes if (backup := _read(note)) is not None]


def _folder(home: Home, agent: str, path: Path) -> Path:
    return backups_of(home, agent) / sha256(str(path).encode("utf-8", "surrogateescape")).hexdigest()[:16]


def _read(note: Path) -> Backup | None:
    try:
        return msgspec.json.decode(note.read_bytes(), type=Backup)
    except (OSError, msgspec.DecodeError):
        return None
