"""The ledger on disk: the store's own journal, and the signed head over it (docs/format.md 9, 11.3).

Owns appending to it, what it has said so far, and signing. Must not know the sessions' journals: archive.py joins them.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from tallystick.errors import FormatError, JournalError, SigningError
from tallystick.journal.durable import exchange_file, replace_file, sync_folder
from tallystick.journal.file import Appended, Clock, JournalFile, Seeds, Sources
from tallystick.journal.home import Home
from tallystick.journal.keys import load_key, make_key
from tallystick.journal.lines import LineFile
from tallystick.journal.opening import read_whole
from tallystick.journal.read_losses import ReadLosses
from tallystick.journal.signing import (
    PATIENCE_SECONDS,
    Growth,
    KeyChanged,
    OwnKey,
    SignerAt,
    Signs,
    signer_of,
    write_signer_place,
)
from tallystick.model.step import Json
from tallystick.seal.keys import PublicKey, did_key, named_key
from tallystick.seal.ledger import LedgerView
from tallystick.seal.line import sid_of, skim
from tallystick.seal.merkle import EMPTY_ROOT, Frontier
from tallystick.seal.note import Note, parse_note, sign_note


class Watermark(msgspec.Struct, frozen=True):
    """How far a source file was read: the last `import` entry that names its path (13.4)."""

    offset: int
    digest: str
    """SHA-256 of the first `offset` bytes, in hex."""


class _Shown(msgspec.Struct, frozen=True):
    fields: dict[str, Json] = {}


_DECODER = msgspec.json.Decoder(_Shown)


class Ledger:
    """The ledger, open for appending. Entries that other processes add are taken in whenever the lock is held."""

    def __init__(self, home: Home, *, clock: Clock, seeds: Seeds) -> None:
        """Open the store's ledger.

        Raises:
            JournalError: there is no store here, or its ledger is damaged.
        """
        self.home = home
        self.view = LedgerView()
        self.watermarks: dict[str, Watermark] = {}
        self.losses = ReadLosses()
        self.signed_size = 0
        self._clock = clock
        self._note = read_note(home)
        self._signed_text = read_whole(home.note) if self._note else None
        self._signed_bytes = 0
        """Where in the file the entries are that a signer is to be shown: those from `_shown_from` on."""
        self._shown_from = self._note.size if self._note else 0
        self.file = JournalFile(home, _store_id(home), home.ledger, Sources(clock, seeds))
        self.file.sealed_size = self._note.size if self._note else 0
        self.file.on_entry(self._take)
        with self.file.locked():
            self._check_note()

    def _take(self, n: int, _: bytes, text: bytes) -> None:
        if n == 0:
            self.view, self.watermarks, self._signed_bytes = LedgerView(), {}, 0
            self.losses = ReadLosses()
        if n < self._shown_from:
            self._signed_bytes += len(text) + 1
        self._feed(_DECODER.decode(text).fields)

    def _feed(self, fields: Mapping[str, Json]) -> None:
        meta = fields.get("meta", {})
        try:
            self.view.feed(meta)
        except FormatError as error:
            raise JournalError(f"{self.home.ledger}: {error}", hint="run `tally verify`") from error
        if self.view.fallen:
            raise JournalError(f"{self.home.ledger}: the size of a session falls", hint="run `tally verify`")
        source = fields.get("local.source")
        if meta.get("type") == "import" and isinstance(source, dict) and "path" in source:
            path, digest = str(source["path"]), str(source.get("digest", ""))
            self.watermarks[path] = Watermark(meta.get("offset", 0), digest)
            self.losses.take(meta, path, digest)

    def _check_note(self) -> None:
        """Refuse to go on over a ledger that its own head does not fit."""
        if self._note is None:
            return
        root = root_of(self.home.ledger, self._note.size)
        if root != self._note.root:
            raise JournalError(
                f"{self.home.ledger} does not match its signed head", hint="run `tally verify`; do not overwrite it"
            )
        self.signed_size = self._note.size

    @property
    def store_id(self) -> str:
        """The ledger's id, which names the store in heads."""
        return self.file.sid

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the ledger's lock. Journals are locked before it, never after."""
        with self.file.locked():
            yield

    def append(self, meta: Mapping[str, Json], values: Mapping[str, Json] | None = None) -> Appended:
        """Append one entry. Raises what JournalFile.append raises."""
        with self.file.locked():
            appended = self.file.append(meta, values)
            self._feed({"meta": meta, **(values or {})})
            return appended

    def sync(self) -> None:
        """Make the ledger survive a loss of power."""
        self.file.sync()

    def sign(self, *, keep: bool = False, seconds: float = PATIENCE_SECONDS, recovers: bool = False) -> Note:
        """Sign a head over the ledger as it is now. The caller has synced what the head is to cover.

        Args:
            keep: also keep the head under its size (9.4). seconds: how long a signer is waited for. recovers: whether a
                signer whose memory is an old one is to take the entries up to the newest head.

        Raises:
            JournalError: the key is gone, the signer refuses or does not answer, or the head cannot be written.
        """
        return self._sign_by((signer_of(self.home),), keep=keep, seconds=seconds, recovers=recovers)

    def sign_together(self, signer: Signs) -> Note:
        """Sign a head by the store's own key and by a signer: what covers a `key_add` (9.4). It is kept.

        Raises what `sign` raises.
        """
        return self._sign_by((OwnKey(self.home), signer), keep=True)

    def _sign_by(
        self, signers: Sequence[Signs], *, keep: bool, seconds: float = PATIENCE_SECONDS, recovers: bool = False
    ) -> Note:
        with self.file.locked():
            try:
                growth = self._growth(seconds, recovers=recovers)
                first, *others = [signer.sign(growth) for signer in signers]
            except KeyChanged as changed:
                self.follow(changed.signer, or_else=changed, seconds=seconds)
                growth = self._growth(seconds, recovers=recovers)
                first, *others = [signer.sign(growth) for signer in signers]
            size = growth.size
            text = b"".join((first, *(other.partition(b"\n\n")[2] for other in others)))
            self.home.make_folder(self.home.note.parent)
            if keep:
                replace_file(self.home.kept_note(size), [text])
            exchange_file(self.home.note, [text])  # after a loss of power an older head is as sound, and covers less
            self.signed_size, self._signed_text = size, text
            self._shown_from, self._signed_bytes = size, self.file.length
        return parse_note(text)

    def _growth(self, seconds: float, *, recovers: bool = False) -> Growth:
        self.file.sync()
        return Growth(
            store_id=self.store_id,
            size=self.file.size,
            root=self.file.tree.root(),
            signed_size=self.signed_size,
            entries=self._entries,
            known=self._signed_text,
            seconds=seconds,
            recovers=recovers,
        )

    def follow(
        self, signer: SignerAt, *, or_else: JournalError | None = None, seconds: float = PATIENCE_SECONDS
    ) -> None:
        """Seal the ends of the signer's epochs that the ledger does not have: each adds its key and retires the one before.

        Args:
            or_else: raised if it has none, and its key is the same as before.

        Raises:
            SigningError: it does not answer, or an end is not signed by the key before it.
        """
        known = did_key(signer.public)
        with self.file.locked():
            for end in signer.ends(self.store_id, self.view.epoch_key, seconds):
                before = [key for key in self._row_keys() if end.is_by(key, self.store_id)]
                if not before:
                    raise SigningError(
                        f"the end of epoch {end.epoch} is not signed by that epoch's key",
                        hint="run `tally signer verify`",
                    )
                self.append({"type": "key_add", **msgspec.to_builtins(end)})
                if before[0] in self.view.keys:
                    self.append({"type": "key_retire", "key": did_key(PublicKey(before[0]))})
            key = self.view.epoch_key
            if key is not None and key != known and named_key(key) in self.view.keys:
                self.file.sync()
                write_signer_place(self.home, signer.path, signer.turn_to(key))
            elif or_else is not None:
                raise or_else

    def _row_keys(self) -> Sequence[bytes]:
        """The keys that may have signed the end that comes next: that of the newest epoch, or one that begins a row."""
        key = None
        if self.view.epoch_key is not None:
            key = named_key(self.view.epoch_key)
        return [*([key] if key is not None else ()), *self.view.keys]

    def _entries(self, start: int) -> list[bytes]:
        """The lines of the entries from `start` on, as they are on disk."""
        if start >= self._shown_from:
            return self.file.lines_from(self._signed_bytes)[start - self._shown_from :]
        return self.file.lines_from(0)[start:]

    def close(self) -> None:
        """Close the file. Nothing is signed by this."""
        self.file.close()


