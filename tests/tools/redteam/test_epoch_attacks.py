"""What an administrator can do where keys are erased, run as root. What comes of it stands in docs/attacks_by_root.json."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.cases import each_second
from tools.redteam.epoch_attacks import ATTACKS, NOT_AT_A3F, NOT_AT_A4, told
from tools.redteam.epoch_machine import EpochMachine
from tools.redteam.machine import Table, kept_table, library, missing

TABLE = Path(__file__).parents[3] / "docs" / "attacks_by_root.json"
LEVELS = ("A3f", "A4")

pytestmark = pytest.mark.skipif(missing() is not None, reason=missing() or "")


@pytest.fixture(scope="module")
def machine() -> Iterator[EpochMachine]:
    root = Path(tempfile.mkdtemp(prefix="redteam-"))
    root.chmod(0o755)
    (root / "machine").mkdir()
    made = EpochMachine(root / "machine", library(root / "library"))
    yield made
    made.close()
    shutil.rmtree(root, ignore_errors=True)


@pytest.fixture(scope="module")
def table() -> Iterator[Table]:
    yield from kept_table(TABLE, ATTACKS)


def test_a_store_that_nobody_attacked_is_sound_with_all_epochs(machine: EpochMachine) -> None:
    machine.restore()
    machine.start_signer()
    assert [machine.verify(level).exit_code for level in LEVELS] == [0, 0]


@pytest.mark.parametrize("name", each_second(ATTACKS))
def test_who_has_the_live_key_cannot_tell_another_past(machine: EpochMachine, table: Table, name: str) -> None:
    machine.restore()
    done = machine.attack(name, seed=1, user=0)
    assert done.returncode == 0, done.stderr
    row: dict[str, object] = {"does": told(name)}
    for level in LEVELS:
        found = machine.verify(level)
        row[level] = {"found": found.is_found, "exit": found.exit_code}
    table[name] = row
    assert row["A3f"] == {"found": name not in NOT_AT_A3F, "exit": 0 if name in NOT_AT_A3F else 2}
    assert row["A4"] == {"found": name not in NOT_AT_A4, "exit": 0 if name in NOT_AT_A4 else 2}
