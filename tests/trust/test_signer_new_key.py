"""A signer that can go on no more gets another key: who may do that, when, and what is said of it."""

from __future__ import annotations

import os
from hashlib import sha256
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner

from tallystick.cli import main
from tallystick.errors import JournalError, NotFoundError
from tallystick.journal.home import Home
from tallystick.journal.lines import LineFile
from tallystick.model.verdict import Require
from tallystick.recording.store_identity import read_store
from tallystick.seal.canonical import canonical
from tallystick.seal.extension import LogState
from tallystick.signer.entry_file import entries_path
from tallystick.signer.pins import read_pins
from tallystick.trust import signer_new_key
from tallystick.trust.drop_privileges import as_user
from tallystick.trust.signer_new_key import give_new_key
from tallystick.trust.signer_recovery import recover
from tallystick.trust.signer_setup import start
from tallystick.trust.verify import Demand, StoreEvidence, verify_store
from tests.support.signer_machine import ALICE, SIGNER, Machine, foreign, guarded, needs_root, record


@pytest.fixture
def home(machine: Machine) -> Home:
    return guarded(machine)


def poisoned(machine: Machine, home: Home) -> Path:
    """What one request did to a signer that took hashes: it signed a ledger that is nowhere. Its file."""
    vault = machine.places.folder / f"{read_store(home).store_id}.log"
    machine.end()
    last = vault.read_bytes().splitlines()[-1]
    size = msgspec.json.decode(last)["size"] + 32
    subtrees = [os.urandom(32).hex() for _ in range(size.bit_count())]
    line = {"prev": sha256(last).hexdigest(), "size": size, "subtrees": subtrees, "at": "2026-01-01T00:00:00.000000Z"}
    assert LogState("", size, tuple(map(bytes.fromhex, subtrees))).root
    with vault.open("ab") as file:
        file.write(canonical(line) + b"\n")
    entries_path(vault).unlink()
    start(machine.places, SIGNER)
    return vault


@needs_root
def test_a_signer_that_was_poisoned_before_goes_on_with_another_key_and_all_of_it_is_sealed(
    machine: Machine, home: Home
) -> None:
    before = tuple(LineFile(home.ledger))
    vault = poisoned(machine, home)
    record(home, ALICE, "refused")
    assert not machine.is_guarded(home)
    with pytest.raises(JournalError):
        as_user(ALICE, lambda: str(recover(home).cause))
    (old,) = read_pins(machine.places.pins)
    found = give_new_key(home, places=machine.places)
    (new,) = read_pins(machine.places.pins)
    assert (found.pin, found.old_key, new.key == old.key) == (new, old.key, False)
    assert (found.agreed, len(found.unknown)) == (len(before), 1)
    assert all(Path(path).name.startswith(vault.stem) and Path(path).exists() for path in found.aside)
    record(home, ALICE, "after")
    around = machine.outlook(home)
    evidence = StoreEvidence(pinned=around.key, known=around.heads, alarms=around.alarms, notes=around.notes)
    verdict = verify_store(home, evidence=evidence, demand=Demand(require=Require.A3))
    assert (verdict.exit_code, verdict.unsealed) == (0, 0)
    assert any("root gave the signer another key" in remark for remark in verdict.remarks)
    assert f"of {len(before) + 32} entries" in home.ledger.read_text("utf-8")
    assert foreign(home.folder, ALICE) == []
    with pytest.raises(JournalError, match="can go on"):
        give_new_key(home, places=machine.places)


@needs_root
def test_it_is_told_in_words(machine: Machine, home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(signer_new_key, "usual_places", lambda: machine.places)
    poisoned(machine, home)
    done = CliRunner(env={"TERM": "dumb"}).invoke(main, ["--home", str(home.folder), "signer", "recover", "--new-key"])
    assert done.exit_code == 0, done.output
    first, second, third, *aside = done.stdout.splitlines()
    assert first.startswith("a recovery is sealed (new_key); the signer's key is did:key:")
    assert second.endswith("signed the first 5 entries of this ledger")
    assert third == "it also signed heads that are not of this ledger: 37 entries"
    assert all(line.startswith(f"set aside: {machine.places.folder}") for line in aside)


@needs_root
def test_a_signer_that_can_go_on_keeps_its_key(machine: Machine, home: Home) -> None:
    with pytest.raises(JournalError, match="can go on"):
        give_new_key(home, places=machine.places)
    with pytest.raises(NotFoundError, match="no signer"):
        give_new_key(machine.store(ALICE + 50, "other"), places=machine.places)


@needs_root
def test_a_ledger_of_which_the_old_key_signed_nothing_gets_none(machine: Machine, home: Home) -> None:
    poisoned(machine, home)
    home.ledger.write_bytes(b"{}\n")
    home.note.unlink()
    with pytest.raises(JournalError, match="nothing of this ledger"):
        give_new_key(home, places=machine.places)


def test_only_root_may(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(JournalError, match="only root") as refused:
        give_new_key(Home(tmp_path))
    assert "signer recover --new-key" in str(refused.value.hint)