def root_of(path: Path, size: int) -> bytes | None:
    """The root of a journal's first `size` entries as they are on disk; None if there are fewer."""
    return roots_of(path, (size,)).get(size)


def roots_of(path: Path, sizes: Collection[int]) -> dict[int, bytes]:
    """The roots of a journal's first so many entries as they are on disk, read once; nothing for more than there are."""
    found, tree, largest = {0: EMPTY_ROOT}, Frontier(), max(sizes, default=0)
    for text in LineFile(path) if largest else ():
        entry = skim(text)
        if entry is None:
            break
        tree.append(entry.hash)
        if tree.size in sizes:
            found[tree.size] = tree.root()
        if tree.size == largest:
            break
    return found


def read_note(home: Home) -> Note | None:
    """The newest head, parsed but not verified, or None.

    Raises:
        JournalError: it is no head.
    """
    try:
        return parse_note(read_whole(home.note))
    except FileNotFoundError:
        return None
    except (OSError, FormatError) as error:
        raise JournalError(f"{home.note}: {error}", hint="run `tally verify`") from error


def _store_id(home: Home) -> str:
    try:
        first = next(iter(LineFile(home.ledger)), None)
    except FileNotFoundError:
        first = None
    except OSError as error:
        raise JournalError(f"cannot read {home.ledger}: {error.strerror}") from error
    if first is None:
        raise JournalError(f"no store at {home.folder}", hint="create one with `tally init`")
    try:
        return sid_of(first)
    except FormatError as error:
        raise JournalError(f"{home.ledger} is not a ledger: {error}", hint="run `tally verify`") from error


