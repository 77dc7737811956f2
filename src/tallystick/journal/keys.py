"""The store's keys on disk: the log key, which signs, and the keys of fingerprints, of the spool and of known secrets.

Owns four files of secret bytes in hex, readable by this user only; the first alone signs. Must not know what is signed,
nor what is compared.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import NamedTuple

from tallystick.errors import JournalError
from tallystick.journal.durable import sync_folder, write_whole
from tallystick.journal.home import Home
from tallystick.journal.opening import open_file, read_whole
from tallystick.seal.keys import SigningKey

_BYTES = 32
KNOWN_KEY_BYTES = 64
"""As long as a key of BLAKE2b can be."""
_ANOTHER = "restore it from a backup, or remove it: a new one is made, whose fingerprints compare with no earlier ones"
_ANOTHER_SPOOL = "remove it: a new one is made, and deliveries that wait in the spool are recorded as unauthenticated"
_ANOTHER_KNOWN = "remove it and known.values beside it: secrets that were found before are then found by rules alone"


def make_key(home: Home, secret: bytes) -> SigningKey:
    """Keep `secret` (32 random bytes) as the log key of a new store.

    Raises:
        JournalError: there is a key already, or it cannot be written.
    """
    home.make_folder(home.key.parent)
    try:
        _write_new(home.key, secret)
        sync_folder(home.key.parent)
    except OSError as error:
        raise JournalError(f"cannot write the key {home.key}: {error.strerror}") from error
    return SigningKey(secret)


def load_key(home: Home) -> SigningKey:
    """The store's log key.

    Raises: JournalError: it is not there, or is not a key.
    """
    try:
        secret = bytes.fromhex(read_whole(home.key).decode("ascii"))
        return SigningKey(secret)
    except FileNotFoundError as error:
        raise JournalError(
            f"the store's key {home.key} is missing: nothing can be signed", hint="restore it from a backup"
        ) from error
    except (OSError, ValueError) as error:
        raise JournalError(f"cannot read the store's key {home.key}: {error}") from error


def configuration_key(home: Home) -> bytes:
    """The key under which fingerprints of configurations are made (decision 0022); made when it is first wanted.

    Raises: JournalError: it cannot be read or made, or is not a key.
    """
    return _key_at(home, home.configuration_key, _Key("fingerprint key", _ANOTHER))


def spool_key(home: Home) -> bytes:
    """The key with which hooks seal what they keep in the spool (decision 0068); made when it is first wanted.

    Raises: JournalError: it cannot be read or made, or is not a key.
    """
    return _key_at(home, home.spool_key, _Key("spool key", _ANOTHER_SPOOL))


def known_key(home: Home, new: bytes | None = None) -> bytes | None:
    """The key of the digests by which secrets are known again (decision 0075); `new` is kept if it has none.

    Raises: JournalError: it cannot be read or made, or is not a key.
    """
    if new is None and not home.known_key.exists():
        return None
    return _key_at(home, home.known_key, _Key("key of known secrets", _ANOTHER_KNOWN, KNOWN_KEY_BYTES), new)


class _Key(NamedTuple):
    what: str
    hint: str
    size: int = _BYTES


def _key_at(home: Home, path: Path, key: _Key, new: bytes | None = None) -> bytes:
    try:
        if not path.exists():
            home.make_folder(path.parent)
            _put(path, new or os.urandom(key.size))
        secret = bytes.fromhex(read_whole(path).decode("ascii"))
    except (OSError, ValueError) as error:
        raise JournalError(f"cannot read the {key.what} {path}: {error}", hint=key.hint) from error
    if len(secret) != key.size:
        raise JournalError(f"the {key.what} {path} is damaged", hint=key.hint)
    return secret


def _put(path: Path, secret: bytes) -> None:
    """Put a whole key where none is. Of several processes that do so, one's stays."""
    temporary = path.with_name(f".{path.name}.{os.urandom(6).hex()}.tmp")
    try:
        _write_new(temporary, secret)
        with contextlib.suppress(FileExistsError):
            os.link(temporary, path)
        sync_folder(path.parent)
    finally:
        temporary.unlink(missing_ok=True)


def _write_new(path: Path, secret: bytes) -> None:
    descriptor = open_file(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    try:
        write_whole(descriptor, secret.hex().encode() + b"\n")
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
