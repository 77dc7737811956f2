"""Who signs the heads of a store: its own key in a file, or a signer of another user, over a socket.

Owns asking the signer, and which of the two it is: a store with `keys/signer.json` is signed by the signer and by nothing
else. Every head that comes back is verified before it is believed. Must not know what the ledger holds.
"""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Protocol

import msgspec

from tallystick.errors import FormatError, JournalError, SigningError
from tallystick.journal.durable import replace_file
from tallystick.journal.home import Home
from tallystick.journal.keys import load_key
from tallystick.journal.opening import read_whole
from tallystick.seal.canonical import canonical
from tallystick.seal.epochs import Epoch
from tallystick.seal.extension import (
    MOST_REQUEST,
    STEP_BYTES,
    Code,
    RefusedError,
    Request,
    in_steps,
    parse_answer,
    request_text,
)
from tallystick.seal.keys import PublicKey, did_key, parse_did_key
from tallystick.seal.line import skim
from tallystick.seal.merkle import Frontier
from tallystick.seal.note import Note, sign_note, verify_note

PATIENCE_SECONDS = 2.0
"""How long a signature is waited for, where nothing says otherwise."""
_MOST_ANSWER = 64 << 10
_MOST_LINES = 4 << 20
"""Bytes of an answer that holds entries: one that is as long as an entry may be fits."""
_ROOM = 64 << 10
"""Bytes of a request that are not entries."""
_TRIES = 5
_PAUSE_SECONDS = 0.02
_STATUS = "run `tally signer status`"
_UPDATE = "`sudo tally signer init` brings it up to date"
_RECOVER = "then `tally signer recover`"
_ENDS = msgspec.json.Decoder(tuple[Epoch, ...])


