"""Taking in what agents left on a machine."""

import shutil
import sqlite3
from pathlib import Path

import pytest

from tallystick.ask.search import search
from tallystick.capture.discover import Found, Refused
from tallystick.graph import project
from tallystick.graph.graph import Graph
from tallystick.graph.journals import Depth
from tallystick.graph.projection import relation_builder
from tallystick.graph.projection.risk_tags import Meaning
from tallystick.graph.queries import SessionFilter, list_sessions
from tallystick.graph.search import SearchFilter
from tallystick.ingest.adapters import adapters
from tallystick.ingest.histories import Imported, Reading, count_passed_over, find_histories, import_histories
from tallystick.journal.home import Home
from tallystick.review.export import export, format_named
from tallystick.setup.demo import lay_out_samples
from tallystick.trust.verify import verify_store
from tallystick.trust.verify_named import find_session
from tallystick.workspace.indexing import open_index
from tests.support.git_objects import commit, empty_repository

KNOWN = adapters()


def take_in(home: Home, below: Path, *paths: Path) -> Imported:
    return import_histories(home, find_histories(below, paths, KNOWN), KNOWN)


def test_histories_are_found_where_agents_keep_them(tmp_path: Path) -> None:
    lay_out_samples(tmp_path)
    found = find_histories(tmp_path, (), KNOWN)
    assert sorted({item.agent for item in found if isinstance(item, Found)}) == [
        "claude-code",
        "codex",
        "gptme",
        "headless",
    ]
    assert not [item for item in found if isinstance(item, Refused)]


def test_named_paths_are_searched_instead(tmp_path: Path) -> None:
    lay_out_samples(tmp_path)
    found = find_histories(tmp_path, (tmp_path / ".codex",), KNOWN)
    assert {item.agent for item in found if isinstance(item, Found)} == {"codex"}


def test_an_import_makes_the_store_seals_and_indexes(tmp_path: Path) -> None:
    lay_out_samples(tmp_path)
    home = Home(tmp_path / "store")
    done = take_in(home, tmp_path)
    assert done.made_store
    assert done.remarks == ()
    assert verify_store(home).exit_code == 0
    with open_index(home, depth=Depth.TEXT) as index:
        assert sum(row.size for row in list_sessions(index.graph, SessionFilter())) == verify_store(home).steps
        assert search(home, index, "forced pushes", SearchFilter()).hits


def test_a_second_import_adds_nothing(tmp_path: Path) -> None:
    lay_out_samples(tmp_path)
    home = Home(tmp_path / "store")
    take_in(home, tmp_path)
    ledger = home.ledger.read_bytes()
    again = take_in(home, tmp_path)
    assert not again.made_store
    assert again.report.recorded == 0
    assert {file.state for file in again.report.files} == {"unchanged"}
    assert home.ledger.read_bytes() == ledger


