"""What is known of a store's signer: only what the kernel and the administrator say counts."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import orjson
import pytest

from tallystick.errors import FormatError, NotFoundError, SigningError
from tallystick.journal import ledger as ledger_module
from tallystick.journal.home import Home
from tallystick.journal.signing import forget_signer_place, signer_place, write_signer_place
from tallystick.model.step import Step
from tallystick.model.verdict import Level, Require, Verdict
from tallystick.recording.session_writer import SessionWriter
from tallystick.recording.store import open_archive
from tallystick.recording.store_identity import read_store
from tallystick.seal import standalone
from tallystick.seal.keys import SigningKey, did_key
from tallystick.signer import epochs
from tallystick.signer.epochs import make_epochs
from tallystick.signer.pins import Pin, write_pin
from tallystick.signer.server import Server, Signer
from tallystick.signer.vault import make_vault
from tallystick.trust import signer as asking
from tallystick.trust.external_evidence import outlook
from tallystick.trust.signer import ask_status, signed_beyond, signer_report
from tallystick.trust.verify import Demand, StoreEvidence, verify_store
from tallystick.trust.verify_named import live_epoch
from tallystick.workspace.ledger import ledger_entries

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


FIRST = SigningKey(b"\x31" * 32)
pytestmark = pytest.mark.skipif(os.getuid() != 0, reason="only what root wrote down is believed")


class Machine:
    """A store with a signer in a thread, whose clock a test sets. It is `hour` o'clock."""

    def __init__(self, base: Path) -> None:
        self.home, self.pins, self.folder = Home(base / "store"), base / "etc", base / "signer"
        self.hour = 0
        open_archive(self.home, make=True).close()
        self.store = read_store(self.home).store_id
        self.folder.mkdir(mode=0o700)
        make_vault(self.folder / f"{self.store}.log", self.store, b"\x31" * 32, (os.getuid(),))
        row = self.folder / f"{self.store}.epochs"
        make_epochs(row, store=self.store, key=did_key(FIRST.public), seconds=3_600, at=self.now())
        self.pin = Pin(
            store=self.store,
            key=did_key(FIRST.public),
            socket=str(base / "socket"),
            signer=os.getuid(),
            owner=os.getuid() + 1,
            home=str(self.home.folder),
            epoch_seconds=3_600,
        )
        write_pin(self.pin, self.pins)
        archive = open_archive(self.home)
        archive.ledger.append({"type": "key_add", "key": did_key(FIRST.public)})
        archive.sign(keep=True)
        archive.close()
        write_signer_place(self.home, base / "socket", FIRST.public)
        self.server = Server(base / "socket", Signer(self.folder, self.now))

    def now(self) -> str:
        return f"2026-01-01T{self.hour:02}:00:00.000000Z"

    def record(self) -> None:
        with SessionWriter(self.home) as session_writer:
            session_writer.add("demo", Step(session=f"s{self.hour}", type="user", values={"content.text": "x"}))

    def sign(self) -> None:
        archive = open_archive(self.home)
        try:
            archive.ledger.sign()
        finally:
            archive.close()

    def until(self, hour: int) -> None:
        """Let hours pass. The signer's clock ends one epoch at each."""
        while self.hour < hour:
            self.hour += 1
            self.server.signer.end_epochs()

    def verify(self, noted: str | None = "", *, now: str | None = None) -> Verdict:
        around = outlook(self.home, pins=self.pins)
        pinned = did_key(FIRST.public) if noted == "" else noted
        return verify_store(
            self.home,
            evidence=StoreEvidence(
                pinned=pinned or around.key,
                known=around.heads,
                live=live_epoch(around, at=now or self.now(), is_noted=pinned is not None),
                alarms=around.alarms,
            ),
            demand=Demand(require=Require.A3F),
        )

    def ends(self) -> list[object]:
        return [entry.meta["epoch"] for entry in ledger_entries(self.home, holding=b'"epoch"')]


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    made = Machine(tmp_path)
    with made.server as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        made.record()
        yield made
        server.shutdown()
        thread.join()
    made.server.signer.close()


def test_a_store_goes_on_through_epochs_and_seals_the_end_of_each(machine: Machine) -> None:
    machine.until(1)
    machine.record()
    machine.until(4)
    machine.record()
    assert machine.ends() == [1, 2, 3, 4]
    verdict = machine.verify()
    assert (verdict.exit_code, verdict.level, verdict.defects) == (0, Level.A3F, ())
    place = signer_place(machine.home)
    report = signer_report(machine.home, machine.pins)
    assert place is not None
    assert report.epochs is not None
    assert place.key == report.epochs.keys[-1] != did_key(FIRST.public)
    assert "epoch 4 ended" in report.epochs.told(machine.now())


def test_epochs_in_which_nothing_was_recorded_are_the_signers_to_tell(machine: Machine) -> None:
    machine.until(3)
    assert machine.ends() == []
    assert machine.verify().exit_code == 0
    machine.record()
    assert machine.ends() == [1, 2, 3]
    machine.until(5)
    assert (machine.ends(), machine.verify().level) == ([1, 2, 3], Level.A3F)