def make_ledger(home: Home, *, clock: Clock, seeds: Seeds) -> bool:
    """Make a new store: its folders, its key, and a ledger whose `store_start` is signed; False if there is one.

    Of several processes that do this at once, one makes it and the others wait.

    Raises:
        JournalError: its files cannot be written.
    """
    for folder in (home.folder, home.journals, home.note.parent, home.blobs):
        home.make_folder(folder)
    try:
        descriptor = os.open(home.folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise JournalError(f"cannot open {home.folder}: {error.strerror}") from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        if home.exists:
            return False
        _make_ledger(home, clock, seeds)
    except OSError as error:
        raise JournalError(f"cannot create a store at {home.folder}: {error.strerror or error}") from error
    finally:
        os.close(descriptor)
    return True


def _make_ledger(home: Home, clock: Clock, seeds: Seeds) -> None:
    if home.key.exists():
        key = load_key(home)
    else:
        key = make_key(home, seeds())
    # Written beside its place and moved there whole: a store exists with its first entry or not at all.
    beside = Home(home.folder)
    beside.ledger = home.ledger.with_name(".ledger.new")
    beside.ledger.unlink(missing_ok=True)
    file = JournalFile(beside, seeds()[:16].hex(), beside.ledger, Sources(clock, seeds))
    file.append({"type": "store_start", "key": did_key(key.public)})
    file.sync()
    text = sign_note(file.sid, file.size, file.tree.root(), [key])
    file.close()
    beside.ledger.rename(home.ledger)
    sync_folder(home.folder)
    replace_file(home.note, [text])
