from __future__ import annotations

import json
import os
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tallystick.errors import JournalError
from tallystick.seal.extension import Code, RefusedError, parse_answer, request_text
from tallystick.seal.keys import SigningKey, did_key
from tallystick.seal.note import verify_note
from tallystick.signer import server as server_module
from tallystick.signer.server import STATUS, Server, Signer
from tallystick.signer.vault import make_vault
from tests.support.shown_entries import STORE, ledger
from tests.support.shown_entries import asked as request_of

OTHER = "cd" * 16
SECRET = bytes(range(32))
ME = os.getuid()


def clock() -> str:
    return "2026-01-01T00:00:00.000000Z"


def asked(lines: tuple[bytes, ...], old: int, store: str = STORE) -> bytes:
    return request_text(request_of(lines, old, store=store))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "signer"
    folder.mkdir(mode=0o700)
    make_vault(folder / f"{STORE}.log", STORE, SECRET, (ME,))
    make_vault(folder / f"{OTHER}.log", OTHER, b"\x05" * 32, (ME + 1,))
    return folder


@pytest.fixture
def path(folder: Path, tmp_path: Path) -> Iterator[Path]:
    signer = Signer(folder, clock)
    with Server(tmp_path / "socket", signer) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield tmp_path / "socket"
        server.shutdown()
        thread.join()
    signer.close()


def say(path: Path, data: bytes) -> bytes:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(10)
        connection.connect(str(path))
        connection.sendall(data)
        connection.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: connection.recv(65_536), b""))


def code_of(answer: bytes) -> Code:
    with pytest.raises(RefusedError) as refused:
        parse_answer(answer)
    return refused.value.code


def test_a_log_is_signed_over_the_socket(path: Path) -> None:
    key = SigningKey(SECRET).public
    first = parse_answer(say(path, asked(ledger(2), 0)))
    second = parse_answer(say(path, asked(ledger(7), 2)))
    assert verify_note(first, [key]) == verify_note(second, [key]) == (key,)
    assert (first.size, second.size) == (2, 7)


def test_a_fork_is_not(path: Path) -> None:
    parse_answer(say(path, asked(ledger(2), 0)))
    assert code_of(say(path, asked(ledger(3, seed=1), 2))) is Code.UNFIT
    assert code_of(say(path, asked(ledger(3), 0))) is Code.BEHIND


def test_another_users_log_is_not(path: Path) -> None:
    assert code_of(say(path, asked(ledger(1), 0, OTHER))) is Code.FORBIDDEN


def test_a_log_without_a_key_is_not(path: Path) -> None:
    assert code_of(say(path, asked(ledger(1), 0, "ef" * 16))) is Code.UNKNOWN_LOG


@pytest.mark.parametrize("data", [b"", b"\0" * 40, b"old 0\n", b"x" * (5 << 20)])
def test_what_is_no_request_is_answered_and_ends_nothing(path: Path, data: bytes) -> None:
    try:
        answer = say(path, data)
    except (BrokenPipeError, ConnectionResetError):
        answer = None  # it read no further than a request may be long
    assert answer is None or code_of(answer) is Code.MALFORMED
    assert parse_answer(say(path, asked(ledger(1), 0))).size == 1


def test_of_two_who_sign_at_once_each_is_told_what_the_other_did(path: Path) -> None:
    answers: list[bytes] = []
    threads = [threading.Thread(target=lambda: answers.append(say(path, asked(ledger(3), 0)))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    signed = [answer for answer in answers if answer.startswith(b"200")]
    assert len(signed) == 1
    assert {code_of(answer) for answer in answers if answer not in signed} == {Code.BEHIND}


def test_status_tells_a_user_of_their_logs(path: Path) -> None:
    parse_answer(say(path, asked(ledger(4), 0)))
    number, _, said = say(path, STATUS).partition(b"\n")
    logs = {log["store"]: log for log in json.loads(said)["logs"]}
    assert number == b"200"
    assert (OTHER in logs) is (ME == 0)
    assert (logs[STORE]["size"], logs[STORE]["key"]) == (4, did_key(SigningKey(SECRET).public))
    assert SECRET.hex().encode() not in said


def test_who_asks_too_often_is_told_to_wait(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_module, "_A_SECOND", 1.5)
    signer = Signer(folder, clock)
    answers = [signer.answer(ME, STATUS) for _ in range(5)]
    assert [answer.startswith(b"200") for answer in answers] == [True] * 3 + [False] * 2
    assert code_of(answers[-1]) is Code.BUSY


def test_without_a_user_nothing_is_said(folder: Path) -> None:
    assert code_of(Signer(folder, clock).answer(None, STATUS)) is Code.FORBIDDEN


def test_a_folder_that_others_may_read_is_refused(folder: Path) -> None:
    folder.chmod(0o755)
    with pytest.raises(JournalError, match="alone"):
        Signer(folder, clock)


def test_a_second_signer_does_not_take_the_socket_of_the_first(path: Path, folder: Path) -> None:
    with pytest.raises(JournalError, match="already"):
        Server(path, Signer.__new__(Signer))
    assert parse_answer(say(path, asked(ledger(1), 0))).size == 1


def test_the_socket_of_a_dead_signer_is_taken_away(tmp_path: Path, folder: Path) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as dead:
        dead.bind(str(tmp_path / "socket"))
    signer = Signer(folder, clock)
    Server(tmp_path / "socket", signer).server_close()
    signer.close()


def test_what_stands_where_it_is_to_listen_is_not_taken_away(folder: Path, tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_text("not a socket")
    signer = Signer(folder, clock)
    with pytest.raises(JournalError, match="is not a socket"):
        Server(precious, signer)
    assert precious.read_text() == "not a socket"
    for too_long in (tmp_path / ("x" * 200), tmp_path / ("x" * 300)):
        with pytest.raises(JournalError, match="too long"):
            Server(too_long, signer)
    signer.close()
