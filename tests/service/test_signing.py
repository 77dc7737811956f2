"""A recorder whose signer is down, hung, refuses or answers rubbish: real processes, and the questions of DESIGN 5.

Was the agent answered within its deadline, is everything recorded, does the recorder say what is wrong, and is all of it
under a head once the signer is back?
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tallystick.capture import recorder
from tallystick.errors import TallystickError
from tallystick.journal.home import Home
from tallystick.journal.ledger import read_note
from tallystick.journal.signing import SignerAt, SignerPlace, write_signer_place
from tallystick.recording.store import open_archive
from tallystick.recording.store_identity import read_store
from tallystick.seal.extension import Code, RefusedError, refusal_text
from tallystick.seal.keys import SigningKey, did_key
from tallystick.seal.note import verify_note
from tallystick.signer.vault import make_vault
from tallystick.trust.signer import ask_status
from tallystick.trust.verify import verify_store
from tests.service.faults import before, call_ids, run_hook, wait_for
from tests.support import recorders

KEY = SigningKey(b"\x17" * 32)


class Guard:
    """A store's signer, in a process of its own, that can be made to fail."""

    def __init__(self, base: Path, home: Home) -> None:
        self.home = home
        self.folder, self.socket = base / "signer", base / "socket"
        self.folder.mkdir(mode=0o700)
        open_archive(home, make=True).close()
        store = read_store(home).store_id
        make_vault(self.folder / f"{store}.log", store, b"\x17" * 32, (os.getuid(),))
        self._process: subprocess.Popen[bytes] | None = None
        self._impostor: socket.socket | None = None
        self.start()
        archive = open_archive(home)
        archive.ledger.append({"type": "key_add", "key": did_key(KEY.public)})
        archive.ledger.sign_together(SignerAt(SignerPlace(str(self.socket), did_key(KEY.public))))
        archive.close()
        write_signer_place(home, self.socket, KEY.public)

    def start(self) -> None:
        self.stop()
        words = [sys.executable, "-m", "tallystick.signer", str(self.folder), str(self.socket)]
        self._process = subprocess.Popen(words)
        wait_for(self._answers)

    def _answers(self) -> bool:
        try:
            ask_status(self.socket)
        except TallystickError:
            return False
        return True

    def kill(self) -> None:
        assert self._process is not None
        self._process.kill()
        self._process.wait()
        self._process = None

    def hang(self) -> None:
        """The kernel goes on taking connections, and nobody answers."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)

    def impersonate(self, answer: Callable[[socket.socket], object]) -> None:
        """Something else listens in its place."""
        self.kill()
        self.socket.unlink(missing_ok=True)
        listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        listening.bind(str(self.socket))
        listening.listen(64)
        self._impostor = listening

        def serve() -> None:
            while True:
                try:
                    connection, _ = listening.accept()
                except OSError:
                    return
                threading.Thread(target=_answer, args=(connection, answer), daemon=True).start()

        threading.Thread(target=serve, daemon=True).start()

    def stop(self) -> None:
        if self._impostor is not None:
            self._impostor.shutdown(socket.SHUT_RDWR)
            self._impostor.close()
            self._impostor = None
            self.socket.unlink(missing_ok=True)
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None


def _answer(connection: socket.socket, answer: Callable[[socket.socket], object]) -> None:
    with connection:
        try:
            while connection.recv(65_536):
                pass
            answer(connection)
        except OSError:
            return


def drip(connection: socket.socket) -> None:
    for _ in range(200):
        connection.sendall(b"2")
        time.sleep(0.05)


def flood(connection: socket.socket) -> None:
    for _ in range(1_000):
        connection.sendall(b"200\n" + b"x" * 65_536)


def refuse(connection: socket.socket) -> None:
    connection.sendall(refusal_text(RefusedError(Code.NOT_CONSISTENT, "another root comes of it", size=1)))


def another_head(connection: socket.socket) -> None:
    from tallystick.seal.note import sign_note

    connection.sendall(b"200\n" + sign_note("ab" * 16, 7, b"\x01" * 32, [KEY]))


FAULTS: dict[str, Callable[[Guard], None]] = {
    "down": Guard.kill,
    "hung": Guard.hang,
    "says nothing": lambda guard: guard.impersonate(lambda _: None),
    "never ends": lambda guard: guard.impersonate(drip),
    "says too much": lambda guard: guard.impersonate(flood),
    "refuses": lambda guard: guard.impersonate(refuse),
    "rubbish": lambda guard: guard.impersonate(lambda connection: connection.sendall(b"\xff\0 no\n\n")),
    "claims success": lambda guard: guard.impersonate(lambda connection: connection.sendall(b"200\nnothing\n")),
    "signs something else": lambda guard: guard.impersonate(another_head),
}
QUICK = ("down", "hung", "refuses", "signs something else")
"""Nobody listens, nobody answers, an honest refusal, a lie: `make soak` tries the others too."""


@pytest.fixture
def guard(tmp_path: Path) -> Iterator[Guard]:
    yield from guarded(tmp_path)


@pytest.fixture(scope="module")
def lasting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guard]:
    """A guard for tests that leave everything signed, and their recorder well."""
    yield from guarded(tmp_path_factory.mktemp("lasting"))


def guarded(base: Path) -> Iterator[Guard]:
    home = Home(base / "store")
    guard = Guard(base, home)
    recorders.start(home.folder)
    yield guard
    recorder.stop(home.folder)
    guard.stop()


def state(home: Home) -> dict[str, Any]:
    found = recorder.status(home.folder)
    assert found is not None
    return found


def is_all_signed(home: Home) -> bool:
    note = read_note(home)
    if note is None or not verify_note(note, [KEY.public]):
        return False
    return verify_store(home).unsealed == 0


def test_an_intent_is_under_a_head_when_its_call_may_run(lasting: Guard) -> None:
    for number in range(2):
        assert run_hook(lasting.home.folder, before("claude-code", number)).returncode == 0
        assert is_all_signed(lasting.home)
    assert state(lasting.home)["signing_problem"] is None


@pytest.mark.parametrize(
    "fault", [fault if fault in QUICK else pytest.param(fault, marks=pytest.mark.soak) for fault in FAULTS]
)
def test_deliveries_are_answered_and_recorded_and_signed_later(lasting: Guard, fault: str) -> None:
    home, first = lasting.home, 10 + 10 * list(FAULTS).index(fault)
    run_hook(home.folder, before("claude-code", first))
    recorded = len(call_ids(home))
    FAULTS[fault](lasting)
    for number in range(1, 4):
        done = run_hook(home.folder, {**before("claude-code", first + number), "session_id": f"{fault}-{number % 2}"})
        assert done.returncode == 0
    wait_for(lambda: state(home)["signing_problem"] is not None)
    assert state(home)["lost"] == state(home)["spooled"] == 0
    assert len(call_ids(home)) == recorded + 3
    assert not is_all_signed(home)
    assert verify_store(home).valid  # what is not signed yet is no tampering
    lasting.start()
    wait_for(lambda: is_all_signed(home))
    wait_for(lambda: state(home)["signing_problem"] is None)


def test_a_recorder_that_ends_while_the_signer_is_down_leaves_nothing_behind(guard: Guard) -> None:
    run_hook(guard.home.folder, before("claude-code", 0))
    guard.kill()
    run_hook(guard.home.folder, before("claude-code", 1))
    recorder.stop(guard.home.folder)
    wait_for(lambda: recorder.status(guard.home.folder) is None)
    guard.start()
    recorders.start(guard.home.folder)
    run_hook(guard.home.folder, before("claude-code", 2))
    wait_for(lambda: is_all_signed(guard.home))
    assert len(call_ids(guard.home)) == 3
