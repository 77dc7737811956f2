"""`tally anchor` on the command line, with a bare git repository as the place."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Tally, TallyJson
from tools.redteam.remotes import bare


@pytest.fixture
def remote(tmp_path: Path, tally: Tally) -> Path:
    tally("init")
    return bare(tmp_path / "anchors.git", is_guarded=True)


def test_a_head_is_kept_and_listed_and_verified(tally: Tally, tally_json: TallyJson, remote: Path) -> None:
    assert "the store is not anchored" in tally("anchor", "list").stdout
    result = tally("anchor", "git", remote)
    assert result.exit_code == 0, result.stderr
    assert "keeps a head over 1 entry" in result.stdout
    assert str(remote)[:40] in tally("anchor", "list").stdout
    (found,) = tally_json("anchor", "list")
    assert (found["kind"], found["target"], found["count"], found["guarded"]) == ("git", str(remote), 1, True)
    result = tally("anchor", "verify")
    assert result.exit_code == 3  # no signer: A4 has A3 with it
    assert ": 1 head, the newest of " in result.stdout
    assert "anchored off this machine, but no separate signer" in result.stdout


def test_a_place_that_lets_heads_go_is_warned_of(tally: Tally, tmp_path: Path) -> None:
    tally("init")
    result = tally("anchor", "git", bare(tmp_path / "loose.git", is_guarded=False))
    assert result.exit_code == 0
    assert "not counted as an anchor" in result.stderr


def test_status_says_how_fresh_each_is_and_how_well_it_keeps(tally: Tally, tmp_path: Path, remote: Path) -> None:
    assert tally("anchor", "status").exit_code == 0
    tally("anchor", "git", remote)
    result = tally("anchor", "status")
    assert (result.exit_code, "cannot be rewritten" in result.stdout) == (0, True)
    tally("anchor", "git", bare(tmp_path / "loose.git", is_guarded=False))
    result = tally("anchor", "status")
    assert (result.exit_code, "does not count" in result.stdout) == (1, True)


def test_what_went_missing_is_2(tally: Tally, remote: Path) -> None:
    tally("anchor", "git", remote)
    for ref in (remote / "refs" / "heads" / "tallystick").iterdir():
        ref.unlink()
    result = tally("anchor", "verify")
    assert result.exit_code == 2
    assert "an anchor went missing" in result.stdout
    for command in ("verify", "status"):  # neither asks the place: somebody has found it missing
        assert "an anchor went missing" in tally(command).stdout
    assert tally("verify").exit_code == 2
    assert "of 1 alarm, below trust/evidence" in tally("status").stdout


def test_who_knows_of_a_place_asks_it_whatever_the_ledger_says(tally: Tally, remote: Path) -> None:
    assert tally("verify", "--anchored-at", "git", remote).exit_code == 2
    tally("anchor", "git", remote)
    tally("anchor", "stop", "git")
    assert tally("verify", "--anchored-at", "git", remote).exit_code == 0
    assert tally("verify", "--anchored-at", "floppy", remote).exit_code == 64


def test_a_ref_is_used_again_unless_another_is_named(tally: Tally, tally_json: TallyJson, remote: Path) -> None:
    tally("anchor", "git", remote, "--ref", "refs/heads/a")
    tally("anchor", "git", remote)
    tally("anchor", "git", remote, "--ref", "refs/heads/b")
    assert [(each["ref"], each["count"]) for each in tally_json("anchor", "list")] == [
        ("refs/heads/a", 2),
        ("refs/heads/b", 1),
    ]
    assert tally("anchor", "stop", "git").exit_code == 1
    assert tally("anchor", "stop", "git", "--ref", "refs/heads/b").exit_code == 0
    assert tally("verify", "--anchored-at", "git", f"{remote}#refs/heads/b").exit_code == 0
    assert tally("verify", "--anchored-at", "git", f"{remote}#refs/heads/c").exit_code == 2
    assert [each["ref"] for each in tally_json("anchor", "list")] == ["refs/heads/a"]


def test_a_place_is_used_until_it_is_stopped(tally: Tally, remote: Path) -> None:
    tally("anchor", "git", remote)
    assert "is no longer used" in tally("anchor", "stop", "git").stdout
    assert "not anchored" in tally("anchor", "list").stdout
    assert tally("anchor", "stop", "git").exit_code == 1


def test_a_place_that_is_not_there_is_1_and_no_anchor(tally: Tally, tmp_path: Path) -> None:
    tally("init")
    assert tally("anchor", "git", tmp_path / "none.git").exit_code == 1
    assert tally("anchor", "tsa", "http://127.0.0.1:9").exit_code == 1
    assert tally("anchor", "nats", "nats://127.0.0.1:9").exit_code == 1
    assert "not anchored" in tally("anchor", "list").stdout


def test_its_text_is_made_safe(tally: Tally, tmp_path: Path) -> None:
    tally("init")
    tally("anchor", "git", bare(tmp_path / "a\x1b[31mb.git", is_guarded=True))
    for words in (("anchor", "list"), ("anchor", "status"), ("anchor", "verify")):
        assert "\x1b[31mb" not in tally(*words).output
