"""The signer's process: a socket, one request a connection, one answer.

Owns who is heard: the user that the kernel names, within limits of size, time and rate; and that one log's requests come one
after another. What is signed is the vault's to decide. Nothing that a client sends ends the process.
"""

from __future__ import annotations

import json
import logging
import os
import re
import socket
import socketserver
import stat
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec

from tallystick.errors import JournalError
from tallystick.seal.extension import (
    MOST_REQUEST,
    PROTOCOL,
    Code,
    RefusedError,
    answer_text,
    parse_request,
    refusal_text,
)
from tallystick.seal.keys import did_key
from tallystick.signer.peers import Permits, user_of
from tallystick.signer.vault import Vault

SUFFIX = ".log"
STATUS = b"status\n"
EPOCHS = re.compile(rb"epochs ([0-9a-f]{32}) (did:key:[1-9A-HJ-NP-Za-km-z]{48}|-)\n\Z")
"""Asks for the ends of epochs of a store after the one that names a key, or for those from the first on."""
ENTRIES = re.compile(rb"entries ([0-9a-f]{32}) (0|[1-9][0-9]{0,15})\n\Z")
"""Asks for the entries that are kept of a store, from one on."""
_SECONDS = 5.0
_MOST_AT_ONCE = 32
_MOST_OF_ONE_USER = 12
_A_SECOND = 200.0
_LOG = logging.getLogger(__name__)


class Signer:
    """All logs of one folder."""

    def __init__(self, folder: Path, clock: Callable[[], str]) -> None:
        """Open every log of the folder.

        Raises:
            JournalError: one of them cannot be used, or the folder is open to other users.
        """
        self.folder = folder
        self._clock = clock
        self._guard = threading.Lock()
        self._permits = Permits(_A_SECOND, time.monotonic)
        self._vaults: dict[str, tuple[Vault, threading.Lock]] = {}
        self.refusals: dict[str, int] = {}
        _check_folder(folder)
        for path in sorted(folder.glob(f"*{SUFFIX}")):
            vault = Vault(path, clock)
            self._vaults[vault.state.store_id] = (vault, threading.Lock())

    def answer(self, user: int | None, data: bytes) -> bytes:
        """The answer to a request of a user. Never raises."""
        try:
            return self._answer(user, data)
        except RefusedError as error:
            if error.code is not Code.KEPT:
                self._count(error.code)
            return refusal_text(error)
        except JournalError as error:
            _LOG.error("%s", error)
            self._count(Code.FAILED)
            return refusal_text(RefusedError(Code.FAILED, str(error)))
        except Exception:
            _LOG.exception("a request could not be answered")
            self._count(Code.FAILED)
            return refusal_text(RefusedError(Code.FAILED, "a fault of the signer; its log says more"))

    def _count(self, code: Code) -> None:
        with self._guard:
            self.refusals[code.name.lower()] = self.refusals.get(code.name.lower(), 0) + 1

    def _answer(self, user: int | None, data: bytes) -> bytes:
        if user is None:
            raise RefusedError(Code.FORBIDDEN, "the system does not say who asks")
        with self._guard:
            may = self._permits.take(user)
        if not may:
            raise RefusedError(Code.BUSY, "too many requests; try again in a moment")
        if data == STATUS:
            if user not in (0, os.getuid()) and all(user not in vault.uids for vault, _ in self._vaults.values()):
                raise RefusedError(Code.FORBIDDEN, f"user {user} has no log here")
            return answer_text(Code.SIGNED, json.dumps(self.status(user)).encode())
        asked = EPOCHS.match(data)
        if asked is not None:
            vault, lock = self._vault(asked[1].decode(), user)
            with lock:
                ends = vault.epochs.after(asked[2].decode()) if vault.epochs is not None else ()
                return answer_text(Code.SIGNED, json.dumps([msgspec.to_builtins(end) for end in ends]).encode())
        asked = ENTRIES.match(data)
        if asked is not None:
            vault, lock = self._vault(asked[1].decode(), user)
            with lock:
                return answer_text(Code.SIGNED, vault.kept.answer(int(asked[2])))
        request = parse_request(data)
        vault, lock = self._vault(request.store_id, user)
        with lock:
            return answer_text(Code.SIGNED, vault.sign(request))

    def _vault(self, store_id: str, user: int) -> tuple[Vault, threading.Lock]:
        found = self._vaults.get(store_id)
        if found is None:
            raise RefusedError(Code.UNKNOWN_LOG, f"there is no key here for store {store_id}")
        if user not in found[0].uids:
            raise RefusedError(Code.FORBIDDEN, f"user {user} may not have this log signed")
        return found

    def end_epochs(self) -> None:
        """End the epochs that are over. Never raises: one that could not be ended is tried again, and signs nothing."""
        for vault, lock in self._vaults.values():
            try:
                with lock:
                    vault.end_if_over()
            except (JournalError, OSError) as error:
                _LOG.error("an epoch could not be ended: %s", error)

    def status(self, user: int) -> dict[str, object]:
        """What the signer says of itself to a user: the logs that are theirs, all of them to root."""
        shown = [
            {
                "store": store,
                "key": did_key(vault.public),
                "size": vault.state.size,
                "root": vault.state.root.hex(),
                "signed_at": vault.signed_at,
                "kept": vault.entries.size,
                **_epoch(vault),
            }
            for store, (vault, _) in sorted(self._vaults.items())
            if user == 0 or user in vault.uids
        ]
        return {
            "protocol": PROTOCOL,
            "user": os.getuid(),
            "pid": os.getpid(),
            "logs": shown,
            "refusals": dict(self.refusals),
        }

    def close(self) -> None:
        """Let go of all files."""
        for vault, _ in self._vaults.values():
            vault.close()


