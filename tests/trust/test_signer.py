"""What is known of a store's signer: only what the kernel and the administrator say counts."""

from __future__ import annotations

import contextlib
import os
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import orjson
import pytest

from tallystick.errors import FormatError, NotFoundError, SigningError
from tallystick.journal.home import Home
from tallystick.journal.signing import forget_signer_place, write_signer_place
from tallystick.model.step import Step
from tallystick.model.verdict import Level
from tallystick.recording.session_writer import SessionWriter
from tallystick.recording.store import open_archive
from tallystick.recording.store_identity import read_store
from tallystick.seal.keys import SigningKey, did_key
from tallystick.signer.pins import Pin, write_pin
from tallystick.signer.server import Server, Signer
from tallystick.signer.vault import make_vault
from tallystick.trust import signer as asking
from tallystick.trust.signer import ask_status, signed_beyond, signer_report

KEY = SigningKey(b"\x31" * 32).public
NOW = "2026-01-01T00:00:00.000000Z"
needs_root = pytest.mark.skipif(os.getuid() != 0, reason="only what root wrote down is believed")


class Guarded:
    """A store with a signer in a thread, and what an administrator wrote down of it."""

    def __init__(self, base: Path) -> None:
        self.home, self.pins, self.socket = Home(base / "store"), base / "etc", base / "socket"
        open_archive(self.home, make=True).close()
        self.store = read_store(self.home).store_id
        folder = base / "signer"
        folder.mkdir(mode=0o700)
        make_vault(folder / f"{self.store}.log", self.store, b"\x31" * 32, (os.getuid(),))
        self.signer = Signer(folder, lambda: NOW)
        write_signer_place(self.home, self.socket, KEY)

    def pin(self, **changed: object) -> Pin:
        """Write down who signs, as it is but for what is changed."""
        own = {"store": self.store, "key": did_key(KEY), "socket": str(self.socket), "home": str(self.home.folder)}
        pin = msgspec.convert({**own, "signer": os.getuid(), "owner": os.getuid() + 1, **changed}, Pin)
        write_pin(pin, self.pins)
        return pin

    def record(self) -> None:
        with SessionWriter(self.home) as session_writer:
            session_writer.add("demo", Step(session="s", type="user", values={"content.text": "x"}))


@pytest.fixture
def guarded(tmp_path: Path) -> Iterator[Guarded]:
    made = Guarded(tmp_path)
    with Server(made.socket, made.signer) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        made.record()
        yield made
        server.shutdown()
        thread.join()
    made.signer.close()


