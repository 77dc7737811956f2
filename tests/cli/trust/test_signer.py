"""`tally signer` on the command line. What it does to a machine is tried in tests/trust/test_signer_setup.py."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tallystick.signer import pins
from tests.cli.conftest import Tally, TallyJson


@pytest.fixture(autouse=True)
def nothing_written_down() -> None:
    if pins.PINS.is_dir():
        pytest.skip("this machine has signers of its own")


def test_init_offers_a_signer_and_says_against_what(tally: Tally, user: Path) -> None:
    said = tally("init").stdout
    assert f"sudo tally signer init --home {user / '.tally'}" in said
    assert "not against an agent that runs as you" in said


def test_a_dry_run_says_all_that_would_be_changed_and_how_to_undo_it(
    tally: Tally, tally_json: TallyJson, user: Path
) -> None:
    tally("init")
    before = sorted(user.rglob("*"))
    result = tally("signer", "init", "--dry-run", "--user", "64777")
    assert result.exit_code == 0
    assert result.stdout.startswith("would be done for the store at ")
    assert result.stdout.count("     undo: ") == 6
    assert "/usr/local/lib/tallystick-signer" in result.stdout
    assert "to undo it, start with the last" in result.stdout
    found = tally_json("signer", "init", "--dry-run", "--user", "64777")
    assert (found["user"], found["uid"], found["owner"], len(found["steps"])) == ("64777", 64777, os.getuid(), 6)
    assert sorted(user.rglob("*")) == before


def test_epochs_have_a_length_and_the_plan_says_it(tally: Tally, tally_json: TallyJson) -> None:
    tally("init")
    found = tally_json("signer", "init", "--dry-run", "--user", "64777", "--epochs", "24h")
    assert found["epochs"] == 86_400
    assert any("a new one every 86,400 s" in step["does"] for step in found["steps"])
    for typed in ("30s", "32d", "often", "1"):
        result = tally("signer", "init", "--dry-run", "--epochs", typed)
        assert result.exit_code == 64
        assert "use 1h, 24h or 7d" in result.stderr


def test_without_one_status_says_so_and_is_1(tally: Tally) -> None:
    tally("init")
    result = tally("signer", "status")
    assert result.exit_code == 1
    assert "none: the store signs with a key of the user who records" in result.stdout


def test_verify_asks_for_a3(tally: Tally) -> None:
    tally("init")
    result = tally("signer", "verify")
    assert result.exit_code == 3
    assert result.stdout.startswith("sound, but below the required level")


def test_epochs_that_are_required_and_not_there_are_named(tally: Tally) -> None:
    tally("init")
    result = tally("verify", "--require", "A3f")
    assert result.exit_code == 3
    assert "  lacking: no epochs guard what is older (A3f): no signer answers that has some" in result.stdout


def test_a_store_without_one_has_nothing_to_leave(tally: Tally) -> None:
    tally("init")
    result = tally("signer", "leave")
    assert result.exit_code == 1
    assert "this store has no signer" in result.stderr
    assert "tally signer init" in result.stderr


def test_run_says_what_it_cannot_use(tally: Tally, tmp_path: Path) -> None:
    assert tally("signer", "run", tmp_path / "none", tmp_path / "socket").exit_code == 1
    assert tally("signer", "run", tmp_path / "none").exit_code == 64


@pytest.mark.skipif(os.getuid() == 0, reason="root may")
def test_init_wants_root(tally: Tally) -> None:
    tally("init")
    result = tally("signer", "init")
    assert result.exit_code == 1
    assert "sudo tally signer init" in result.stderr