def _epoch(vault: Vault) -> dict[str, object]:
    return {} if vault.epochs is None else {"epoch": vault.epochs.number, "epoch_seconds": vault.epochs.plan.seconds}


def _check_folder(folder: Path) -> None:
    try:
        found = folder.stat()
    except OSError as error:
        raise JournalError(
            f"cannot open {folder}: {error.strerror}", hint="create it with `tally signer init`"
        ) from error
    if found.st_uid != os.getuid() or stat.S_IMODE(found.st_mode) & 0o077:
        raise JournalError(
            f"{folder} must belong to the signer's user alone: owner {found.st_uid}, mode {stat.S_IMODE(found.st_mode):o}",
            hint=f"chown {os.getuid()} {folder}; chmod 700 {folder}",
        )


class _Handler(socketserver.BaseRequestHandler):
    server: Server

    def handle(self) -> None:
        connection: socket.socket = self.request
        connection.settimeout(_SECONDS)
        try:
            data = _read(connection)
            connection.sendall(self.server.signer.answer(user_of(connection), data))
        except OSError:
            return  # anyone who asked is gone, or too slow


def _read(connection: socket.socket) -> bytes:
    """A whole request: all that is sent until the other side has no more, or more than a request may have."""
    parts, size, until = list[bytes](), 0, time.monotonic() + _SECONDS
    while size <= MOST_REQUEST and time.monotonic() < until and (part := connection.recv(65_536)):
        parts.append(part)
        size += len(part)
    return b"".join(parts)


class Server(socketserver.UnixStreamServer):
    """Listens until it is shut down. Connections are served by threads that wait for them."""

    request_queue_size = 128

    def __init__(self, path: Path, signer: Signer) -> None:
        """Listen at `path`, which every user may write to: who asks is known by the kernel, not by the file's mode.

        Raises: JournalError: someone listens there already, or the socket cannot be made.
        """
        self.signer = signer
        self._guard = threading.Lock()
        self._served: Counter[int | None] = Counter()
        self._threads = ThreadPoolExecutor(_MOST_AT_ONCE, thread_name_prefix="tallystick-signer")
        try:
            _make_room(path)
            super().__init__(str(path), _Handler)
            path.chmod(0o666)
        except OSError as error:
            raise JournalError(f"cannot listen at {path}: {error.strerror or error}") from error

    def service_actions(self) -> None:
        """What is done twice a second, no matter who asks or not."""
        self.signer.end_epochs()

    def process_request(self, request: socket.socket | tuple[bytes, socket.socket], client_address: object) -> None:
        """Have a connection served. A user who has many open already is not let in, so that others are."""
        user = None
        if isinstance(request, socket.socket):
            user = user_of(request)
        with self._guard:
            may = self._served[user] < _MOST_OF_ONE_USER
            self._served[user] += may
        if may:
            self._threads.submit(self._serve, request, client_address, user)
        else:
            self.shutdown_request(request)

    def _serve(
        self, request: socket.socket | tuple[bytes, socket.socket], client_address: object, user: int | None
    ) -> None:
        try:
            self.finish_request(request, client_address)
        finally:
            self.shutdown_request(request)
            with self._guard:
                self._served[user] -= 1
                if not self._served[user]:
                    del self._served[user]

    def server_close(self) -> None:
        """Listen no more; what is being answered is answered."""
        super().server_close()
        self._threads.shutdown()


def _make_room(path: Path) -> None:
    """Take away the socket of a signer that is gone, and nothing else that stands there."""
    if path.exists() and not path.is_socket():
        raise JournalError(f"{path} is not a socket", hint="give a path that does not exist yet")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        try:
            probe.connect(str(path))
        except FileNotFoundError:
            return
        except OSError:
            path.unlink(missing_ok=True)
            return
    raise JournalError(f"a signer already listens at {path}", hint="`tally signer status` asks it")