def test_what_is_made_of_all_sessions_together_is_made_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After each file it took as long as all files before it, for those that touched the same things."""
    settled: list[int] = []

    def settle(graph: Graph, meaning: Meaning) -> int:
        settled.append(relation_builder.settle(graph, meaning))
        return settled[-1]

    monkeypatch.setattr(project, "settle", settle)
    lay_out_samples(tmp_path)
    take_in(Home(tmp_path / "store"), tmp_path)
    assert len([number for number in settled if number]) == 1
    with Graph(Home(tmp_path / "store").graph) as graph:
        assert graph.rows("SELECT 1 FROM unsettled") == []
        assert graph.row("SELECT count(*) > 10 FROM relations") == (1,)


def test_reading_everything_again_adds_nothing_either(samples: Home) -> None:
    found = find_histories(samples.folder.parent, (), KNOWN)
    again = import_histories(samples, found, KNOWN, Reading(again=True))
    assert again.report.recorded == 0
    assert verify_store(samples).exit_code == 0


def test_a_copy_under_another_name_adds_nothing(samples: Home, tmp_path: Path) -> None:
    shutil.copytree(samples.folder.parent / ".claude", tmp_path / "copy")
    assert take_in(samples, tmp_path, tmp_path / "copy").report.recorded == 0


def test_a_damaged_index_does_not_keep_the_import_from_recording(tmp_path: Path) -> None:
    lay_out_samples(tmp_path)
    home = Home(tmp_path / "store")
    take_in(home, tmp_path, tmp_path / ".codex")
    home.graph.write_bytes(b"damaged " * 1000)
    done = take_in(home, tmp_path)
    assert done.report.recorded > 0
    assert "tally rebuild" in done.remarks[0]
    assert verify_store(home).exit_code == 0


def test_a_hash_chain_ledger_is_checked_by_its_own_hashes(samples: Home, tmp_path: Path) -> None:
    written = export(samples, find_session(samples, "a42b3437"), format_named("ledger"), with_content=True)
    folder = tmp_path / "other" / ".local" / "share" / "gptme" / "provenance" / "sessions"
    folder.mkdir(parents=True)
    (folder / "1e23.jsonl").write_bytes(b"".join(written.lines))
    done = take_in(Home(tmp_path / "store"), tmp_path / "other")
    assert [item.verdict.valid for item in done.ledgers] == [True]
    torn = (folder / "1e23.jsonl").read_bytes()[:-20]
    (folder / "1e23.jsonl").write_bytes(torn)
    torn_verdict = take_in(Home(tmp_path / "store-2"), tmp_path / "other").ledgers[0].verdict
    assert (torn_verdict.valid, torn_verdict.truncated) == (True, True)
    (folder / "1e23.jsonl").write_bytes(torn.replace(b"shell", b"bash!").replace(b"Bash", b"Bush"))
    assert not take_in(Home(tmp_path / "store-3"), tmp_path / "other").ledgers[0].verdict.valid


def test_an_index_that_is_being_written_does_not_keep_the_import_from_recording(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lay_out_samples(tmp_path)
    home = Home(tmp_path / "store")
    take_in(home, tmp_path, tmp_path / ".codex")
    monkeypatch.setattr("tallystick.graph.graph._PATIENCE_S", 0.05)
    other = sqlite3.connect(home.graph, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    done = take_in(home, tmp_path)
    other.close()
    assert done.report.recorded > 0
    assert done.remarks[0].startswith("the index is behind")
    with open_index(home) as index:
        assert len(list_sessions(index.graph, SessionFilter())) == 8


def test_sessions_in_the_objects_of_a_repository_are_read_there_and_grow(tmp_path: Path) -> None:
    lay_out_samples(tmp_path / "user")
    path = next((tmp_path / "user/.codex").rglob("*.jsonl"))
    lines = path.read_bytes().splitlines(keepends=True)
    branch, early = "refs/heads/entire/checkpoints/v1", b"".join(lines[: len(lines) // 2])
    metadata = {f"ab/{number}/0/metadata.json": b'{"session_id": "s"}' for number in (1, 2)}
    repository = empty_repository(tmp_path / "repo")
    commit(repository, branch, {"ab/1/0/full.jsonl": early, **metadata})
    home = Home(tmp_path / "store")
    first = take_in(home, tmp_path, tmp_path / "repo").report
    assert [(file.path.name, file.state) for file in first.files] == [("s.jsonl", "new")]
    commit(repository, branch, {"ab/1/0/full.jsonl": early, "ab/2/0/full.jsonl": b"".join(lines), **metadata})
    second = take_in(home, tmp_path, tmp_path / "repo").report
    assert ([file.state for file in second.files], bool(second.recorded)) == (["grown"], True)
    assert [file.state for file in take_in(home, tmp_path, tmp_path / "repo").report.files] == ["unchanged"]
    whole = Home(tmp_path / "whole")
    take_in(whole, tmp_path, path)
    assert verify_store(home).steps == verify_store(whole).steps
    assert count_passed_over((tmp_path / "repo",), ()) == 0
