"""All journals of a store, open for writing: finding, making and sealing sessions (docs/format.md 11, 13.1).

Owns the order "journal, then ledger", and that one session of an agent has one journal. Must not know what steps mean.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path

from tallystick.errors import JournalError
from tallystick.journal.durable import sync_folder
from tallystick.journal.file import JournalFile, Sources
from tallystick.journal.home import Home
from tallystick.journal.ledger import Ledger, make_ledger, root_of
from tallystick.journal.lines import LineFile
from tallystick.journal.session_keys import SessionKeys, key_of
from tallystick.journal.signing import PATIENCE_SECONDS
from tallystick.model.ids import SessionId
from tallystick.model.step import Json


def system_clock() -> str:
    """Now, as `recorded` writes it."""
    return datetime.now(UTC).isoformat(timespec="microseconds")[:-6] + "Z"


def system_seeds() -> bytes:
    """32 fresh random bytes."""
    return os.urandom(32)


class Archive:
    """The journals and the ledger of one store. Safe to use from several threads and processes."""

    def __init__(
        self,
        home: Home,
        *,
        clock: Callable[[], str] = system_clock,
        seeds: Callable[[], bytes] = system_seeds,
    ) -> None:
        """Open the store at `home`.

        Raises:
            JournalError: there is no store, or its ledger is damaged.
        """
        self.home = home
        self.ledger = Ledger(home, clock=clock, seeds=seeds)
        self._sources = Sources(clock, seeds)
        self._open: dict[str, JournalFile] = {}
        self._keys = SessionKeys(home)
        self._tail_checked = False

    @classmethod
    def make(
        cls, home: Home, *, clock: Callable[[], str] = system_clock, seeds: Callable[[], bytes] = system_seeds
    ) -> bool:
        """Make a new store at `home`; False if there is one. Raises what make_ledger raises."""
        return make_ledger(home, clock=clock, seeds=seeds)

    # Sessions -------------------------------------------------------------------------------------------------------

    def find(self, agent: str, source_session: str) -> SessionId | None:
        """The journal of an agent's session, if there is one as far as this archive has looked (make_journal looks again)."""
        return self._keys.find(agent, source_session)

    def look_anew(self) -> None:
        """Take note of the journals that other processes have made meanwhile, for `find`."""
        self._keys.look_again()

    def journal(self, sid: SessionId) -> JournalFile:
        """The journal of a session, open for appending.

        Raises:
            JournalError: there is no such journal.
        """
        file = self._open.get(sid)
        if file is None:
            file = self._open[sid] = self.journal_alone(sid)
        return file

    def journal_alone(self, sid: SessionId) -> JournalFile:
        """The same in a file of its own, which is this archive's only once it is given to `keep`. In any thread."""
        path = self.home.journal(sid)
        if path is None:
            raise JournalError(f"no journal of session {sid}", hint="`tally session list` lists the sessions")
        file = JournalFile(self.home, sid, path, self._sources)
        heads = self.ledger.view.heads.get(sid)
        file.sealed_size = 0
        if heads:
            file.sealed_size = heads[-1].size
        return file

    def keep(self, file: JournalFile) -> bool:
        """Have a file of `journal_alone` open from now on; False: the session is open already, and the file is closed."""
        is_kept = self._open.setdefault(file.sid, file) is file
        if not is_kept:
            file.close()
        return is_kept

    def make_journal(
        self,
        meta: Mapping[str, Json],
        values: Mapping[str, Json],
        parents: tuple[str, ...],
    ) -> tuple[JournalFile, bool]:
        """Make a journal whose entry 0 is `meta` and `values`, unless the agent's session has one; True if it was made.

        The ledger's lock is held meanwhile, so two processes never make two journals for one session.
        """
        key = key_of({**values, "meta": meta})
        with self.ledger.locked():
            self._keys.look_again()
            known = None
            if key is not None:
                known = self._keys.known(key)
            if known is not None:
                return self.journal(known), False
            sid = SessionId(self._sources.seeds()[:16].hex())
            path = self.home.new_journal(sid, datetime.fromisoformat(self._sources.clock()))
            file = JournalFile(self.home, sid, path, self._sources)
            file.append(meta, values, parents=parents)
            self._open[sid] = file
            self._keys.add(sid, key)
            return file, True

    # Sealing --------------------------------------------------------------------------------------------------------

    def seal(
        self,
        sids: Iterable[SessionId] | None = None,
        *,
        then: Iterable[tuple[Mapping[str, Json], Mapping[str, Json]]] = (),
        seconds: float = PATIENCE_SECONDS,
    ) -> None:
        """Put the heads of journals into the ledger and sign it: blobs and journals first, then ledger, then head.

        Args:
            sids: the sessions; None: all that this archive has open.
            then: further ledger entries (`meta`, values), which hold only once the journals are durable.
            seconds: how long a signer is waited for.

        Raises:
            JournalError: something could not be made durable, so nothing was signed over it.
        """
        files = [self._open[sid] for sid in (sorted(self._open) if sids is None else sids) if sid in self._open]
        heads = []
        unsynced: set[Path] = set()
        for file in files:
            with file.locked():
                pending = file.unsynced()
                covered = self.ledger.view.heads.get(file.sid)
                if not (covered and covered[-1].size >= file.size and covered[-1].closed == file.ended):
                    heads.append((file, file.size, file.tree.root().hex(), file.ended, file.own))
            if pending is not None:  # the head covers what was there then: who appends now does not wait for the disk
                unsynced |= file.settle(pending)
        for folder in sorted(unsynced):
            sync_folder(folder)
        with self.ledger.locked():
            self._check_tail()
            for file, size, root, ended, own in heads:
                covered = self.ledger.view.heads.get(file.sid)
                before = 0
                if covered:
                    before = covered[-1].size
                if before > size:
                    continue
                meta: dict[str, Json] = {
                    "type": "session_head",
                    "session": file.sid,
                    "size": size,
                    "root": root,
                    "closed": ended,
                }
                if adopted := max(size - before - (own - file.own_sealed), 0):
                    meta["adopted"] = adopted
                self.ledger.append(meta)
                file.sealed_size, file.own_sealed = size, own
            for entry_meta, entry_values in then:
                self.ledger.append(entry_meta, entry_values)
            self.sign(seconds=seconds)

    def sign(self, *, keep: bool = False, seconds: float = PATIENCE_SECONDS) -> None:
        """Make the ledger durable and sign a head over it, if anything in it is not signed yet.

        Args:
            keep: what `Ledger.sign` says. seconds: how long a signer is waited for.
        """
        with self.ledger.locked():
            self._check_tail()
            if self.ledger.signed_size < self.ledger.file.size or keep:
                self.ledger.sync()
                self.ledger.sign(keep=keep, seconds=seconds)

    def _check_tail(self) -> None:
        """Before signing over ledger entries that a dead process left unsigned, hold them against the journals (11.4)."""
        if self._tail_checked:
            return
        for session, heads in self.ledger.view.heads.items():
            for head in heads:
                if head.n >= self.ledger.signed_size and not self._stands(session, head.size, head.root):
                    raise JournalError(
                        f"an unsigned ledger entry does not fit the journal of session {session}",
                        hint="run `tally verify`; nothing is signed over it",
                    )
        self._tail_checked = True

    def _stands(self, session: str, size: int, root: str) -> bool:
        path = self.home.journal(session)
        if path is None:
            return False
        return root_of(path, size) == bytes.fromhex(root)

    def release(self, sid: SessionId) -> None:
        """Close one journal's file; it can be opened again."""
        file = self._open.pop(sid, None)
        if file is not None:
            file.close()

    def close(self) -> None:
        """Close all files. Nothing is sealed by this."""
        for file in self._open.values():
            file.close()
        self._open.clear()
        self.ledger.close()


def journal_starts(home: Home) -> Iterator[tuple[SessionId, bytes]]:
    """The first line of every journal, for building an index of sessions."""
    for sid, path in home.sessions():
        yield sid, next(iter(LineFile(path)), b"")
