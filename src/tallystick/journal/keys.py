"""The store's log key on disk. Owns one file of 32 secret bytes in hex, readable by this user only."""

from __future__ import annotations

import os

from tallystick.errors import JournalError
from tallystick.journal.durable import sync_folder, write_whole
from tallystick.journal.home import FILE_MODE, Home
from tallystick.seal.keys import SigningKey


def make_key(home: Home, secret: bytes) -> SigningKey:
    """Keep `secret` (32 random bytes) as the log key of a new store.

    Raises:
        JournalError: there is a key already, or it cannot be written.
    """
    home.make_folder(home.key.parent)
    try:
        descriptor = os.open(home.key, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, FILE_MODE)
        try:
            write_whole(descriptor, secret.hex().encode() + b"\n")
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        sync_folder(home.key.parent)
    except OSError as error:
        raise JournalError(f"cannot write the key {home.key}: {error.strerror}") from error
    return SigningKey(secret)


def load_key(home: Home) -> SigningKey:
    """The store's log key.

    Raises:
        JournalError: it is not there, or is no key.
    """
    try:
        secret = bytes.fromhex(home.key.read_text("ascii"))
        return SigningKey(secret)
    except FileNotFoundError as error:
        raise JournalError(
            f"the store's key {home.key} is gone: nothing can be signed", hint="restore it from a backup"
        ) from error
    except (OSError, ValueError) as error:
        raise JournalError(f"the store's key {home.key} cannot be read: {error}") from error