@pytest.fixture
def trusting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Folders of tests are nobody's but root's: here it does not matter which way leads to them."""
    monkeypatch.setattr("tallystick.signer.pins.check_guarded", lambda path: None)


def answering(path: Path, answer: bytes) -> Callable[[], None]:
    """A socket that answers so to whoever comes; how to end it."""
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listening.bind(str(path))
    listening.listen(8)

    def serve() -> None:
        while True:
            try:
                connection, _ = listening.accept()
            except OSError:
                return
            with connection, contextlib.suppress(OSError):
                connection.recv(65_536)
                connection.sendall(answer)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()

    def end() -> None:
        listening.shutdown(socket.SHUT_RDWR)
        listening.close()
        thread.join()

    return end


def test_what_the_signer_remembers_counts(guarded: Guarded, trusting: None) -> None:
    pin = guarded.pin()
    found = signer_report(guarded.home, guarded.pins)
    assert (found.pin, found.problems, found.alarms, found.is_configured) == (pin, (), (), True)
    assert found.head is not None
    assert (found.head.level, found.head.at, found.head.size) == (Level.A3, NOW, found.size)
    assert signed_beyond(guarded.home, found) is None


def test_a_store_that_nobody_wrote_down_has_none(guarded: Guarded, trusting: None) -> None:
    found = signer_report(guarded.home, guarded.pins)
    assert (found.pin, found.head, found.alarms, found.is_configured) == (None, None, (), True)


def test_another_store_in_the_place_of_one_is_an_alarm(guarded: Guarded, trusting: None) -> None:
    guarded.pin(store="ab" * 16)
    (alarm,) = signer_report(guarded.home, guarded.pins).alarms
    assert "another one is in its place" in alarm


def test_a_store_that_forgot_its_signer_is_an_alarm(guarded: Guarded, trusting: None) -> None:
    guarded.pin()
    forget_signer_place(guarded.home)
    (alarm,) = signer_report(guarded.home, guarded.pins).alarms
    assert "signer.json is gone" in alarm


@pytest.mark.parametrize(
    ("changed", "problem", "is_alarm"),
    [
        ({"signer": 4_711}, "not the signer's user 4711", True),
        ({"owner": os.getuid()}, "runs as the user who records", False),
        ({"key": did_key(SigningKey(b"\x32" * 32).public)}, "another key", True),
        ({"socket": "/nowhere/at/all"}, "does not answer", False),
    ],
)
def test_one_who_is_not_who_was_written_down_does_not_count(
    guarded: Guarded, trusting: None, changed: dict[str, object], problem: str, is_alarm: bool
) -> None:
    guarded.pin(**changed)
    found = signer_report(guarded.home, guarded.pins)
    assert any(problem in said for said in found.problems)
    assert any(problem in said for said in found.alarms) is is_alarm
    assert found.head is None


@pytest.mark.parametrize(("user", "alarms"), [(0, 1), (4_711, 1), (4_712, 0)])
def test_a_signer_that_knows_nothing_of_the_store_is_an_alarm_to_whom_it_would_tell(
    guarded: Guarded, trusting: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, user: int, alarms: int
) -> None:
    end = answering(tmp_path / "other", b'200\n{"logs": []}')
    guarded.pin(socket=str(tmp_path / "other"), owner=4_711)
    monkeypatch.setattr("os.geteuid", lambda: user)
    found = signer_report(guarded.home, guarded.pins)
    end()
    assert len([alarm for alarm in found.alarms if "knows nothing of this store" in alarm]) == alarms


def test_what_others_may_write_down_does_not_count(guarded: Guarded) -> None:
    guarded.pins.mkdir()
    guarded.pins.chmod(0o777)
    guarded.pin()
    found = signer_report(guarded.home, guarded.pins)
    assert "other users can change" in found.problems[0]
    assert found.head is None


@pytest.mark.parametrize(
    "said",
    [
        b"",
        b"200\n",
        b"200\n[]",
        b"200\n{}",
        b"404\n{}",
        b"\xff\0",
        b"200\n" + orjson.dumps({"logs": [7]}),
        b"200\n" + orjson.dumps({"logs": "x"}),
        b"200\n" + orjson.dumps({"logs": [{"store": "STORE", "key": "k", "size": "many", "root": "00"}]}),
        b"200\n" + orjson.dumps({"logs": [{"store": "STORE", "key": "k", "size": 1, "root": "not hex"}]}),
        b"200\n" + orjson.dumps({"logs": [{"store": "another", "key": "k", "size": 1, "root": "00"}]}),
    ],
)
def test_rubbish_is_a_problem_and_nothing_raises(guarded: Guarded, trusting: None, tmp_path: Path, said: bytes) -> None:
    end = answering(tmp_path / "other", said.replace(b"STORE", guarded.store.encode()))
    guarded.pin(socket=str(tmp_path / "other"))
    found = signer_report(guarded.home, guarded.pins)
    end()
    assert found.problems
    assert found.head is None


def test_an_answer_without_an_end_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    end = answering(tmp_path / "other", b"x" * (1 << 20))
    with pytest.raises(SigningError, match="is longer than a signer"):
        ask_status(tmp_path / "other")
    end()
    monkeypatch.setattr(asking, "PATIENCE_SECONDS", 0.0)
    with pytest.raises(SigningError, match="timed out"):
        ask_status(tmp_path / "other")


def test_an_older_state_shows_by_what_was_signed(guarded: Guarded, trusting: None) -> None:
    guarded.pin()
    found = signer_report(guarded.home, guarded.pins)
    assert found.size is not None
    said = signed_beyond(guarded.home, msgspec.structs.replace(found, size=found.size - 1))
    assert said is not None
    assert "put back to an older one" in said
    assert signed_beyond(guarded.home, msgspec.structs.replace(found, pin=None)) is None
    guarded.home.note.write_bytes(b"no head")
    assert signed_beyond(guarded.home, found) is None


def test_without_a_store_there_is_nothing_to_ask_about(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError):
        signer_report(Home(tmp_path / "none"), tmp_path)
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "ledger.jsonl").write_bytes(b"")
    with pytest.raises(FormatError):
        signer_report(Home(tmp_path / "bad"), tmp_path)


@needs_root
def test_what_root_wrote_down_where_nobody_else_writes_counts() -> None:
    import shutil
    import tempfile

    base = Path(tempfile.mkdtemp(prefix="signer-"))
    try:
        made = Guarded(base)
        made.pin()
        assert "can be changed" not in "".join(signer_report(made.home, made.pins).problems)
        made.signer.close()
    finally:
        shutil.rmtree(base)
