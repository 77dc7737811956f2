"""An import by several processes records what one process does, byte for byte, and ends whole however one of them ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from datetime import UTC
from pathlib import Path

import orjson
import psutil
import pytest

from tallystick.agents import Adapter
from tallystick.capture.discover import Found
from tallystick.capture.history import HistoryFile
from tallystick.errors import SourceError
from tallystick.graph.compare import session_digests
from tallystick.graph.journals import Depth
from tallystick.ingest import histories, import_workers
from tallystick.ingest.adapters import adapters
from tallystick.ingest.histories import Imported, Reading, find_histories, import_histories
from tallystick.ingest.import_workers import ImportWorkers
from tallystick.journal.archive import Archive
from tallystick.journal.home import Home
from tallystick.setup.demo import lay_out_samples
from tallystick.trust.verify import verify_store
from tallystick.workspace.indexing import open_index
from tests.journal.conftest import counting_seeds, ticking_clock

KNOWN = adapters()
_SECONDS = 20.0


@pytest.fixture(autouse=True)
def _always_worth_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_workers, "WORTH_BYTES", 1)
    monkeypatch.setattr(import_workers, "_cores", lambda: 3)
    monkeypatch.setattr(import_workers, "_has_threads", lambda: False)  # those of who runs tests hold nothing of ours


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    """Histories of several agents; one session of Claude Code was forked twice in other files."""
    below = tmp_path / "dev"
    lay_out_samples(below)
    [first] = sorted(below.rglob(".claude/projects/*/*.jsonl"), key=lambda path: -path.stat().st_size)[:1]
    lines = [orjson.loads(line) for line in first.read_bytes().splitlines()]
    for number, length in enumerate((0.4, 0.7)):
        session = f"00000000-0000-4000-8000-00000000000{number}"
        shared = lines[: int(len(lines) * length)]
        own = [
            {**line, "uuid": f"{session[:-4]}{at:04}"} for at, line in enumerate(lines[len(shared) :]) if "uuid" in line
        ]
        fork = [{**line, "sessionId": session} if "sessionId" in line else line for line in (*shared, *own)]
        (first.parent / f"{session}.jsonl").write_bytes(b"".join(orjson.dumps(line) + b"\n" for line in fork))
    return below


def take_in(home: Home, below: Path, *, workers: bool, known: Mapping[str, Adapter] = KNOWN) -> Imported:
    found = find_histories(below, (), known)
    if not workers:
        return import_histories(home, found, known, Reading(UTC))
    with histories.import_workers(home, found, known) as started:
        assert started is not None
        return import_histories(home, found, known, Reading(UTC, workers=started))


def _made_again(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have times and random bytes be the same for each store."""
    clock, seeds = ticking_clock(), counting_seeds(3)
    Archive.make(home, clock=clock, seeds=seeds)
    monkeypatch.setattr(histories, "open_archive", lambda home: Archive(home, clock=clock, seeds=seeds))


def _record(home: Home) -> dict[str, bytes]:
    """What was sealed: journals and blobs whole, of the ledger all but what names the store and its key."""
    files = {path for part in (home.journals, home.blobs) for path in part.rglob("*") if path.is_file()}
    return {str(path.relative_to(home.folder)): path.read_bytes() for path in sorted(files)}


def _told(home: Home) -> list[object]:
    """The entries of the ledger without what depends on the store's key."""
    lines = [orjson.loads(line) for line in home.ledger.read_bytes().splitlines()]
    return [line["fields"] for line in lines if line["fields"]["meta"]["type"] != "store_start"]


