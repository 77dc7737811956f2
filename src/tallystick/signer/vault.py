"""What a signer keeps of one log: the key, and what it signed with it, in one file.

Owns that file and the order of things: what is to be signed is durable before the signature leaves. A file that is
damaged, or older than a signature that someone shows, signs nothing: key and memory are restored together, or not at
all. The entries themselves are in a file beside it, which is written first: what that has more was asked for and kept, so
it is remembered; what it has less is asked for again, and must be what was signed.

Form: a first line with the key, then a line of canonical JSON for each head that was signed, with the hash of the line
before it. Where there are epochs it also changes the key at the end of each: the next one is on disk before the end is
written down, and only after that the old file is overwritten and gone (docs/decisions/0032). Must not know sockets.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable, Iterable, Sequence
from hashlib import sha256
from pathlib import Path

import msgspec

from tallystick.errors import FormatError, JournalError
from tallystick.journal.durable import replace_file, sync_folder, write_whole
from tallystick.seal.canonical import canonical
from tallystick.seal.epochs import Epoch, end_epoch
from tallystick.seal.extension import Code, LogState, RefusedError, Request, extend
from tallystick.seal.keys import PublicKey, SigningKey, did_key, named_key
from tallystick.seal.note import parse_note, sign_note, verify_note
from tallystick.signer.entries import Entries, Own
from tallystick.signer.entry_file import EntryFile, entries_path
from tallystick.signer.epochs import EpochFile, epochs_path

_MOST_SIGNED = 10_000
"""Lines of the file before it begins again with the last one, or the epoch ends."""


class _Owner(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The first line."""

    v: int
    store: str
    key: str
    uids: tuple[int, ...]


