"""Importing, and saying what could not be imported."""

import json
from pathlib import Path

import pytest

from tallystick.setup.demo import lay_out_samples
from tests.cli.conftest import Tally, TallyJson


def test_what_agents_keep_on_this_machine_is_taken_in(tally: Tally, user: Path) -> None:
    lay_out_samples(user)
    result = tally("import")
    assert result.exit_code == 0
    assert result.stdout.startswith("recorded 281 new steps from 7 files\n")
    assert "created a store" in result.stderr
    assert tally("verify").exit_code == 0
    again = tally("import")
    assert again.stdout.startswith("recorded 0 new steps from 7 files\n")
    assert again.exit_code == 0


def test_the_loss_report_has_kinds_counts_and_examples(tally: Tally, tally_json: TallyJson, user: Path) -> None:
    lay_out_samples(user)
    shown = tally("import").stdout
    assert "skipped content that is not in the record, by kind:" in shown
    assert "api-request" in shown
    (user / ".tally").rename(user / "elsewhere")
    losses = [file["losses"] for file in tally_json("import")["files"]]
    assert any(loss["count"] > 1 and loss["examples"] for kinds in losses for loss in kinds.values())


def test_only_the_agents_that_were_named(tally: Tally, tally_json: TallyJson, user: Path) -> None:
    lay_out_samples(user)
    files = tally_json("import", "--agent", "gptme", "--agent", "codex")["files"]
    assert {file["agent"] for file in files} == {"gptme", "codex"}


def test_files_that_are_no_history_are_counted(tally: Tally, tally_json: TallyJson, user: Path) -> None:
    lay_out_samples(user)
    (user / ".codex" / "note.txt").write_text("hello")
    assert tally("import", user / ".codex").stdout.startswith(
        "skipped 1 file in those folders: not an agent's history\n"
    )
    assert tally_json("import", user / ".codex")["passed_over"] == 1


def test_nothing_found_is_no_failure(tally: Tally, user: Path) -> None:
    result = tally("import")
    assert result.exit_code == 0
    assert result.stdout == f"no history found below {user}\n"


def broken(user: Path) -> Path:
    """A history of Claude Code with a line that is none and a torn end."""
    lay_out_samples(user)
    folder = user / ".claude" / "projects" / "-home-dev-project"
    path = folder / "c70cf123-6122-475f-8809-1f48f9d0740d.jsonl"
    lines = path.read_bytes().split(b"\n")
    lines[4] = b"\xff\xfe no JSON"
    path.write_bytes(b"\n".join(lines)[:-30])
    return path


def test_damage_is_told_with_file_and_line_and_the_rest_is_imported(tally: Tally, user: Path) -> None:
    path = broken(user)
    result = tally("import")
    assert result.exit_code == 1
    assert "could not be read:" in result.stdout
    assert f"{path}: bad_line: line 5: " in result.stdout
    assert f"{path}: half_line: line " in result.stdout
    assert tally("verify").exit_code == 0
    assert "receipts-currency" in tally("session", "list", "--json").stdout


def test_damage_does_not_vanish_when_the_file_is_imported_again(tally: Tally, user: Path) -> None:
    lay_out_samples(user)
    damaged = next((user / ".codex").rglob("*.jsonl"))
    whole = damaged.read_bytes()
    damaged.write_bytes(whole + b"{broken\n")
    assert tally("import").exit_code == 1
    again = tally("import")
    assert again.exit_code == 1
    assert f"{damaged}: bad_line: 1 in what was read before" in again.stdout
    damaged.write_bytes(whole + b"{broken\n" + whole.splitlines(keepends=True)[-1])
    assert tally("import").exit_code == 1
    damaged.write_bytes(whole)
    assert tally("import").exit_code == 0


def test_with_json_the_exit_code_is_the_same(tally: Tally, user: Path) -> None:
    broken(user)
    result = tally("import", "--json")
    assert result.exit_code == 1
    assert json.loads(result.stdout)["data"]["has_errors"]


def test_paths_that_are_no_history_are_refused_by_name(tally: Tally, user: Path) -> None:
    (user / "note.txt").write_text("hello")
    (user / "gone").symlink_to(user / "nowhere")
    (user / "loop").symlink_to(user / "loop")
    result = tally("import", user / "note.txt", user / "gone", user / "loop", user / "absent", "/dev/null")
    assert result.exit_code == 1
    for name in ("note.txt", "gone", "loop", "absent", "/dev/null"):
        assert name in result.stdout
    assert result.stderr.count("Traceback") == 0


@pytest.mark.parametrize("name", ["\x1b]0;evil\x07.jsonl", "\udcff\udcfe.jsonl", "a\nb.jsonl"])
def test_the_name_of_a_file_can_be_anything(tally: Tally, user: Path, name: str) -> None:
    folder = user / ".codex" / "sessions"
    folder.mkdir(parents=True)
    (folder / f"rollout-{name}").write_bytes(b'{"odd":')
    result = tally("import", folder / f"rollout-{name}")
    assert "\x1b" not in result.stdout + result.stderr
    assert result.exit_code == 1
    assert "Traceback" not in result.output
    assert tally("verify").exit_code == 0


def test_a_hash_chain_ledger_brings_its_verdict(tally: Tally, full: Path) -> None:
    folder = full / ".local" / "share" / "gptme" / "provenance" / "sessions"
    folder.mkdir(parents=True)
    assert tally("export", "a42b3437", "--format", "ledger", "-o", folder / "1e23.jsonl").exit_code == 0
    result = tally("import", "--agent", "gptme-ledger")
    assert result.exit_code == 0
    assert "  valid | " in result.stdout
    assert "| truncated: True" in result.stdout
    assert "cannot prove" in result.stdout


def test_a_store_that_cannot_be_written_is_an_error_in_one_sentence(tally: Tally, user: Path) -> None:
    lay_out_samples(user)
    (user / ".tally").write_text("a file where the store should be")
    result = tally("import")
    assert result.exit_code == 1
    assert result.stderr.startswith("tally: ")
    assert "fault of tally" not in result.stderr


def test_a_hash_chain_ledger_that_does_not_hold_is_imported_and_said(tally: Tally, full: Path, tmp_path: Path) -> None:
    ledger = tmp_path / "1e23.jsonl"
    assert tally("export", "a42b3437", "--format", "ledger", "-o", ledger).exit_code == 0
    lines = ledger.read_text().splitlines()
    lines[2] = lines[2].replace('"duration_ms": ', '"duration_ms": 9')
    ledger.write_text("\n".join(lines) + "\n")
    result = tally("import", ledger)
    assert result.exit_code == 2
    assert "invalid | 2 steps" in result.output
