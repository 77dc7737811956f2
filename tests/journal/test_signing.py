from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tallystick.errors import JournalError, SigningError
from tallystick.journal import signing
from tallystick.journal.home import Home
from tallystick.journal.ledger import read_note, root_of
from tallystick.journal.signing import RefusedBySigner, signer_of, write_signer_place
from tallystick.model.step import Step
from tallystick.recording.session_writer import SessionWriter
from tallystick.recording.store import open_archive
from tallystick.recording.store_identity import read_store
from tallystick.seal.extension import Code, parse_answer
from tallystick.seal.keys import SigningKey, did_key
from tallystick.seal.note import verify_note
from tallystick.signer.server import Server, Signer
from tallystick.signer.vault import make_vault
from tallystick.trust.verify import StoreEvidence, verify_store
from tests.support.laws import examples
from tests.support.sealed import record

SECRET = bytes(range(1, 33))
KEY = SigningKey(SECRET).public


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path / "store")
    open_archive(home, make=True).close()
    return home


@pytest.fixture
def signer(home: Home, tmp_path: Path) -> Iterator[Signer]:
    folder = tmp_path / "signer"
    folder.mkdir(mode=0o700)
    store = read_store(home).store_id
    make_vault(folder / f"{store}.log", store, SECRET, (os.getuid(),))
    signer = Signer(folder, lambda: "2026-01-01T00:00:00.000000Z")
    with Server(tmp_path / "socket", signer) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        write_signer_place(home, tmp_path / "socket", KEY)
        yield signer
        server.shutdown()
        thread.join()
    signer.close()


def test_a_store_is_signed_by_its_signer(home: Home, signer: Signer) -> None:
    record(home, 3)
    note = read_note(home)
    assert note is not None
    assert verify_note(note, [KEY]) == (KEY,)
    assert note.size > 3


def test_two_processes_of_one_store_may_sign_in_turn(home: Home, signer: Signer) -> None:
    with SessionWriter(home) as one, SessionWriter(home) as other:
        for n in range(4):
            for session_writer in (one, other):
                session_writer.add("probe", Step(session=f"t{n}", type="user", values={"content.text": "x"}))
                session_writer.seal()
    note = read_note(home)
    assert note is not None
    assert signer.answer(os.getuid(), b"status\n").count(str(note.size).encode())


def test_a_ledger_that_is_rewritten_is_not_signed(home: Home, signer: Signer, tmp_path: Path) -> None:
    record(home, 2)
    other = Home(tmp_path / "other")
    (tmp_path / "other").mkdir(mode=0o700)
    lines = home.ledger.read_bytes().splitlines(keepends=True)
    (tmp_path / "other" / "keys").mkdir()
    home.ledger.write_bytes(b"".join(lines[:1]))
    home.note.unlink()
    with pytest.raises(RefusedBySigner) as refused:
        record(home, 1, "forged")
    assert refused.value.code in (Code.BEHIND, Code.NOT_CONSISTENT)
    assert not other.note.exists()


def test_without_the_signer_nothing_is_signed_and_it_is_told(home: Home, signer: Signer, tmp_path: Path) -> None:
    record(home, 1)
    before = home.note.read_bytes()
    write_signer_place(home, tmp_path / "nobody", KEY)
    with pytest.raises(JournalError, match="does not answer"):
        record(home, 1, "late")
    assert home.note.read_bytes() == before
    write_signer_place(home, tmp_path / "socket", KEY)
    record(home, 1, "later")
    note = read_note(home)
    assert note is not None
    assert note.size > 3


def test_another_signer_at_the_socket_is_not_believed(home: Home, signer: Signer, tmp_path: Path) -> None:
    write_signer_place(home, tmp_path / "socket", SigningKey(b"\x09" * 32).public)
    with pytest.raises(JournalError, match="not the requested signature"):
        record(home, 1)


def test_a_store_without_one_signs_with_its_own_key(home: Home) -> None:
    assert signer_of(home).public != KEY
    record(home, 1)


# Whatever happens in whatever order ------------------------------------------------------------------------------------


