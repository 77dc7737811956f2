"""A store whose signer erases its keys: from the first one on, each follows from the one before it."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from tallystick.errors import SigningError
from tallystick.journal import ledger as ledger_module
from tallystick.journal.home import Home
from tallystick.journal.signing import signer_place, write_signer_place
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
from tallystick.trust.external_evidence import outlook
from tallystick.trust.signer import signed_beyond, signer_report
from tallystick.trust.verify import Demand, StoreEvidence, verify_store
from tallystick.trust.verify_named import live_epoch
from tallystick.workspace.ledger import ledger_entries

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
    with pytest.raises(SigningError, match="not signed by that epoch's key"):
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
