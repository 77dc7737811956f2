"""Verification on the command line: exit codes and what the report says."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tallystick.recording.recorder import Recorder
from tests.cli.conftest import Tally, TallyJson
from tools.redteam.remotes import bare

CALL = b"toolu_1e05ef29a1da40a58a42c595"


def journal(full: Path) -> Path:
    """The journal with the refused push."""
    (found,) = [path for path in (full / ".tally" / "journals").rglob("*.jsonl") if CALL in path.read_bytes()]
    return found


def lines_of(path: Path) -> list[bytes]:
    return path.read_bytes().splitlines(keepends=True)


def test_a_sound_store_is_0_with_all_five_axes(tally: Tally, tally_json: TallyJson, full: Path) -> None:
    result = tally("verify")
    assert result.exit_code == 0
    assert result.stdout.startswith("sound: 289 steps of 8 sessions checked\n")
    for axis in ("integrity", "completeness", "authenticity", "anchoring", "disclosure"):
        assert f"\n  {axis} " in result.stdout
    found = tally_json("verify")
    assert (found["valid"], found["truncated"], found["steps"], found["level"]) == (True, True, 289, "A2")


def change(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b"Forced pushes", b"Gentle pushes"))


def swap(path: Path) -> None:
    lines = lines_of(path)
    lines[20], lines[21] = lines[21], lines[20]
    path.write_bytes(b"".join(lines))


def drop(path: Path) -> None:
    lines = lines_of(path)
    path.write_bytes(b"".join(lines[:20] + lines[21:]))


def cut(path: Path) -> None:
    path.write_bytes(b"".join(lines_of(path)[:-5]))


def remove(path: Path) -> None:
    path.unlink()


@pytest.mark.parametrize(
    ("tamper", "entry", "rule"),
    [(change, 47, "fields"), (swap, 20, "n"), (drop, 20, "n"), (cut, None, "cut"), (remove, None, "missing")],
)
def test_tampering_is_2_with_session_entry_and_rule(
    tally: Tally, full: Path, tamper: Callable[[Path], None], entry: int | None, rule: str
) -> None:
    path = journal(full)
    tamper(path)
    result = tally("verify")
    assert result.exit_code == 2
    assert result.stdout.startswith("TAMPERED: ")
    assert f"session {path.stem}" in result.stdout
    assert f": rule {rule}\n" in result.stdout
    assert entry is None or f", entry {entry}: " in result.stdout
    assert tally("verify", "--json").exit_code == 2


def test_one_session_is_judged_by_itself(tally: Tally, full: Path) -> None:
    change(journal(full))
    assert tally("verify", "receipts-currency").exit_code == 0
    assert tally("verify", "a42b3437").exit_code == 2


def test_a_journal_file_is_judged_by_itself(tally: Tally, full: Path, tmp_path: Path) -> None:
    copy = tmp_path / journal(full).name
    shutil.copy(journal(full), copy)
    result = tally("verify", copy)
    assert result.exit_code == 0
    assert "a lone file" in result.stdout
    change(copy)
    assert tally("verify", copy).exit_code == 2
    copy.write_bytes(b"nothing of ours\n")
    assert tally("verify", copy).exit_code == 4


def test_below_what_is_required_is_3(tally: Tally, full: Path, tmp_path: Path) -> None:
    assert tally("verify", "--require", "sealed").exit_code == 3
    assert tally("verify", "7c1f0a9e", "--require", "sealed").exit_code == 0
    copy = tmp_path / journal(full).name
    shutil.copy(journal(full), copy)
    assert tally("verify", copy, "--require", "A2").exit_code == 3


def test_an_open_session_is_sound_and_truncated(tally: Tally, user: Path) -> None:
    with Recorder(user / ".tally") as recorder:
        session = recorder.session("demo", "one")
        session.prompt("hello")
        result = tally("verify", session.id)
    assert result.exit_code == 0
    assert "truncated" in result.stdout


def test_a_pinned_key_decides(tally: Tally, tally_json: TallyJson, full: Path) -> None:
    key = tally_json("init")["key"]
    assert tally("verify", "--pinned", key).exit_code == 0
    other = tally_json("init", "--home", full / "other")["key"]
    result = tally("verify", "--pinned", other)
    assert result.exit_code == 2
    assert "wrong key" in result.stdout


def test_a_remembered_head_shows_what_was_rolled_back(tally: Tally, full: Path, tmp_path: Path) -> None:
    store = full / ".tally"
    shutil.copytree(store, tmp_path / "before")
    with Recorder(store) as recorder, recorder.session("demo", "later") as session:
        session.prompt("hello")
    remembered = tmp_path / "remembered.note"
    shutil.copy(store / "heads" / "ledger.note", remembered)
    assert tally("verify", "--remembered", remembered).exit_code == 0
    assert tally("verify", "--home", tmp_path / "before").exit_code == 0
    assert tally("verify", "--home", tmp_path / "before", "--remembered", remembered).exit_code == 2


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_a_deleted_store_that_others_know_of_is_missing_and_nobody_is_told_to_make_one(
    tally: Tally, user: Path, tmp_path: Path
) -> None:
    store, saved = user / ".tally", tmp_path / "saved.note"
    with Recorder(store) as recorder, recorder.session("demo", "later") as session:
        session.prompt("hello")
    remote = str(bare(tmp_path / "remote.git", is_guarded=True))
    assert tally("anchor", "git", remote).exit_code == 0
    shutil.copy(store / "heads" / "ledger.note", saved)
    shutil.rmtree(store)
    elsewhere = ("--anchored-at", "git", remote)
    for words in (elsewhere, ("--require", "A4", *elsewhere), ("--remembered", saved)):
        found = tally("verify", *words)
        assert found.exit_code == 2, found.output
        assert "missing" in found.stdout
        assert "tally init" not in found.output


def test_an_index_that_differs_is_a_remark_and_no_more(tally: Tally, full: Path) -> None:
    import sqlite3

    tally("log")
    database = sqlite3.connect(full / ".tally" / "graph.db")
    with database:
        database.execute("UPDATE sessions SET last_hash = 'ff' WHERE source_session = 'receipts-currency'")
    database.close()
    result = tally("verify")
    assert result.exit_code == 0
    assert "remark: " in result.stdout
    assert "the index differs from the journal" in result.stdout


def test_what_cannot_be_checked_is_1(tally: Tally, full: Path) -> None:
    assert tally("verify", "no-such-session").exit_code == 1
    assert tally("verify", "--pinned", "did:key:nonsense").exit_code == 1


def test_a_key_cannot_speak_for_a_lone_file(tally: Tally, tally_json: TallyJson, full: Path) -> None:
    assert tally("verify", journal(full), "--pinned", tally_json("init")["key"]).exit_code == 64


def test_erased_is_not_tampered(tally: Tally, full: Path) -> None:
    assert tally("erase", "a42b3437:47", "--field", "content.output", "--reason", "asked").exit_code == 0
    result = tally("verify")
    assert result.exit_code == 0
    assert "1 value withheld, 1 of them erased" in result.stdout


@pytest.mark.parametrize("age", ["soon", "24", "-1h", "24 hours", ""])
def test_what_is_no_age_is_a_mistake(tally: Tally, full: Path, age: str) -> None:
    assert tally("verify", "--require", "A4", "--max-age", age).exit_code == 64


def test_an_age_is_asked_at_a3_and_a4(tally: Tally, full: Path) -> None:
    assert tally("verify", "--max-age", "24h").exit_code == 64
    result = tally("verify", "--require", "A3", "--max-age", "24h")
    assert result.exit_code == 3
    assert "  too old: the newest head that the signer signed is older than 20" in result.stdout
