"""A signer with epochs, from its setting up on: as root, on a machine of its own below one folder."""

from __future__ import annotations

import contextlib
import time

import pytest

from tallystick.errors import JournalError
from tallystick.journal.archive import system_clock
from tallystick.journal.home import Home
from tallystick.journal.signing import signer_place
from tallystick.model.verdict import Require
from tallystick.signer.vault import Vault
from tallystick.trust import signer_setup
from tallystick.trust.drop_privileges import as_user
from tallystick.trust.signer_setup import leave, plan, set_up, start
from tallystick.trust.verify import Demand, StoreEvidence, verify_store
from tallystick.trust.verify_named import live_epoch
from tests.support.signer_machine import ALICE, SIGNER, Machine, foreign, needs_root, record


def end_epoch(machine: Machine) -> None:
    """Have the signer erase its key now."""
    machine.end()
    (path,) = machine.places.folder.glob("*.log")

    def work() -> str:
        vault = Vault(path, system_clock, monotonic=iter((0.0, 1e9, 1e9)).__next__)
        vault.end_if_over()
        vault.close()
        return ""

    for _ in range(6_000):  # the one that was killed may hold it for a moment
        with contextlib.suppress(JournalError):
            as_user(SIGNER, work)
            break
        time.sleep(0.01)
    start(machine.places, SIGNER)


def set_up_epochs(machine: Machine, home: Home) -> str:
    return set_up(plan(home, user=str(SIGNER), places=machine.places, epochs=3_600)).key


def is_forward(machine: Machine, home: Home, first: str) -> bool:
    """Whether a store is sound at A3f, for who noted the first key."""
    around = machine.outlook(home)
    live = live_epoch(around, at=system_clock(), is_noted=True)
    known, alarms = around.heads, around.alarms
    verdict = verify_store(
        home,
        evidence=StoreEvidence(pinned=first, known=known, alarms=alarms, live=live),
        demand=Demand(require=Require.A3F),
    )
    return verdict.exit_code == 0


@needs_root
def test_a_signer_that_is_there_can_be_given_epochs_left_and_come_back_to(machine: Machine) -> None:
    home = machine.store(ALICE, "alice")
    machine.set_up(home)
    place = signer_place(home)
    first = set_up_epochs(machine, home)
    assert place is not None
    assert place.key == first
    with pytest.raises(JournalError, match="already has a signer"):
        set_up_epochs(machine, home)
    end_epoch(machine)
    record(home, ALICE, "guarded")
    assert is_forward(machine, home, first)
    end_epoch(machine)
    as_user(ALICE, lambda: str(leave(home, seeds=lambda: b"\x21" * 32)))
    end_epoch(machine)
    record(home, ALICE, "alone")
    assert set_up_epochs(machine, home) == first
    record(home, ALICE, "guarded again")
    assert is_forward(machine, home, first)
    assert foreign(home.folder, ALICE) == []


@needs_root
def test_an_epoch_may_end_while_it_is_interrupted(machine: Machine) -> None:
    home = machine.store(ALICE, "alice")
    steps = iter(range(9))

    def told(_: signer_setup.Step) -> None:
        if next(steps) == 4:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        set_up(plan(home, user=str(SIGNER), places=machine.places, epochs=3_600), told=told)
    end_epoch(machine)
    first = set_up_epochs(machine, home)
    record(home, ALICE, "guarded")
    assert is_forward(machine, home, first)
