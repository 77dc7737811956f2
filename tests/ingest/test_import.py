from __future__ import annotations

import hashlib
import os
import shutil
import sqlite3
from pathlib import Path

import pytest

from tallystick.capture import history
from tallystick.journal.archive import Archive
from tallystick.journal.home import Home
from tallystick.journal.read import read_session
from tallystick.model.recorded import Recorded
from tallystick.trust.verify import verify_store
from tests.support.fixtures import RECORDINGS, ImportPaths

GPTME = next(RECORDINGS.glob("gptme/*/.local/share/gptme/logs/receipts-currency/conversation.jsonl"))
HEADLESS = next(RECORDINGS.glob("headless/*/**/*.jsonl"))
CODEX = sorted(RECORDINGS.glob("codex/0.169.0/**/*.jsonl"))
CLAUDE = next(RECORDINGS.glob("claude-code/*/.claude/projects/*/a42b3437*.jsonl"))
ALL = [GPTME, HEADLESS, *CODEX, CLAUDE]


def store_bytes(home: Home) -> str:
    """A digest over every file of the store."""
    state = hashlib.sha256()
    for path in sorted(home.folder.rglob("*")):
        if path.is_file() and path.suffix not in (".db", ".db-wal", ".db-shm"):
            state.update(path.name.encode() + path.read_bytes())
    return state.hexdigest()


def steps(home: Home) -> list[Recorded]:
    return [step for sid, _ in home.sessions() for step in read_session(home, sid)]


@pytest.mark.parametrize("path", ALL, ids=lambda path: path.parts[path.parts.index("recordings") + 1])
def test_importing_a_real_history_twice_adds_nothing_the_second_time(
    home: Home, import_paths: ImportPaths, path: Path
) -> None:
    first = import_paths(path)
    assert first.recorded > 10
    before = store_bytes(home)
    second = import_paths(path)
    assert (second.recorded, second.files[0].state) == (0, "unchanged")
    assert store_bytes(home) == before
    verdict = verify_store(home)
    assert (verdict.exit_code, verdict.unsealed) == (0, 0)


@pytest.mark.parametrize("path", ALL, ids=lambda path: path.parts[path.parts.index("recordings") + 1])
def test_reading_a_file_again_from_the_beginning_records_nothing_twice(
    home: Home, import_paths: ImportPaths, path: Path
) -> None:
    import_paths(path)
    count = len(steps(home))
    again = import_paths(path, again=True)
    assert again.recorded == 0
    assert len(steps(home)) == count


