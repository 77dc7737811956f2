"""Where a store keeps its files (docs/format.md 1).

Owns the layout and the permissions (folders 0700, files 0600). Must not know what is in the files.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping
from datetime import datetime
from pathlib import Path

from tallystick.errors import JournalError
from tallystick.model.ids import SESSION_ID, SessionId

FOLDER_MODE = 0o700
FILE_MODE = 0o600


_PARTS = ("ledger.jsonl", "journals", "heads/ledger.note")


def is_store(path: Path) -> bool:
    """Whether a folder holds a store, or what is left of one."""
    return path.is_dir() and any(os.path.lexists(path / part) for part in _PARTS)


def default_folder(environment: Mapping[str, str]) -> Path:
    """The store's folder: `TALLY_HOME`, else `~/.tally`."""
    named = environment.get("TALLY_HOME")
    if named:
        return Path(named).expanduser()
    return Path(environment.get("HOME", "~")).expanduser() / ".tally"


class Home:
    """The folder of one store, and the paths in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.ledger = folder / "ledger.jsonl"
        self.note = folder / "heads" / "ledger.note"
        self.journals = folder / "journals"
        self.blobs = folder / "blobs"
        self.torn = folder / "torn"
        self.erasing = folder / "erasing"
        self.key = folder / "keys" / "log.key"
        self.configuration_key = folder / "keys" / "configuration.key"
        self.spool_key = folder / "keys" / "spool.key"
        self.known_key = folder / "keys" / "known.key"
        self.known_values = folder / "keys" / "known.values"
        self.read_values = folder / "keys" / "read.values"
        self.graph = folder / "graph.db"
        self.states = folder / "state"
        self.instructions = folder / "instructions"
        self.config = folder / "config.toml"
        self._files: dict[str, str] = {}

    def __repr__(self) -> str:
        return f"Home({str(self.folder)!r})"

    @property
    def exists(self) -> bool:
        """Whether a store was made here."""
        return self.ledger.exists()

    def kept_note(self, size: int) -> Path:
        """Where a head that must stay is kept (9.4)."""
        return self.note.with_name(f"ledger-{size}.note")

    def make_folder(self, folder: Path) -> None:
        """Make a folder of the store, and those above it, for this user only.

        Raises:
            JournalError: it cannot be made.
        """
        try:
            folder.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
        except OSError as error:
            raise JournalError(
                f"cannot make the folder {folder}: {error.strerror}",
                hint="choose another store with TALLY_HOME or --home",
            ) from error

    def new_journal(self, sid: SessionId, now: datetime) -> Path:
        """The path for a journal made now (UTC)."""
        return self.journals / f"{now:%Y}" / f"{now:%m}" / f"{sid}.jsonl"

    def journal(self, sid: str) -> Path | None:
        """The journal of a session, in whatever month it was made, or None."""
        known = self._files.get(sid)
        if known is not None and os.path.exists(known):  # noqa: PTH110 as `files`
            return Path(known)
        found = None
        if SESSION_ID.match(sid):
            found = next(self.journals.rglob(f"{sid}.jsonl"), None)
        if found is not None:
            self._files[sid] = str(found)
        return found

    def sessions(self) -> Iterator[tuple[SessionId, Path]]:
        """Every journal: session id and path, in the order of their ids."""
        return ((sid, Path(file)) for sid, file in self.files())

    def files(self) -> list[tuple[SessionId, str]]:
        """The same with the paths as text: of 10,000 journals a Path each costs 100 ms."""
        found = sorted((SessionId(name), f"{folder}{os.sep}{name}.jsonl") for folder, name in _journals(self.journals))
        for sid, file in found:
            self._files.setdefault(sid, file)  # or `journal` would look through all folders for each of them
        return found

    def session_ids(self, known: Collection[str] = ()) -> set[str]:
        """The ids of all journals but the `known` ones: `sessions` without paths, for asking often."""
        return {name for _, name in _journals(self.journals, known)}

    def blob(self, commitment: str) -> Path:
        """The file of the value with a commitment (64 hex digits)."""
        return self.blobs / commitment[:2] / commitment


def _journals(folder: Path, known: Collection[str] = ()) -> Iterator[tuple[str, str]]:
    """Every journal anywhere below a folder (docs/format.md 19.5): its folder, and the session that its name says."""
    for parent, _, names in os.walk(folder):
        for name in names:
            stem = name.removesuffix(".jsonl")
            if stem not in known and stem != name and SESSION_ID.match(stem):
                yield parent, stem
