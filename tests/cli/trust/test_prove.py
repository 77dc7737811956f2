"""Proofs on the command line: what is printed, written and exited with."""

from __future__ import annotations

from pathlib import Path

from tallystick.journal.home import Home
from tallystick.recording.store_identity import read_store
from tests.cli.conftest import Tally, TallyJson


def test_a_proof_is_printed_and_checked_without_a_store(tally: Tally, full: Path, tmp_path: Path) -> None:
    key = read_store(Home(full / ".tally")).key
    assert key is not None
    result = tally("prove", "a42b3437:47")
    assert result.stdout.startswith("c2sp.org/tlog-proof@v1\nextra ")
    file = tmp_path / "it.tlog-proof"
    file.write_text(result.stdout, "utf-8")
    elsewhere = ("--home", str(tmp_path / "none"))
    checked = tally("verify", "--proof", str(file), "--pinned", key, *elsewhere)
    assert checked.exit_code == 0
    assert "authenticity  signed" in checked.stdout
    assert "nothing but the hash" in checked.stdout
    assert tally("verify", "--proof", str(file), *elsewhere).exit_code == 3
    assert tally("verify", "--proof", str(file), "--require", "A1", *elsewhere).exit_code == 0
    file.write_text(result.stdout.replace("index ", "index 1", 1), "utf-8")
    changed = tally("verify", "--proof", str(file), "--pinned", key)
    assert (changed.exit_code, changed.stdout.splitlines()[0]) == (2, "TAMPERED")
    file.write_text("nothing")
    assert tally("verify", "--proof", str(file)).exit_code == 4


def test_what_a_proof_shows_is_chosen(tally: Tally, tally_json: TallyJson, full: Path, tmp_path: Path) -> None:
    file = tmp_path / "it.tlog-proof"
    assert "wrote the proof of" in tally("prove", "a42b3437:47", "--redaction", "content", "-o", str(file)).stdout
    found = tally_json("verify", "--proof", str(file), "--require", "A1")
    assert set(found["shown"]) == {"meta"}
    assert found["withheld"] > 0
    made = tally_json("prove", "a42b3437:47", "--redaction", "none")
    assert made["redaction"] == "none"
    assert made["n"] == 47


def test_a_proof_goes_with_nothing_that_needs_a_store(tally: Tally, full: Path, tmp_path: Path) -> None:
    file = tmp_path / "it.tlog-proof"
    file.write_text("nothing")
    assert tally("verify", "a42b3437", "--proof", str(file)).exit_code == 64
    assert tally("verify", "--proof", str(file), "--require", "A4").exit_code == 64


def test_a_head_is_proved_to_extend_one_that_was_kept(
    tally: Tally, tally_json: TallyJson, full: Path, tmp_path: Path
) -> None:
    home = Home(full / ".tally")
    key = read_store(home).key
    assert key is not None
    kept, file = tmp_path / "kept.note", tmp_path / "heads.proof"
    kept.write_bytes(home.note.read_bytes())
    size = int(kept.read_text("utf-8").splitlines()[1])
    assert f"wrote the proof to {file}" in tally("prove", "--from", str(kept), "-o", str(file)).stdout
    elsewhere = ("--home", str(tmp_path / "none"))
    checked = tally("verify", "--proof", str(file), "--remembered", str(kept), "--pinned", key, *elsewhere)
    assert checked.exit_code == 0
    assert f"entries 1 to {size} are unchanged among {size}" in checked.stdout
    assert tally_json("prove", "--from", "3")["proof"].startswith("old 3\n")
    assert tally("verify", "--proof", str(file), "--pinned", key, *elsewhere).exit_code == 64
    file.write_text(file.read_text("utf-8").replace(f"old {size}", f"old {size - 1}"), "utf-8")
    assert tally("verify", "--proof", str(file), "--remembered", str(kept), "--pinned", key).exit_code == 2


def test_one_thing_is_proved_at_a_time(tally: Tally, full: Path) -> None:
    assert tally("prove").exit_code == 64
    assert tally("prove", "a42b3437:47", "--from", "1").exit_code == 64