@pytest.mark.parametrize("path", ALL, ids=lambda path: path.parts[path.parts.index("recordings") + 1])
def test_a_file_that_grows_gives_what_it_would_have_given_at_once(
    tmp_path: Path, import_paths: ImportPaths, path: Path
) -> None:
    """Every step of the whole import is there after the piecewise one, under the same source id, with the same values."""
    lines = path.read_bytes().splitlines(keepends=True)
    growing = tmp_path / path.relative_to(RECORDINGS)
    growing.parent.mkdir(parents=True)
    for end in (len(lines) // 3, 2 * len(lines) // 3, len(lines)):
        growing.write_bytes(b"".join(lines[:end]))
        import_paths(growing)
    home = Home(tmp_path / "store")
    whole = Home(tmp_path / "whole")
    Archive.make(whole)
    assert newest_values(home) == import_whole(whole, growing)
    assert verify_store(home).exit_code == 0


def import_whole(home: Home, path: Path) -> dict[object, object]:
    from datetime import UTC

    from tallystick.agents import adapters
    from tallystick.capture.discover import recognise
    from tallystick.ingest.import_ import Importer

    archive = Archive(home)
    Importer(archive, adapters(), UTC).run(recognise([path], adapters()))
    archive.close()
    return newest_values(home)


def newest_values(home: Home) -> dict[object, object]:
    """The newest values of every source id: what a reader of the record sees."""
    return {
        step.member("source_id"): {name: value for name, value in step.values.items() if name != "content.meta"}
        for step in steps(home)
        if step.member("source_id") is not None
    }


def test_a_rewritten_file_is_said_to_be_and_its_changes_are_revisions(
    tmp_path: Path, home: Home, import_paths: ImportPaths
) -> None:
    path = tmp_path / "logs" / "receipts-currency" / "conversation.jsonl"
    path.parent.mkdir(parents=True)
    shutil.copy(GPTME, path)
    import_paths(path)
    count = len(steps(home))
    lines = path.read_text().splitlines(keepends=True)
    changed = next(number for number, line in enumerate(lines) if '"role": "user"' in line)
    lines[changed] = lines[changed].replace('"content": "', '"content": "EDITED ', 1)
    path.write_text("".join(lines))
    report = import_paths(path).files[0]
    assert report.state == "rewritten"
    assert (report.steps.revised, report.steps.recorded) == (1, 0)
    revision = steps(home)[-1]
    assert len(steps(home)) == count + 1
    assert str(revision.text("content.text")).startswith("EDITED ")
    assert isinstance(revision.meta["revises"], int)


def test_a_renamed_file_adds_nothing(tmp_path: Path, home: Home, import_paths: ImportPaths) -> None:
    path = tmp_path / "a" / CODEX[0].name
    path.parent.mkdir()
    shutil.copy(CODEX[0], path)
    import_paths(path)
    count = len(steps(home))
    moved = tmp_path / "b" / CODEX[0].name
    path.parent.rename(moved.parent)
    report = import_paths(moved)
    assert (report.files[0].state, report.recorded) == ("new", 0)
    assert len(steps(home)) == count


def test_a_truncated_file_adds_nothing_and_loses_nothing(tmp_path: Path, home: Home, import_paths: ImportPaths) -> None:
    path = tmp_path / CODEX[0].name
    shutil.copy(CODEX[0], path)
    import_paths(path)
    count = len(steps(home))
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    assert import_paths(path).files[0].state == "rewritten"
    assert len(steps(home)) == count


def test_half_a_line_is_reported_and_read_once_it_is_whole(
    tmp_path: Path, home: Home, import_paths: ImportPaths
) -> None:
    data = HEADLESS.read_bytes()
    path = tmp_path / HEADLESS.name
    cut = data.index(b"\n", len(data) // 2) + 40
    path.write_bytes(data[:cut])
    report = import_paths(path)
    loss = report.files[0].losses["half_line"]
    assert loss.fault
    assert "line 3" in loss.examples[0]
    assert report.has_errors
    path.write_bytes(data)
    assert not import_paths(path).has_errors
    assert verify_store(home).exit_code == 0


def test_damaged_lines_are_named_and_the_rest_is_imported(
    tmp_path: Path, home: Home, import_paths: ImportPaths, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(history, "MOST_LINE_BYTES", 100_000)
    lines = CODEX[0].read_bytes().splitlines()
    bad = [
        b"this is not json",
        b'{"timestamp": "2026-11-21T00:00:00Z", "type": "\xff\xfe"}',
        b"[" * 10_000 + b"]" * 10_000,
        b'{"type": "x", "payload": "' + b"y" * 200_000 + b'"}',
        b"\x00" * 50,
        b'{"type": {"a": []}, "payload": [1, 2], "timestamp": 5}',
    ]
    path = tmp_path / CODEX[0].name
    path.write_bytes(b"\n".join([*lines[:5], *bad, *lines[5:]]) + b"\n")
    report = import_paths(path).files[0]
    assert report.losses["bad_line"].count == 4
    assert report.losses["line_too_long"].count == 1
    assert "line 9" in report.losses["line_too_long"].examples[0]
    clean = Home(tmp_path / "clean")
    Archive.make(clean)
    wanted = import_whole(clean, CODEX[0])
    found = newest_values(home)
    assert {key: found.get(key) for key in wanted} == wanted
    assert verify_store(home).exit_code == 0


def test_paths_that_are_no_history_are_refused_by_name(tmp_path: Path, import_paths: ImportPaths) -> None:
    (tmp_path / "text").write_text("hello")
    (tmp_path / "empty").write_bytes(b"")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "up").symlink_to(tmp_path)
    names = ("text", "empty", "pipe", "loop", "gone", "folder")
    report = import_paths(*(tmp_path / name for name in names))
    assert [refused.path.name for refused in report.refused] == ["text", "empty", "pipe", "loop", "gone"]
    assert report.has_errors
    assert report.files == []


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission_is_refused_by_name(tmp_path: Path, import_paths: ImportPaths) -> None:
    path = tmp_path / "secret.jsonl"
    shutil.copy(CODEX[0], path)
    path.chmod(0)
    report = import_paths(path)
    assert "Permission denied" in report.refused[0].why


def test_a_locked_or_broken_database_is_a_clear_error(tmp_path: Path, home: Home, import_paths: ImportPaths) -> None:
    source = next(RECORDINGS.glob("hermes/**/state.db"))
    broken = tmp_path / "broken" / "state.db"
    broken.parent.mkdir()
    broken.write_bytes(source.read_bytes()[:3000] + b"\xff" * 5000)
    report = import_paths(broken, CODEX[0])
    problems = [file.error for file in report.files if file.error] + [refused.why for refused in report.refused]
    assert len(problems) == 1
    assert report.recorded > 10
    locked = tmp_path / "locked" / "state.db"
    locked.parent.mkdir()
    shutil.copy(source, locked)
    with sqlite3.connect(locked) as connection:
        connection.execute("BEGIN EXCLUSIVE")
        import_paths(locked)
        connection.rollback()
    assert verify_store(home).exit_code == 0


def test_a_sub_agent_hangs_on_the_call_that_spawned_it(home: Home, import_paths: ImportPaths) -> None:
    import_paths(CLAUDE.parent)
    found = {step.hash: step for step in steps(home)}
    starts = [step for step in found.values() if step.type == "session_start" and step.meta["kind"] == "child"]
    assert starts
    for start in starts:
        session, _, digest = start.parents[0].partition("#")
        assert found[digest].session == session
        assert found[digest].type == "tool_call"


def test_an_import_that_is_interrupted_is_taken_up_again(
    tmp_path: Path, home: Home, import_paths: ImportPaths, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = history.HistoryFile.pieces
    monkeypatch.setattr(history.HistoryFile, "pieces", lambda self: _interrupted(real(self)))
    with pytest.raises(KeyboardInterrupt):
        import_paths(CODEX[0])
    monkeypatch.undo()
    assert verify_store(home).exit_code == 0
    import_paths(CODEX[0])
    whole = Home(tmp_path / "whole")
    Archive.make(whole)
    assert newest_values(home) == import_whole(whole, CODEX[0])


def _interrupted(pieces: object) -> object:
    for count, piece in enumerate(pieces):  # type: ignore[arg-type,var-annotated]
        if count == 20:
            raise KeyboardInterrupt
        yield piece


def test_losses_are_kept_in_the_ledger_in_words_of_the_format(home: Home, import_paths: ImportPaths) -> None:
    from tallystick.ingest.import_ import LossCount, _counted

    many = {f"kind_{number:03}": LossCount(1) for number in range(150)}
    counted = _counted({**many, "no word at all": LossCount(2)})
    assert counted["other"] == 52
    assert len(counted) == 101
    import_paths(CLAUDE)
    assert b'"skipped":{"' in home.ledger.read_bytes()


def test_a_database_that_grows_in_its_log_only_is_read_again(
    tmp_path: Path, home: Home, import_paths: ImportPaths
) -> None:
    path = tmp_path / "state.db"
    shutil.copy(next(RECORDINGS.glob("hermes/**/state.db")), path)
    import_paths(path)
    assert import_paths(path).files[0].state == "unchanged"
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA wal_autocheckpoint=0")
        connection.commit()
        import_paths(path)
        main = path.read_bytes()
        connection.execute(
            "INSERT INTO messages (session_id, role, content, timestamp) "
            "SELECT session_id, 'user', 'one more thing', timestamp + 1 FROM messages ORDER BY id DESC LIMIT 1"
        )
        connection.commit()
        assert path.read_bytes() == main
        report = import_paths(path).files[0]
    assert (report.state, report.steps.recorded) == ("grown", 1)
    assert import_paths(path).recorded == 0
