"""The grants that people gave by a command, as far as they are in force.

Owns the folder `grants` of a store: a file a grant, which says where its sealed step is. What a grant says is read there, so
that a file without a step allows nothing. A grant ends when its file goes: taking a release is removing it, which one process
alone can do. Must not know what a grant covers.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TypeAlias

import msgspec

from tallystick.errors import JournalError, NotFoundError
from tallystick.journal.durable import replace_file
from tallystick.journal.home import Home
from tallystick.journal.read import read_at, read_file, read_session
from tallystick.model.grant import Grant, GrantKind
from tallystick.recording.own_session import RECORDER
from tallystick.recording.session_writer import SessionWriter
from tallystick.state.grants import sealed_grant, step_of_grant

_MOST = 1_000
_Place: TypeAlias = tuple[str, int]
"""A session and the number of a step."""


class _Pointer(msgspec.Struct, frozen=True):
    """Where the step of a grant is."""

    session: str
    n: int
    offset: int


class KeptGrants:
    """The grants in force of one store. They are read again when the folder has changed."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._folder = home.folder / "grants"
        self._seen: tuple[int, int] | None = None
        self._files: dict[str, Path] = {}
        self._found: tuple[Grant, ...] = ()

    def in_force(self) -> tuple[Grant, ...]:
        """Those that have not ended. Never raises: what cannot be read allows nothing."""
        seen = self._stamp()
        if seen != self._seen:
            self._files = {}
            self._found = tuple(self._read())
            self._seen = seen
        now_us = time.time_ns() // 1000
        return tuple(grant for grant in self._found if not grant.until_us or grant.until_us > now_us)

    def take(self, grant: Grant) -> bool:
        """Use a release up; whether it was there. Of several who ask at once one gets it."""
        try:
            self._files[grant.id].unlink()
        except (KeyError, OSError):
            return False
        return True

    def _stamp(self) -> tuple[int, int] | None:
        try:
            found = self._folder.stat()
        except OSError:
            return None
        return found.st_mtime_ns, found.st_ino

    def _read(self) -> Iterator[Grant]:
        try:
            files = sorted(self._folder.glob("*.json"))[-_MOST:]
        except OSError:
            return
        for file in files:
            grant = self._pointed_at(file)
            if grant is not None:
                self._files[grant.id] = file
                yield grant

    def _pointed_at(self, file: Path) -> Grant | None:
        try:
            at = msgspec.json.decode(file.read_bytes(), type=_Pointer)
            path = self._home.journal(at.session)
        except (OSError, msgspec.DecodeError):
            return None
        step = None
        if path is not None and at.offset >= 0:
            step = read_at(self._home, path, at.offset, load_blobs=True)
        if step is None or (step.session, step.n) != (at.session, at.n):
            return None
        return sealed_grant(step)


def give(home: Home, grant: Grant, *, ts: str) -> Grant:
    """Seal a grant and put it into force; the grant with its id. Raises JournalError."""
    with SessionWriter(home) as session_writer:
        taken = session_writer.add(RECORDER, step_of_grant(grant, ts=ts))
    return _put(home, (taken.session, taken.n))


def _put(home: Home, place: _Place) -> Grant:
    session, n = place
    path = home.journal(session)
    placed = None
    if path is not None:
        placed = next((one for one in read_file(home, path, load_blobs=True) if one.step.n == n), None)
    sealed = None
    if placed is not None:
        sealed = sealed_grant(placed.step)
    if placed is None or sealed is None:
        raise JournalError("the grant was sealed and cannot be read again", hint="run `tally verify`")
    folder = home.folder / "grants"
    home.make_folder(folder)
    pointer = _Pointer(session, n, placed.offset)
    replace_file(folder / f"{session[:12]}-{n:09}.json", [msgspec.json.encode(pointer)])
    return sealed


def revoke(home: Home, about: str, *, ts: str) -> Grant:
    """Take back a grant by a command, or a yes of a session. Raises JournalError; NotFoundError: it is taken back."""
    kept = KeptGrants(home)
    known = {grant.id: grant for grant in kept.in_force()}
    if about in {grant.about for grant in known.values() if grant.kind is GrantKind.REVOKED}:
        raise NotFoundError(f"the grant {about} was taken back before", hint="`tally policy grants list` lists them")
    found = known.get(about)
    with SessionWriter(home) as session_writer:
        step = step_of_grant(Grant(kind=GrantKind.REVOKED, about=about), ts=ts)
        taken = session_writer.add(RECORDER, step)
    if found is not None:
        kept.take(found)
        return found
    return _put(home, (taken.session, taken.n))


def sealed_grants(home: Home, sessions: Iterable[str]) -> Iterator[tuple[str, Grant]]:
    """Every grant that was given or taken back in some sessions of the recorder, in force or not. Raises JournalError."""
    for sid in sessions:
        for step in read_session(home, sid, load_blobs=True):
            grant = sealed_grant(step)
            if grant is not None:
                yield str(step.meta.get("ts", "")), grant


def rebuild(home: Home, sessions: Iterable[str]) -> int:
    """Make the folder again from sessions of the recorder; how many files. A release is for one call and is not made."""
    found: dict[_Place, Grant] = {}
    for sid in sessions:
        for step in read_session(home, sid, load_blobs=True):
            grant = sealed_grant(step)
            if grant is not None:
                found[step.session, step.n] = grant
    gone = {grant.about for grant in found.values() if grant.kind is GrantKind.REVOKED}
    kept = [at for at, grant in found.items() if grant.id not in gone and grant.kind is not GrantKind.RELEASE]
    for place in kept:
        _put(home, place)
    return len(kept)
