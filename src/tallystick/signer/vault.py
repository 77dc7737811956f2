"""What a signer keeps of one log: the key, and what it signed with it, in one file.

Owns that file and the order of things: what is to be signed is durable before the signature leaves. A file that is damaged,
or older than a signature that somebody shows, signs nothing: key and memory are restored together, or not at all. Form: a
first line with the key, then a line of canonical JSON for each head that was signed, with the hash of the line before it.
Must not know sockets.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import msgspec

from tallystick.errors import FormatError, JournalError
from tallystick.journal.durable import replace_file, write_whole
from tallystick.seal.canonical import canonical
from tallystick.seal.extension import Code, LogState, RefusedError, Request, extend
from tallystick.seal.keys import PublicKey, SigningKey
from tallystick.seal.note import parse_note, sign_note, verify_note

_MOST_SIGNED = 10_000
"""Lines of the file before it begins anew with the last one."""


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

    def __init__(self, path: Path, clock: Callable[[], str]) -> None:
        """Open the file of a log.

        Raises:
            JournalError: it cannot be read, is damaged, or another process holds it.
        """
        self.path = path
        self._clock = clock
        try:
            self._file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CLOEXEC)
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            data = path.read_bytes()
        except BlockingIOError as error:
            raise JournalError(f"another signer holds {path}", hint="`tally signer status` says which") from error
        except OSError as error:
            raise JournalError(f"cannot open {path}: {error.strerror}") from error
        self._read(data)

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
        self.signed_at = last.at if last is not None else None
        self._first, self._before, self._lines = lines[0], before, len(lines)

    @property
    def public(self) -> PublicKey:
        """The public key."""
        return self._key.public

    def sign(self, request: Request) -> bytes:
        """A signed head over the log as the request has it.

        Raises:
            RefusedError: it does not extend what was signed, or this file is an old one. JournalError: the disk refused.
        """
        self._look_for_rollback(request)
        state = extend(self.state, request)
        if state != self.state:
            self._remember(state)
        return sign_note(state.store_id, state.size, state.root, [self._key])

    def _look_for_rollback(self, request: Request) -> None:
        """A head with a good signature of ours, that we do not remember, was signed by a later state of this file."""
        if request.known is None:
            return
        try:
            note = parse_note(request.known)
            is_ours = bool(verify_note(note, [self.public])) and note.store_id == self.state.store_id
        except FormatError:
            return  # whoever asks has a damaged head: that is theirs to find
        if is_ours and (note.size > self.state.size or (note.size == self.state.size and note.root != self.state.root)):
            why = f"this key signed {note.size} entries, and the signer remembers {self.state.size}: its file is an old one"
            raise RefusedError(Code.ROLLED_BACK, why, size=self.state.size)

    def _remember(self, state: LogState) -> None:
        at = self._clock()
        signed = {
            "prev": sha256(self._before).hexdigest(),
            "size": state.size,
            "subtrees": [subtree.hex() for subtree in state.subtrees],
            "at": at,
        }
        if self._lines >= _MOST_SIGNED:
            self._begin_anew(signed)
        else:
            self._append(canonical(signed))
        self.state, self.signed_at = state, at

    def _append(self, line: bytes) -> None:
        size = os.fstat(self._file).st_size
        try:
            write_whole(self._file, line + b"\n")
            os.fdatasync(self._file)
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


def make_vault(path: Path, store_id: str, secret: bytes, uids: tuple[int, ...]) -> None:
    """Begin the file of a log with a new key: 32 random bytes.

    Raises:
        JournalError: there is such a file, or it cannot be written.
    """
    if path.exists():
        raise JournalError(f"there is a key for this log already: {path}", hint="`tally signer status` says whose")
    owner = {"v": 1, "store": store_id, "key": secret.hex(), "uids": sorted(uids)}
    replace_file(path, [canonical(owner) + b"\n"])