def test_what_is_sealed_and_indexed_is_the_same_as_with_one_process(
    sources: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    homes = {name: Home(tmp_path / name) for name in ("one", "several")}
    reports, rows = {}, {}
    for name, home in homes.items():
        _made_again(home, monkeypatch)
        reports[name] = take_in(home, sources, workers=name == "several")
        with open_index(home, depth=Depth.TEXT) as index:
            rows[name] = session_digests(index.graph)
            assert index.remarks == []
    assert _record(homes["one"]) == _record(homes["several"])
    assert _told(homes["one"]) == _told(homes["several"])
    assert reports["one"] == reports["several"]
    assert sum(file.shared for file in reports["several"].report.files) > 10
    assert rows["one"].keys() == rows["several"].keys()
    assert verify_store(homes["several"]).exit_code == 0


def test_a_second_import_adds_nothing_and_one_that_grew_adds_what_is_new(sources: Path, tmp_path: Path) -> None:
    home = Home(tmp_path / "store")
    take_in(home, sources, workers=True)
    again = take_in(home, sources, workers=True)
    assert again.report.recorded == 0
    assert {file.state for file in again.report.files} == {"unchanged"}
    [path] = sorted(sources.rglob(".codex/sessions/**/*.jsonl"))[:1]
    with path.open("ab") as file:
        file.write(path.read_bytes().splitlines(keepends=True)[-1].replace(b"T22:", b"T23:"))
    grown = take_in(home, sources, workers=True)
    assert sorted(file.state for file in grown.report.files)[0] == "grown"


def test_a_file_that_cannot_be_read_stops_no_other(
    sources: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pieces = HistoryFile.pieces

    def reads(file: HistoryFile) -> object:
        if "codex" in str(file.path):
            raise (
                SourceError(f"{file.path} cannot be read: broken")
                if "1" in file.path.stem[-1:]
                else ValueError("a fault")
            )
        return pieces(file)

    monkeypatch.setattr(HistoryFile, "pieces", reads)
    done = take_in(Home(tmp_path / "store"), sources, workers=True)
    failed = {file.agent for file in done.report.files if file.error}
    assert failed == {"codex"}
    assert {file.agent for file in done.report.files if not file.error} == {"claude-code", "gptme", "headless"}


def test_a_process_that_is_killed_costs_one_file_at_most(
    sources: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pieces = HistoryFile.pieces

    def reads(file: HistoryFile) -> object:
        if "gptme" in str(file.path) and os.getpid() != parent:
            os.kill(os.getpid(), signal.SIGKILL)
        return pieces(file)

    parent = os.getpid()
    monkeypatch.setattr(HistoryFile, "pieces", reads)
    done = take_in(Home(tmp_path / "store"), sources, workers=True)
    [failed] = [file for file in done.report.files if file.error]
    assert failed.agent == "gptme"
    assert "has ended" in str(failed.error)
    assert done.remarks == ()


def test_an_index_whose_process_is_killed_is_behind_and_the_import_goes_on(sources: Path, tmp_path: Path) -> None:
    home = Home(tmp_path / "store")
    found = find_histories(sources, (), KNOWN)
    with histories.import_workers(home, found, KNOWN) as workers:
        assert workers is not None
        os.kill(workers.indexer.pid, signal.SIGKILL)
        done = import_histories(home, found, KNOWN, Reading(UTC, workers=workers))
    assert not done.report.has_errors
    assert "the index is behind" in done.remarks[0]
    with open_index(home) as index:
        assert len(session_digests(index.graph)) == len(list(home.sessions()))


_IMPORT = """
import sys, time
from pathlib import Path
from tallystick.cli import main
from tallystick.ingest import import_, import_workers
import_workers.WORTH_BYTES, import_workers._cores = 1, lambda: 3
before = import_.Importer._import
def slowly(self, plan):
    print("at", plan.found.path.name, flush=True)
    time.sleep(2)
    return before(self, plan)
import_.Importer._import = slowly
sys.argv = ["tally", "--home", sys.argv[1], "import", sys.argv[2]]
main()
"""


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL], ids=["ctrl-c", "kill"])
def test_when_the_import_ends_all_its_processes_do(sources: Path, tmp_path: Path, how: signal.Signals) -> None:
    home = Home(tmp_path / "store")
    command = [sys.executable, "-c", _IMPORT, str(home.folder), str(sources)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True)
    assert process.stdout is not None
    assert process.stdout.readline().startswith(b"at ")
    children = psutil.Process(process.pid).children(recursive=True)
    assert len(children) == 3
    if how is signal.SIGINT:
        os.killpg(process.pid, how)  # as a terminal does
    else:
        process.kill()
    process.communicate()
    until = time.monotonic() + _SECONDS
    while any(child.is_running() and child.status() != psutil.STATUS_ZOMBIE for child in children):
        assert time.monotonic() < until
        time.sleep(0.05)
    assert verify_store(home).exit_code == 0


def test_few_bytes_one_core_or_a_thread_mean_one_process(
    sources: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = [item for item in find_histories(sources, (), KNOWN) if isinstance(item, Found)]

    def started() -> ImportWorkers | None:
        with histories.import_workers(Home(tmp_path / "store"), found, KNOWN) as workers:
            return workers

    assert started() is not None
    for name, value in (("WORTH_BYTES", 1 << 30), ("_cores", lambda: 1), ("_has_threads", lambda: True)):
        with monkeypatch.context() as patch:
            patch.setattr(import_workers, name, value)
            assert started() is None