class Crashing:
    """A signer in a process of its own as far as it matters: all that outlives it is its file.

    It can be killed before it writes, and between writing and answering.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.signed: dict[int, bytes] = {}
        """What whoever asked was ever given: size to root."""
        self.dies: str | None = None
        self.is_up = True
        self._signer = self._start()

    def _start(self) -> Signer:
        return Signer(self._folder, lambda: "2026-01-01T00:00:00.000000Z")

    def kill(self) -> None:
        self._signer.close()
        self.is_up = False

    def restart(self) -> None:
        if self.is_up:
            self.kill()
        self._signer, self.is_up = self._start(), True

    def exchange(self, path: Path, data: bytes, *, until: float) -> bytes:
        """In place of a socket."""
        if not self.is_up or self.dies == "before":
            self.dies = None
            raise SigningError("the signer does not answer")
        answer = self._signer.answer(os.getuid(), data)
        if self.dies == "after":
            self.dies = None
            self.kill()
            raise SigningError("the signer does not answer")
        if answer.startswith(b"200"):
            note = parse_answer(answer)
            assert self.signed.setdefault(note.size, note.root) == note.root
        return answer


ACTS = st.lists(
    st.sampled_from(["one", "other", "one", "other", "new one", "new other", "restart", "kill", "before", "after"]),
    max_size=24,
)


@settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(ACTS)
def test_nothing_that_was_signed_is_ever_contradicted(acts: list[str]) -> None:
    with tempfile.TemporaryDirectory() as base, pytest.MonkeyPatch.context() as patch:
        home, folder = Home(Path(base) / "store"), Path(base) / "signer"
        open_archive(home, make=True).close()
        folder.mkdir(mode=0o700)
        store = read_store(home).store_id
        make_vault(folder / f"{store}.log", store, SECRET, (os.getuid(),))
        write_signer_place(home, Path(base) / "socket", KEY)
        signer = Crashing(folder)
        patch.setattr(signing, "exchange", signer.exchange)
        patch.setattr("tallystick.signer.server._A_SECOND", 1e6)
        session_writers = {"one": SessionWriter(home), "other": SessionWriter(home)}
        for n, act in enumerate(acts):
            whose = act.removeprefix("new ")
            if act == "restart":
                signer.restart()
            elif act == "kill":
                if signer.is_up:
                    signer.kill()
            elif act in ("before", "after"):
                signer.dies = act
            else:
                if act != whose:
                    session_writers[whose].close()
                    session_writers[whose] = SessionWriter(home)
                session_writers[whose].add(
                    "probe", Step(session=f"s{n % 3}", type="user", values={"content.text": str(n)})
                )
                with contextlib.suppress(SigningError):
                    session_writers[whose].seal()
        signer.dies = None
        signer.restart()
        for session_writer in session_writers.values():
            session_writer.close()
        with SessionWriter(home) as last:
            last.add("probe", Step(session="last", type="user", values={"content.text": "x"}))
        note = read_note(home)
        assert note is not None
        assert verify_note(note, [KEY]) == (KEY,)
        assert note.size in signer.signed
        assert all(root_of(home.ledger, size) == root for size, root in signer.signed.items())
        assert verify_store(home, evidence=StoreEvidence(pinned=did_key(KEY))).unsealed == 0
        signer.kill()


def test_a_signer_that_is_killed_while_it_signs_goes_on_when_it_is_back(home: Home, tmp_path: Path) -> None:
    """With a real process and a real kill, again and again in the middle of much signing."""
    folder, path = tmp_path / "signer", tmp_path / "socket"
    folder.mkdir(mode=0o700)
    store = read_store(home).store_id
    make_vault(folder / f"{store}.log", store, SECRET, (os.getuid(),))
    write_signer_place(home, path, KEY)
    roots: dict[int, bytes] = {}
    words = [sys.executable, "-m", "tallystick.signer", str(folder), str(path)]
    process = subprocess.Popen(words)
    with SessionWriter(home) as session_writer:
        for n in range(60):
            if n % 15 == 7:
                threading.Timer(0.003 * (n // 15), process.kill).start()
            session_writer.add("probe", Step(session=f"s{n % 4}", type="user", values={"content.text": "x"}))
            try:
                session_writer.seal()
            except SigningError:
                if process.poll() is not None:
                    process = subprocess.Popen(words)
            note = read_note(home)
            if note is not None and verify_note(note, [KEY]):
                assert roots.setdefault(note.size, note.root) == note.root
        process.kill()
        process.wait()
        process = subprocess.Popen(words)
        until = time.monotonic() + 120
        while time.monotonic() < until:
            with contextlib.suppress(SigningError):
                session_writer.seal()
                break
            time.sleep(0.02)
    assert all(root_of(home.ledger, size) == root for size, root in roots.items())
    found = read_note(home)
    assert found is not None
    assert verify_note(found, [KEY]) == (KEY,)
    process.kill()
    process.wait()