class _Signed(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A line for a head that was signed."""

    prev: str
    size: int
    subtrees: tuple[str, ...]
    at: str


_OWNER = msgspec.json.Decoder(_Owner)
_SIGNED = msgspec.json.Decoder(_Signed)


class Vault:
    """One log's key and memory, held by one process at a time. Not safe for several threads."""

    def __init__(
        self,
        path: Path,
        clock: Callable[[], str],
        *,
        secrets: Callable[[int], bytes] = os.urandom,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """Open the file of a log, and that of its epochs if it has some.

        Raises:
            JournalError: it cannot be read, is damaged, does not fit its epochs, or another process holds it.
        """
        self.path = path
        self._clock, self._secrets, self._monotonic = clock, secrets, monotonic
        self._next = path.with_name(path.name + ".next")
        self.epochs = EpochFile(epochs_path(path)) if epochs_path(path).exists() else None
        self._row: dict[Epoch, bytes] = {}
        self._newest = b""
        """The head that was signed last: one that shows it knows of nothing later."""
        try:
            if self.epochs is not None:
                self._finish_change(self.epochs)
            self._open()
            self.kept = EntryFile(entries_path(path), self.state.store_id)
            self.entries = Entries(self.state.store_id)
            self._load()
        except JournalError:
            if self.epochs is not None:
                self.epochs.close()
            raise

    def _open(self) -> None:
        try:
            self._file = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CLOEXEC)
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            data = self.path.read_bytes()
        except BlockingIOError as error:
            raise JournalError(f"another signer holds {self.path}", hint="`tally signer status` shows which") from error
        except OSError as error:
            raise JournalError(f"cannot open {self.path}: {error.strerror}") from error
        self._read(data)
        self._since, self._did = self._monotonic(), did_key(self.public)
        if self.epochs is not None and self.epochs.key != self._did:
            raise JournalError(
                f"{self.path} has another key than the epoch {self.epochs.number} that {self.epochs.path.name} is in",
                hint="one of the two was restored from an older copy; keys of ended epochs are not restored",
            )

    def _read(self, data: bytes) -> None:
        whole, _, torn = data.rpartition(b"\n")
        lines = whole.split(b"\n")
        try:
            owner = _OWNER.decode(lines[0])
            self._key = SigningKey(bytes.fromhex(owner.key))
            before = lines[0]
            last: _Signed | None = None
            for line in lines[1:]:
                last = _SIGNED.decode(line)
                if last.prev != sha256(before).hexdigest():
                    raise ValueError("a line does not follow from the one before it")
                before = line
            subtrees = () if last is None else tuple(map(bytes.fromhex, last.subtrees))
            self.state = LogState(owner.store, 0 if last is None else last.size, subtrees)
            self.state.root  # noqa: B018  # raises where size and subtrees do not fit
        except (ValueError, msgspec.MsgspecError) as error:
            raise JournalError(
                f"{self.path} is damaged: {error}", hint="restore the whole file; a part is worse"
            ) from error
        if torn:  # it was never answered for: what is answered for is durable
            os.ftruncate(self._file, len(whole) + 1)
        self.uids = frozenset(owner.uids)
        if last is None:
            self.signed_at = None
        else:
            self.signed_at = last.at
        self._first, self._before, self._lines = lines[0], before, len(lines)

    def _load(self) -> None:
        """Read what is kept: what was not remembered before the power went is now, and what is not as signed goes."""
        own, fits = self._own(None), True
        try:
            for line in self.kept.lines():
                self.entries.load(line, own)
                if self.entries.size == self.state.size:
                    fits = self.entries.tree.root() == self.state.root
        except FormatError:
            fits = False
        if not fits:
            self._ask_again()
        elif self.entries.size > self.state.size:
            self._remember(self.entries.state)

    def _ask_again(self) -> None:
        """Keep nothing of what is kept: it is not what was signed."""
        self.kept.set_aside()
        self.entries = Entries(self.state.store_id)

    @property
    def public(self) -> PublicKey:
        """The public key."""
        return self._key.public

    def sign(self, request: Request) -> bytes:
        """A signed head over the log as the request has it.

        Raises:
            RefusedError: it does not extend what was signed, or this file is an old one; or the entries are kept, and there
                are more to come before anything is signed. JournalError: the disk refused.
        """
        self.end_if_over()
        if request.entries is None:
            self._sign_again(request)
        else:
            self._extend(request, request.entries)
        self._newest = sign_note(self.state.store_id, self.state.size, self.state.root, [self._key])
        return self._newest

    def _sign_again(self, request: Request) -> None:
        """What a recorder of before asks for: hashes alone do not move the log on."""
        self._look_for_rollback(request)
        if request.leaves and request.old_size == self.state.size:
            why = "entries are signed, not hashes alone: the recorder is older than the signer, start it again"
            raise RefusedError(Code.OUTDATED, why, size=self.state.size)
        extend(self.state, request)

    def _extend(self, request: Request, lines: Sequence[bytes]) -> None:
        """Keep entries, and move on to them."""
        if request.store_id != self.state.store_id:
            raise RefusedError(Code.UNKNOWN_LOG, f"this is the signer of another log than {request.store_id}")
        roots = self._look_for_rollback(request)
        size = self.entries.size
        if request.old_size != size:
            why = f"{size} entries are kept; the request begins at {request.old_size}"
            raise RefusedError(Code.BEHIND, why, size=size)
        if size < self.state.size:
            roots[self.state.size] = self.state.root
        try:
            batch = self.entries.read(lines, self._own(request.known), roots)
        except RefusedError as error:
            if size < self.state.size and error.code is Code.NOT_CONSISTENT:
                self._ask_again()
            raise
        if batch.tree.size != request.size or batch.tree.root() != request.root:
            why = "the log does not begin with what was signed: another size or root comes of it"
            raise RefusedError(Code.NOT_CONSISTENT, why, size=size)
        self.kept.append(lines)
        if batch.tree.size > self.state.size:
            try:
                self._remember(LogState(self.state.store_id, batch.tree.size, batch.tree.subtrees))
            except JournalError:
                self.kept.cut(size)
                raise
        self.entries.take(batch)
        if self.entries.size < self.state.size:
            why = f"{self.entries.size} entries are kept of the {self.state.size} that were signed"
            raise RefusedError(Code.KEPT, why, size=self.entries.size)

    def _own(self, known: bytes | None) -> Own:
        """What only this signer may say; `known` is a head that someone shows."""
        own = first = bytes(self.public)
        if self.epochs is not None:
            if len(self._row) != self.epochs.number - 1:
                self._row = self.epochs.row()
            first = named_key(self.epochs.plan.key) or own

        def left(n: int, others: frozenset[bytes]) -> bool:
            try:
                note = parse_note(known or b"")
                return note.store_id == self.state.store_id and note.size > n and bool(verify_note(note, [*others]))
            except FormatError:
                return False

        return Own(key=own, first=first, ended=self._row.get, left=left)

    # Epochs ----------------------------------------------------------------------------------------------------------

    def end_if_over(self) -> None:
        """End the epoch if its time is over, by either clock, or its file is long. Raises JournalError: it goes on."""
        if self.epochs is None:
            return
        self._follow(self.epochs)
        has_lasted = self._monotonic() - self._since >= self.epochs.plan.seconds
        if has_lasted or self._lines >= _MOST_SIGNED or self.epochs.is_over(self._clock()):
            self._end(self.epochs)

    def _end(self, epochs: EpochFile) -> None:
        """Change the key. The next one is durable before the end is written down; that is the moment of change."""
        secret = self._secrets(32)
        end = Epoch(
            epoch=epochs.number,
            size=self.state.size,
            root=self.state.root.hex(),
            key=did_key(SigningKey(secret).public),
            began=epochs.began,
            ended=max(self._clock(), epochs.began),
            seconds=epochs.plan.seconds,
            signature="",
        )
        first = canonical(_owner(self.state.store_id, secret, self.uids))
        replace_file(self._next, [first + b"\n", *self._remembered(first)])
        epochs.append(end_epoch(end, self.state.store_id, self._key))
        self._follow(epochs)

    def _remembered(self, first: bytes) -> list[bytes]:
        if self.signed_at is None:
            return []
        return [canonical(_line(first, self.state, self.signed_at)) + b"\n"]

    def _finish_change(self, epochs: EpochFile) -> None:
        """Overwrite the key of an epoch whose end is written down, and put the next one in its place."""
        if not self._next.exists():
            return
        try:
            if did_key(vault_owner(self._next)[0]) != epochs.key:
                _erase(self._next)  # the end of its epoch was not written down: it was never anyone's key
                self._next.unlink()
            else:
                _erase(self.path)
                self._next.rename(self.path)
            sync_folder(self.path.parent)
        except OSError as error:
            raise JournalError(f"cannot erase the key of epoch {epochs.number - 1}: {error.strerror}") from error

    def _follow(self, epochs: EpochFile) -> None:
        """Sign with the key of the epoch that it is, where a change was begun. Raises JournalError: nothing is signed."""
        self._finish_change(epochs)
        if epochs.key != self._did:
            old = self._file
            self._open()
            os.close(old)

    # Memory ----------------------------------------------------------------------------------------------------------

    def _look_for_rollback(self, request: Request) -> dict[int, bytes]:
        """A head with a good signature of ours, that we do not remember, was signed by a later state of this file.

        Returns: the root that it must come to at that size, where the request is to bring the state up to it.
        """
        if request.known is None or request.known == self._newest:
            return {}
        try:
            note = parse_note(request.known)
            is_ours = bool(verify_note(note, [self.public])) and note.store_id == self.state.store_id
        except FormatError:
            return {}  # anyone who asks has a damaged head: that is theirs to find
        if (
            not is_ours
            or note.size < self.state.size
            or (note.size == self.state.size and note.root == self.state.root)
        ):
            return {}
        if request.recovers and self.state.size < note.size <= request.size:
            return {note.size: note.root}
        why = f"this key signed {note.size} entries, and the signer remembers {self.state.size}: its file is an old one"
        raise RefusedError(Code.ROLLED_BACK, why, size=self.state.size)

    def _remember(self, state: LogState) -> None:
        at = self._clock()
        signed = _line(self._before, state, at)
        if self._lines >= _MOST_SIGNED:
            self._begin_anew(signed)
        else:
            self._append(canonical(signed))
        self.state, self.signed_at = state, at

    def _append(self, line: bytes) -> None:
        size = os.fstat(self._file).st_size
        try:
            write_whole(self._file, line + b"\n")  # the entries are durable: from them it is remembered again
        except OSError as error:
            os.ftruncate(self._file, size)
            raise JournalError(f"cannot write {self.path}: {error.strerror}", hint="is the disk full?") from error
        self._before, self._lines = line, self._lines + 1

    def _begin_anew(self, signed: dict[str, object]) -> None:
        line = canonical({**signed, "prev": sha256(self._first).hexdigest()})
        replace_file(self.path, [self._first + b"\n", line + b"\n"])
        fresh = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CLOEXEC)
        fcntl.flock(fresh, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.close(self._file)
        self._file, self._before, self._lines = fresh, line, 2

    def close(self) -> None:
        """Let go of the file."""
        os.close(self._file)
        self.kept.close()
        if self.epochs is not None:
            self.epochs.close()


def _owner(store_id: str, secret: bytes, uids: Iterable[int]) -> dict[str, object]:
    """The first line."""
    return {"v": 1, "store": store_id, "key": secret.hex(), "uids": sorted(uids)}


def _line(before: bytes, state: LogState, at: str) -> dict[str, object]:
    """What is remembered of a head, after the line `before`."""
    subtrees = [subtree.hex() for subtree in state.subtrees]
    return {"prev": sha256(before).hexdigest(), "size": state.size, "subtrees": subtrees, "at": at}


def _erase(path: Path) -> None:
    """Overwrite a file where it lies. A disk may keep the old bytes elsewhere: docs/assurance.md."""
    file = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        write_whole(file, bytes(os.fstat(file).st_size))
        os.fsync(file)
    finally:
        os.close(file)


def vault_owner(path: Path) -> tuple[PublicKey, frozenset[int]]:
    """The public key of a log's file, and the users who may have it signed; a signer may be holding it.

    Raises:
        JournalError: it cannot be read, or is damaged.
    """
    try:
        with path.open("rb") as file:
            owner = _OWNER.decode(file.readline())
        return SigningKey(bytes.fromhex(owner.key)).public, frozenset(owner.uids)
    except OSError as error:
        raise JournalError(f"cannot open {path}: {error.strerror}") from error
    except (ValueError, msgspec.MsgspecError) as error:
        raise JournalError(f"{path} is damaged: {error}", hint="restore the whole file; a part is worse") from error


def signed_heads(path: Path) -> tuple[tuple[int, str], ...]:
    """Size and root (hex) of the heads that a log's file remembers, in their order; a signer may be holding it.

    Raises:
        JournalError: it cannot be read, or is damaged.
    """
    try:
        lines = path.read_bytes().rpartition(b"\n")[0].split(b"\n")[1:]
        found = [_SIGNED.decode(line) for line in lines]
        states = [LogState("", one.size, tuple(map(bytes.fromhex, one.subtrees))) for one in found]
        return tuple((state.size, state.root.hex()) for state in states)
    except OSError as error:
        raise JournalError(f"cannot open {path}: {error.strerror}") from error
    except (ValueError, msgspec.MsgspecError) as error:
        raise JournalError(f"{path} is damaged: {error}", hint="restore the whole file; a part is worse") from error


def make_vault(path: Path, store_id: str, secret: bytes, uids: tuple[int, ...]) -> None:
    """Begin the file of a log with a new key: 32 random bytes.

    Raises:
        JournalError: there is such a file, or it cannot be written.
    """
    if path.exists():
        raise JournalError(f"a key for this log exists already: {path}", hint="`tally signer status` shows whose")
    replace_file(path, [canonical(_owner(store_id, secret, uids)) + b"\n"])