class Growth(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be signed: the ledger at `size` with `root`. `entries(n)` are its lines from `n` on."""

    store_id: str
    size: int
    root: bytes
    signed_size: int
    entries: Callable[[int], Sequence[bytes]]
    known: bytes | None
    """The newest head."""
    seconds: float = PATIENCE_SECONDS
    """How long the signature may be waited for."""
    recovers: bool = False
    """Whether a signer whose memory is an old one is to be brought up to the newest head."""


class Signs(Protocol):
    """Anyone who signs heads."""

    @property
    def public(self) -> PublicKey:
        """The key under which its signatures verify."""
        ...

    def sign(self, growth: Growth) -> bytes:
        """A signed head. Raises SigningError: nothing was signed."""
        ...


class OwnKey:
    """The key in a file of this user."""

    def __init__(self, home: Home) -> None:
        self._key = load_key(home)

    @property
    def public(self) -> PublicKey:
        """The public key."""
        return self._key.public

    def sign(self, growth: Growth) -> bytes:
        """Sign whatever is asked for."""
        return sign_note(growth.store_id, growth.size, growth.root, [self._key])


class SignerPlace(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where the signer listens, and the key it signs with. What is in the store's folder is a hint: see verification."""

    socket: str
    key: str


class RefusedBySigner(SigningError):
    """The signer did not sign. `code` says why."""

    def __init__(self, code: Code, why: str, *, hint: str | None = None) -> None:
        super().__init__(why, hint=hint)
        self.code = code


class KeyChanged(SigningError):
    """The signer signed with another key: an epoch has ended. `signer` knows which one did, and which key counts now."""

    def __init__(self, signer: SignerAt, why: str) -> None:
        super().__init__(why, hint="`tally signer verify`; another program may listen there")
        self.signer = signer


class SignerAt:
    """A signer of another user."""

    def __init__(self, place: SignerPlace) -> None:
        self.path = Path(place.socket)
        self.public = parse_did_key(place.key)
        self._signed: int | None = None
        self._knows_entries = True

    def ends(self, store_id: str, after: str | None, seconds: float = PATIENCE_SECONDS) -> Iterator[Epoch]:
        """The ends of this signer's epochs after the one that names a key, all of them for None.

        They are no matter whose who listens there: that each is signed by the key before it is for the caller to check.

        Raises: SigningError: no one answers, or the answer is none.
        """
        until = time.monotonic() + seconds
        while True:
            answer = exchange(self.path, f"epochs {store_id} {after or '-'}\n".encode(), until=until)
            code, _, said = answer.partition(b"\n")
            try:
                if code == b"200":
                    ends = _ENDS.decode(said)
                else:
                    ends = ()
            except msgspec.MsgspecError as error:
                raise SigningError(f"what listens at {self.path} says no epochs: {error}", hint=_STATUS) from error
            yield from ends
            if not ends or ends[-1].key == after:
                return
            after = ends[-1].key

    def entries(self, store_id: str, start: int = 0, seconds: float = PATIENCE_SECONDS) -> Iterator[bytes]:
        """The entries that the signer keeps of a store, from one on.

        Raises:
            RefusedBySigner: it does not tell. SigningError: no one answers, or the answer is none.
        """
        while True:
            asked = f"entries {store_id} {start}\n".encode()
            answer = exchange(self.path, asked, until=time.monotonic() + seconds, most=_MOST_LINES)
            code, _, said = answer.partition(b"\n")
            if code == b"400":
                raise RefusedBySigner(Code.OUTDATED, "the signer keeps no entries: it is an older one", hint=_UPDATE)
            if code != b"200":
                raise SigningError(
                    f"the signer tells no entries: {said[:200].decode('utf-8', 'replace')}", hint=_STATUS
                )
            lines = said.split(b"\n")[:-1]
            if not lines:
                return
            yield from lines
            start += len(lines)

    def turn_to(self, key: str) -> PublicKey:
        """Take another key for the signer's from now on; that key."""
        self.public = parse_did_key(key)
        return self.public

    def sign(self, growth: Growth) -> bytes:
        """Have it signed.

        Raises:
            RefusedBySigner: the signer says no. SigningError: it is not there, or its answer is not to be believed.
        """
        until = time.monotonic() + growth.seconds
        for _ in range(_TRIES):
            try:
                return self._sign(growth, until)
            except RefusedError as error:
                if error.code is Code.BUSY:
                    time.sleep(_PAUSE_SECONDS)
                elif error.code is Code.BEHIND and error.size is not None and error.size <= growth.size:
                    self._signed = error.size  # another process of this store had it signed, or it wants them again
                elif error.code is Code.MALFORMED and self._knows_entries:
                    self._knows_entries = False
                else:
                    raise _told(error) from error
        raise RefusedBySigner(Code.BUSY, f"the signer at {self.path} stays busy", hint="run `tally signer status`")

    def _sign(self, growth: Growth, until: float) -> bytes:
        begin = self._signed
        if begin is None:
            begin = growth.signed_size
        tree, text = None, b""
        most = MOST_REQUEST - _ROOM if growth.recovers else STEP_BYTES
        for entries in in_steps(growth.entries(begin), most):
            end, root = begin + len(entries), growth.root
            if end != growth.size:
                tree = tree or _tree(growth, begin)
                for leaf in _hashes(entries):
                    tree.append(leaf)
                root = tree.root()
            request = Request(
                store_id=growth.store_id,
                old_size=begin,
                size=end,
                root=root,
                leaves=() if self._knows_entries else tuple(_hashes(entries)),
                entries=tuple(entries) if self._knows_entries else None,
                known=growth.known,
                recovers=growth.recovers,
            )
            try:
                _, text = self._ask(request, until)
            except RefusedError as error:
                if error.code is not Code.KEPT or end == growth.size:
                    raise
            self._signed = begin = end
        return text

    def _ask(self, request: Request, until: float) -> tuple[Note, bytes]:
        answer = exchange(self.path, request_text(request), until=until)
        text = answer.partition(b"\n")[2]
        note, is_ours = None, False
        try:
            note = parse_answer(answer)
            is_ours = bool(verify_note(note, [self.public]))
        except RefusedError:
            raise
        except FormatError:
            is_ours = False
        wanted = (request.store_id, request.size, request.root)
        if note is None or not is_ours or (note.store_id, note.size, note.root) != wanted:
            raise KeyChanged(self, f"the answer of the signer at {self.path} is not the requested signature")
        return note, text


def exchange(
    path: Path,
    data: bytes,
    *,
    until: float,
    met: Callable[[socket.socket], object] = lambda _: None,
    most: int = _MOST_ANSWER,
) -> bytes:
    """Say something to anyone who listens at a path; the whole answer.

    Args:
        until: the moment, of the monotonic clock, up to which it is waited for. met: called with the connection.
        most: bytes of an answer.

    Raises: SigningError: no one listens there, or the answer does not come in time, or does not end.
    """
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            _wait_at_most(connection, until)
            connection.connect(str(path))
            met(connection)
            connection.sendall(data)
            connection.shutdown(socket.SHUT_WR)
            parts, size = list[bytes](), 0
            while part := connection.recv(65_536):
                parts.append(part)
                size += len(part)
                if size > most:
                    raise SigningError(f"the answer of the program at {path} is longer than a signer's", hint=_STATUS)
                _wait_at_most(connection, until)
            return b"".join(parts)
    except OSError as error:
        raise SigningError(
            f"the signer at {path} does not answer: {error.strerror or error}",
            hint=f"{_STATUS}; what is recorded meanwhile is signed when it answers again",
        ) from error


def _wait_at_most(connection: socket.socket, until: float) -> None:
    left = until - time.monotonic()
    if left <= 0:
        raise TimeoutError("timed out")
    connection.settimeout(left)


def _hashes(entries: Sequence[bytes]) -> Iterator[bytes]:
    for line in entries:
        if (entry := skim(line)) is not None:
            yield entry.hash


def _tree(growth: Growth, size: int) -> Frontier:
    tree = Frontier()
    for leaf in _hashes(growth.entries(0)[:size]):
        tree.append(leaf)
    return tree


def _told(error: RefusedError) -> RefusedBySigner:
    hints = {
        Code.NOT_CONSISTENT: f"the ledger is another than the one that was signed: run `tally verify`, {_RECOVER}",
        Code.BEHIND: f"the signer has signed more than this ledger has: run `tally verify`, {_RECOVER}",
        Code.KEPT: f"the signer has signed more than this ledger has: run `tally verify`, {_RECOVER}",
        Code.UNFIT: f"an entry was added that the recorder does not write: run `tally verify`, {_RECOVER}",
        Code.OUTDATED: "run `tally service restart`",
        Code.ROLLED_BACK: f"the signer's state was put back to an older one: restore it from the newest backup, {_RECOVER}",
        Code.FORBIDDEN: "`tally signer init` says who may have this store signed",
    }
    return RefusedBySigner(error.code, f"the signer refuses: {error}", hint=hints.get(error.code))


def signer_of(home: Home) -> Signs:
    """Who signs this store's heads.

    Raises:
        JournalError: the key is gone, or `keys/signer.json` cannot be read.
    """
    place = signer_place(home)
    if place is None:
        return OwnKey(home)
    return SignerAt(place)


def signer_place(home: Home) -> SignerPlace | None:
    """Where the store's signer listens; None if it signs with its own key. Raises JournalError."""
    path = home.key.parent / "signer.json"
    try:
        return msgspec.json.decode(read_whole(path), type=SignerPlace)
    except FileNotFoundError:
        return None
    except (OSError, msgspec.MsgspecError) as error:
        raise JournalError(f"cannot read {path}: {error}", hint="run `tally signer status`") from error


def write_signer_place(home: Home, path: Path, key: PublicKey) -> None:
    """Have a store signed by the signer at `path`. Raises JournalError."""
    replace_file(home.key.parent / "signer.json", [canonical({"socket": str(path), "key": did_key(key)})])


def forget_signer_place(home: Home) -> None:
    """Have a store signed by its own key again."""
    with contextlib.suppress(FileNotFoundError):
        (home.key.parent / "signer.json").unlink()
