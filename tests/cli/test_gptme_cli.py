"""The words of `gptme provenance`, on the sample store."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tallystick.cli.gptme_cli import main
from tallystick.graph.queries import SessionFilter, list_sessions
from tallystick.ingest.adapters import adapters
from tallystick.ingest.histories import find_histories, import_histories
from tallystick.journal.home import Home
from tallystick.plugins.ledger import ProvenanceWriter
from tallystick.workspace.indexing import open_index
from tests.support.cases import each


def run(capsys: pytest.CaptureFixture[str], home: Home, *words: str) -> tuple[object, str]:
    with pytest.raises(SystemExit) as end:
        main(["--dir", str(home.folder), *words])
    return end.value.code, capsys.readouterr().out


@pytest.fixture
def session(samples: Home) -> str:
    with open_index(samples) as index:
        return list_sessions(index.graph, SessionFilter(agents=("gptme",)))[0].session


def test_a_session_is_verified_in_one_line(samples: Home, session: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, text = run(capsys, samples, "verify", session)
    assert code == 0
    assert text.startswith("✅ valid | ")
    assert " steps | truncated: " in text


def test_a_changed_session_is_not_valid(samples: Home, session: str, capsys: pytest.CaptureFixture[str]) -> None:
    path = samples.journal(session)
    assert path is not None
    path.write_bytes(path.read_bytes().replace(b'"n":1,', b'"n":7,', 1))
    code, text = run(capsys, samples, "verify", session)
    assert code in (2, 4)
    assert text.startswith("❌ INVALID | ")


def test_sessions_are_listed_shown_and_replayed(
    samples: Home, session: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert session[:8] in run(capsys, samples, "list")[1]
    assert "gptme" in run(capsys, samples, "show", session)[1]
    whole = run(capsys, samples, "replay", session)[1].splitlines()
    assert len(whole) > 3
    later = run(capsys, samples, "replay", session, "--from-step", f"{session}:12")[1].splitlines()
    assert len(later) < len(whole)


@pytest.fixture
def ledgers(tmp_path: Path) -> Path:
    """A folder of plain ledgers, without a store."""
    with ProvenanceWriter("1e23", folder=tmp_path / "plain", home=tmp_path / "own", with_content=True) as ledger:
        first = ledger.tool_call("shell", "ls", "README.md\nsrc", duration_ms=312, started_at="2026-06-29T21:58:04Z")
        ledger.model_call("sonnet", "hm", "\x1b[31mred", duration_ms=1840, started_at="2026-06-29T21:58:07Z")
        ledger.tool_call("shell", "pwd", "/", parent=str(first["self_hash"]), started_at="2026-06-29T21:58:10Z")
    return tmp_path / "plain"


def plain(capsys: pytest.CaptureFixture[str], folder: Path, *words: str) -> tuple[object, str]:
    with pytest.raises(SystemExit) as end:
        main(["--dir", str(folder), *words])
    return end.value.code, capsys.readouterr().out


def test_a_folder_of_ledgers_is_verified_listed_shown_and_replayed(
    ledgers: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert plain(capsys, ledgers, "verify", "session-1e23") == (0, "✅ valid | 4 steps | truncated: False\n")
    code, text = plain(capsys, ledgers, "list")
    assert code == 0
    assert text.split() == ["SESSION", "STEPS", "LEDGER", "1e23", "4", "valid"]
    records = json.loads(plain(capsys, ledgers, "show", "1e23")[1])
    assert len(records) == 4
    code, text = plain(capsys, ledgers, "replay", "1e23")
    assert code == 0
    assert text.splitlines()[:2] == [
        "[21:58:04] tool_call    shell       → (312ms) README.md …",
        "[21:58:07] model_call   sonnet      → (1840ms) ␛[31mred",
    ]
    later = plain(capsys, ledgers, "replay", "1e23", "--from-step", records[2]["step_id"][:8])[1]
    assert len(later.splitlines()) == 2


def test_a_torn_tail_is_valid_and_a_changed_record_is_not(ledgers: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = ledgers / "sessions" / "1e23.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole[:-20])
    assert plain(capsys, ledgers, "verify", "1e23") == (0, "✅ valid | 3 steps | truncated: True\n")
    path.write_bytes(whole.replace(b"1840", b"1841"))
    code, text = plain(capsys, ledgers, "verify", "1e23")
    assert code == 2
    assert text.startswith("❌ INVALID | 1 steps | truncated: True\n   record 1 (field): ")
    assert json.loads(plain(capsys, ledgers, "list", "--json")[1])[0]["valid"] is False


def test_an_imported_ledger_is_named_by_its_own_ids_and_stays_invalid(
    ledgers: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, store = ledgers / "sessions" / "1e23.jsonl", Home(tmp_path / "store")
    step = json.loads(path.read_bytes().splitlines()[2])["step_id"]
    import_histories(store, find_histories(ledgers, (ledgers,), adapters()), adapters())
    code, text = run(capsys, store, "verify", "1e23")
    assert (code, text) == (0, "✅ valid | 5 steps | truncated: False\n")
    shown = run(capsys, store, "replay", "1e23", "--from-step", step[:8])[1]
    assert "pwd" in shown
    assert "sonnet" not in shown
    path.write_bytes(path.read_bytes().replace(b"1840", b"1841"))
    import_histories(store, find_histories(ledgers, (ledgers,), adapters()), adapters())
    code, text = run(capsys, store, "verify", "1e23")
    assert code == 2
    assert text.startswith("❌ INVALID | ")
    assert "record 1 (field)" in text


def test_a_session_that_has_no_ledger_is_an_error(ledgers: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(["--dir", str(ledgers), "verify", "beef"])
    assert end.value.code == 1
    assert "no ledger of a session 'beef'" in capsys.readouterr().err


@each("words, code", [(["--help"], 0), ([], 64), (["vrify"], 64)])
def test_it_says_how_it_is_used(words: list[str], code: int) -> None:
    with pytest.raises(SystemExit) as end:
        main(words)
    assert end.value.code == code
