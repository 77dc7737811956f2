from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tallystick.errors import JournalError
from tallystick.journal.home import Home
from tallystick.journal.ledger import read_note
from tallystick.journal.signing import RefusedBySigner, signer_of, write_signer_place
from tallystick.model.step import Step
from tallystick.operations.scribe import Scribe
from tallystick.operations.store import open_archive
from tallystick.operations.store_identity import read_store
from tallystick.seal.extension import Code
from tallystick.seal.keys import SigningKey
from tallystick.seal.note import verify_note
from tallystick.signer.server import Server, Signer
from tallystick.signer.vault import make_vault

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


def record(home: Home, count: int, name: str = "s") -> None:
    with Scribe(home) as scribe:
        for n in range(count):
            scribe.add("probe", Step(session=f"{name}{n}", type="user", values={"content.text": "x"}))
            scribe.seal()


def test_a_store_is_signed_by_its_signer(home: Home, signer: Signer) -> None:
    record(home, 3)
    note = read_note(home)
    assert note is not None
    assert verify_note(note, [KEY]) == (KEY,)
    assert note.size > 3


def test_two_processes_of_one_store_may_sign_in_turn(home: Home, signer: Signer) -> None:
    with Scribe(home) as one, Scribe(home) as other:
        for n in range(4):
            for scribe in (one, other):
                scribe.add("probe", Step(session=f"t{n}", type="user", values={"content.text": "x"}))
                scribe.seal()
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
    with pytest.raises(JournalError, match="not the signature"):
        record(home, 1)


def test_a_store_without_one_signs_with_its_own_key(home: Home) -> None:
    assert signer_of(home).public != KEY
    record(home, 1)
