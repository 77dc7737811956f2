"""A ledger as gptme's developers write it: plain lines that hold by themselves, and a sealed step for each."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest

from tallystick.errors import AmbiguousError, NotFoundError, SourceError, UsageError
from tallystick.ingest.adapters import adapters
from tallystick.ingest.histories import find_histories, import_histories
from tallystick.journal.home import Home
from tallystick.journal.read import read_session
from tallystick.model.recorded import Recorded
from tallystick.plugins.ledger import ProvenanceWriter, content_hash, read_ledger, verify_session, walk_dag


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "store")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "provenance"


def writer(folder: Path, home: Home, session: str = "1e23", *, with_content: bool = False) -> ProvenanceWriter:
    return ProvenanceWriter(session, folder=folder, home=home.folder, with_content=with_content)


def killed(ledger: ProvenanceWriter) -> ProvenanceWriter:
    """A writer whose program ended before it closed the ledger."""
    ledger.tool_call("shell", "a")
    ledger.__exit__(RuntimeError, RuntimeError("killed"), None)
    return ledger


def steps_of(home: Home) -> list[Recorded]:
    ((sid, _),) = home.sessions()
    return list(read_session(home, sid))


def test_each_line_is_bound_to_a_sealed_step(folder: Path, home: Home) -> None:
    with writer(folder, home) as ledger:
        ledger.tool_call("shell", "ls", "README.md", duration_ms=312)
        ledger.model_call("some-model", {"messages": 3}, "done", started_at="2026-06-29T21:58:07Z")
        ledger.skill_invoke("ship-check")
        assert verify_session(ledger.path).truncated
    verdict = verify_session(folder / "sessions" / "1e23.jsonl")
    assert (verdict.valid, verdict.truncated, verdict.steps) == (True, False, 4)
    records = read_ledger(ledger.path)
    sealed = {str(step.member("source_id")): step for step in steps_of(home) if step.type != "session_start"}
    assert [record["step_id"] for record in records] == list(sealed)
    for record in records:
        step = sealed[str(record["step_id"])]
        for name in ("input_hash", "output_hash", "context_hash", "self_hash"):
            assert step.values[f"content.{name}"] == record[name]
    assert records[0]["input_hash"] == content_hash("ls")
    assert records[1]["started_at"] == "2026-06-29T21:58:07Z"
    assert "input" not in records[0]


def test_importing_what_was_written_here_brings_nothing_new(folder: Path, home: Home) -> None:
    with writer(folder, home, with_content=True) as ledger:
        ledger.tool_call("shell", "ls", "README.md")
    done = import_histories(home, find_histories(folder, (folder,), adapters()), adapters())
    assert done.report.recorded == 0
    elsewhere = Home(home.folder.parent / "elsewhere")
    import_histories(elsewhere, find_histories(folder, (folder,), adapters()), adapters())
    said = [
        [(step.type, step.values) for step in steps_of(store) if step.type not in ("sighting", "session_start")]
        for store in (home, elsewhere)
    ]
    assert said[0][:2] == said[1][:2]


def test_branches_follow_from_the_step_they_name(folder: Path, home: Home) -> None:
    with writer(folder, home) as ledger:
        first = ledger.tool_call("shell", "a")
        second = ledger.tool_call("shell", "b")
        third = ledger.tool_call("shell", "c", parent=str(first["self_hash"]))
    records = read_ledger(ledger.path)
    assert third["parent_step_hash"] == first["self_hash"]
    from_second = list(walk_dag(records, str(second["step_id"])[:12]))
    assert [record["step_id"] for record in from_second] == [second["step_id"]]
    assert [record["step_type"] for record in walk_dag(records, str(third["step_id"]))] == ["tool_call", "session_end"]
    assert list(walk_dag(records)) == records
    with pytest.raises(NotFoundError):
        list(walk_dag(records, "no such step"))
    with pytest.raises(AmbiguousError):
        list(walk_dag([first, first], str(first["step_id"])))


def test_a_writer_that_died_is_continued(folder: Path, home: Home) -> None:
    ledger = killed(writer(folder, home))
    whole = ledger.path.read_bytes()
    ledger.path.write_bytes(whole + b'{"step_id": "torn')
    assert verify_session(ledger.path).valid
    with writer(folder, home) as again:
        again.tool_call("shell", "b")
    verdict = verify_session(ledger.path)
    assert (verdict.valid, verdict.truncated, verdict.steps) == (True, False, 3)
    assert ledger.path.read_bytes().startswith(whole)
    assert ledger.path.with_name("1e23.jsonl.torn").read_bytes() == b'{"step_id": "torn\n'
    tools = [step for step in steps_of(home) if step.type == "tool_call"]
    assert len(tools) == 2


def test_a_line_that_was_not_sealed_is_sealed_by_the_next_writer(folder: Path, home: Home, tmp_path: Path) -> None:
    killed(writer(folder, Home(tmp_path / "other")))
    with writer(folder, home):
        pass
    assert [step.type for step in steps_of(home)] == ["session_start", "tool_call", "session_end"]


def test_a_ledger_that_was_changed_or_closed_is_not_continued(folder: Path, home: Home) -> None:
    with writer(folder, home) as ledger:
        ledger.tool_call("shell", "a", duration_ms=312)
    with pytest.raises(SourceError, match="is closed"):
        ledger.tool_call("shell", "b")
    with pytest.raises(SourceError, match="is closed"):
        writer(folder, home)
    ledger.path.write_bytes(ledger.path.read_bytes().replace(b"312", b"313"))
    with pytest.raises(SourceError, match="self_hash"):
        writer(folder, home)


def test_threads_share_a_writer(folder: Path, home: Home) -> None:
    with writer(folder, home) as ledger:
        threads = [
            threading.Thread(target=lambda: [ledger.tool_call("shell", "x") for _ in range(10)]) for _ in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    verdict = verify_session(ledger.path)
    assert (verdict.valid, verdict.steps) == (True, 41)


def test_a_session_cannot_name_another_folder(folder: Path, home: Home) -> None:
    for name in ("../x", "", "a/b", ".hidden"):
        with pytest.raises(UsageError):
            writer(folder, home, name)


def test_the_lines_are_those_of_the_format(folder: Path, home: Home) -> None:
    with writer(folder, home) as ledger:
        ledger.tool_call("shell", "ls")
    first = json.loads(ledger.path.read_bytes().splitlines()[0])
    assert list(first) == [
        "step_id",
        "session_id",
        "step_type",
        "tool_name",
        "started_at",
        "duration_ms",
        "input_hash",
        "output_hash",
        "context_hash",
        "parent_step_hash",
        "self_hash",
    ]
