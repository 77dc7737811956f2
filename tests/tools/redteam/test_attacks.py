"""The attacks, run as a real second user: which level finds which. What comes of it stands in docs/attacks.json."""

from __future__ import annotations

import json
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tallystick.errors import JournalError
from tallystick.signer.entry_file import EntryFile, entries_path
from tallystick.trust.signer_setup import start
from tests.support.cases import each_second
from tools.redteam.machine import AGENT, LEVELS, SIGNER, Machine, Table, kept_table, library, missing, record
from tools.redteam.running import ATTACKS, BY_ROOT, told

TABLE = Path(__file__).parents[3] / "docs" / "attacks.json"

NEVER = {
    "fabricate_and_sign": "an honest growth of the record",
    "forge_a_tail_and_sign": "an honest growth of the record",
    "drop_a_session_by_retention": "the ledger says for good that it was dropped, and `verify` counts it",
    "stop_anchoring": "the ledger says for good that it was stopped, and `--require A4` is not met",
}
"""What no level up to A4 calls tampering, and why."""


pytestmark = pytest.mark.skipif(missing() is not None, reason=missing() or "")


@pytest.fixture(scope="module")
def machines() -> Iterator[dict[bool, Machine]]:
    root = Path(tempfile.mkdtemp(prefix="redteam-"))
    root.chmod(0o755)
    code = library(root / "library")
    made = {}
    for is_guarded in (False, True):
        base = root / ("guarded" if is_guarded else "plain")
        base.mkdir()
        made[is_guarded] = Machine(base, code, is_guarded=is_guarded)
    yield made
    for machine in made.values():
        machine.close()
    shutil.rmtree(root, ignore_errors=True)


@pytest.fixture(scope="module")
def table() -> Iterator[Table]:
    yield from kept_table(TABLE, ATTACKS)


def test_a_store_that_nobody_attacked_is_sound_at_every_level(machines: dict[bool, Machine]) -> None:
    machine = machines[True]
    machine.restore()
    assert [machine.verify(level).exit_code for level in LEVELS] == [0, 0, 0, 0]


@pytest.mark.parametrize("name", each_second(ATTACKS))
def test_what_a_level_finds_the_levels_above_find_too(machines: dict[bool, Machine], table: Table, name: str) -> None:
    row: dict[str, object] = {"does": told(name)}
    for is_guarded, levels in ((False, ("A1", "A2")), (True, ("A3", "A4"))):
        machine = machines[is_guarded]
        machine.restore()
        done = machine.attack(name, seed=1, user=0 if name in BY_ROOT else AGENT)
        assert done.returncode == 0, done.stderr  # it did what it could, and was not stopped by a fault of its own
        for level in levels:
            found = machine.verify(level)
            row[level] = {"found": found.is_found, "exit": found.exit_code, "why": _plain(found.why, machine)}
    table[name] = row
    finds = [bool(row[level]["found"]) for level in LEVELS]  # type: ignore[index]
    assert finds == sorted(finds)
    assert finds[2] is (name not in NEVER and name not in BY_ROOT)
    assert finds[3] is (name not in NEVER)


def _plain(why: str, machine: Machine) -> str:
    """Without paths and ids of this one run."""
    store = machine.home.folder
    why = why.replace(str(machine.remote), "REMOTE").replace(str(store), "STORE")
    return re.sub(r"[0-9a-f]{32}", "ID", why)


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.soak) for seed in (1, 2))])
@pytest.mark.parametrize("name", ["delete_and_sign", "edit_and_sign", "truncate_and_sign"])
def test_whatever_session_it_is_done_to(machines: dict[bool, Machine], name: str, seed: int) -> None:
    machine = machines[True]
    machine.restore()
    machine.attack(name, seed=seed + 10)
    assert machine.verify("A3").is_found


def test_a_signers_state_that_was_put_back_is_reported_and_signs_nothing(machines: dict[bool, Machine]) -> None:
    """[58]: what whoever has a backup of the signer's folder can do, and the agent's user cannot."""
    machine = machines[True]
    machine.restore()
    (log,) = machine.places.folder.glob("*.log")
    machine._end_signer()
    lines = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join(lines[:-2]))
    kept = EntryFile(entries_path(log), log.stem)
    kept.cut(json.loads(lines[-3])["size"])
    kept.close()
    start(machine.places, SIGNER)
    found = machine.verify("A3")
    assert (found.exit_code, "put back to an older one" in found.why) == (2, True)
    with pytest.raises(JournalError, match="old one"):
        record(machine.home, 1, 1)