def test_more_epochs_than_one_answer_holds_are_all_sealed(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(epochs, "MOST_ENDS", 2)
    machine.until(7)
    assert machine.verify().level is Level.A3F
    machine.record()
    assert machine.ends() == [1, 2, 3, 4, 5, 6, 7]


def test_the_one_file_verifier_follows_the_epochs_too(machine: Machine) -> None:
    machine.until(2)
    machine.record()
    for pinned in (None, did_key(FIRST.public)):
        assert standalone.verify(machine.home.folder, pinned=pinned)["exit"] == 0
    assert standalone.verify(machine.home.folder, pinned=did_key(SigningKey(b"\x09" * 32).public))["exit"] == 2


def test_a_key_from_the_administrators_file_says_nothing_against_the_administrator(machine: Machine) -> None:
    machine.until(1)
    verdict = machine.verify(noted=None)
    assert (verdict.exit_code, verdict.level, verdict.defects) == (3, Level.A3, ())
    assert "--pinned" in verdict.why_not_higher


def test_before_the_first_end_and_long_after_the_last_one_it_is_below_what_was_asked(machine: Machine) -> None:
    assert (machine.verify().exit_code, machine.verify().too_old) == (
        3,
        "no epochs guard what is older (A3f): no epoch has ended",
    )
    machine.until(1)
    assert machine.verify(now="2026-01-01T02:01:00.000000Z").exit_code == 0
    late = machine.verify(now="2026-01-01T02:01:01.000000Z")
    assert (late.exit_code, late.level) == (3, Level.A3)
    assert "was to end by" in (late.too_old or "")
    report = signer_report(machine.home, machine.pins)
    assert report.epochs is not None
    assert report.epochs.is_late("2026-01-01T02:01:01.000000Z")
    assert "no signer did it" in report.epochs.told("2026-01-01T02:01:01.000000Z")


def test_a_machine_that_was_off_is_remarked_on_and_no_tampering(machine: Machine) -> None:
    machine.until(1)
    machine.hour = 9
    machine.server.signer.end_epochs()
    machine.record()
    verdict = machine.verify()
    assert (verdict.exit_code, verdict.level) == (0, Level.A3F)
    assert any("lasted longer" in remark for remark in verdict.remarks)


def test_a_signer_that_was_put_back_to_an_epoch_that_is_over_is_an_alarm(machine: Machine, tmp_path: Path) -> None:
    machine.until(1)
    shutil.copytree(machine.folder, tmp_path / "old")
    machine.until(3)
    machine.record()
    machine.server.signer.close()
    shutil.rmtree(machine.folder)
    shutil.copytree(tmp_path / "old", machine.folder)
    machine.folder.chmod(0o700)
    machine.hour = 1
    machine.server.signer = Signer(machine.folder, machine.now)
    report = signer_report(machine.home, machine.pins)
    assert any("its files were put back" in alarm for alarm in report.alarms)
    assert signed_beyond(machine.home, report) is not None
    assert machine.verify().exit_code == 2
    before = machine.home.ledger.read_bytes()
    with pytest.raises(SigningError, match="no epoch of this signer ended so"):
        machine.sign()
    place = signer_place(machine.home)
    assert place is not None
    assert place.key == list(ledger_entries(machine.home, holding=b'"epoch"'))[-1].meta["key"]
    assert machine.home.ledger.read_bytes().startswith(before)
    assert machine.ends() == [1, 2, 3]


def test_a_signer_with_a_key_that_follows_from_nothing_is_an_alarm(machine: Machine) -> None:
    machine.until(1)
    other = did_key(SigningKey(b"\x08" * 32).public)
    write_pin(msgspec.structs.replace(machine.pin, key=other), machine.pins)
    assert any("another key than follows" in alarm for alarm in signer_report(machine.home, machine.pins).alarms)


def test_a_recorder_that_dies_on_the_way_into_the_next_epoch_seals_each_end_once(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine.until(2)

    def die(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(ledger_module, "write_signer_place", die)
    with pytest.raises(KeyboardInterrupt):
        machine.record()
    monkeypatch.undo()
    machine.hour += 1
    machine.record()
    assert machine.ends() == [1, 2, 3]
    assert machine.verify().exit_code == 0


def test_whoever_listens_in_the_signers_place_gets_no_key_into_the_ledger(machine: Machine, tmp_path: Path) -> None:
    machine.until(1)
    machine.record()
    before = signer_place(machine.home)
    false = tmp_path / "false"
    false.mkdir(mode=0o700)
    make_vault(false / f"{machine.store}.log", machine.store, b"\x66" * 32, (os.getuid(),))
    own = did_key(SigningKey(b"\x66" * 32).public)
    make_epochs(false / f"{machine.store}.epochs", store=machine.store, key=own, seconds=60, at=machine.now())
    machine.server.signer.close()
    machine.server.signer = Signer(false, machine.now)
    machine.until(3)
    with pytest.raises(SigningError, match="not signed by that epoch's key"):
        machine.sign()
    assert signer_place(machine.home) == before
    assert machine.ends() == [1]
