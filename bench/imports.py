"""Importing: megabytes a second against parsing the same file, memory, and the size of what is kept."""

from __future__ import annotations

import contextlib
import sys
import time
import zlib
from collections.abc import Iterator
from datetime import UTC
from pathlib import Path

import orjson
import psutil

from bench.corpus import claude_sample, lengthened_sample, write_claude
from bench.measure import Figure, best_seconds, peak_megabytes
from tallystick.agents.claude_code import transcript as claude_code
from tallystick.capture.discover import recognise
from tallystick.ingest.import_ import Importer
from tallystick.journal.archive import Archive
from tallystick.journal.home import Home
from tallystick.journal.read import read_session
from tallystick.seal.canonical import canonical

CORPUS_BYTES = 40_000_000


def figures(folder: Path, *, full: bool) -> Iterator[Figure]:
    """Speed on many sessions and on one file; with `full` also a file of 1 GB."""
    yield from _corpus(folder, "claude", lengthened_sample(), asked=True)
    yield from _corpus(folder, "terse", claude_sample(), asked=False)
    yield from _published(folder)
    yield from _several(folder)
    size = 1_000_000_000 if full else 100_000_000
    one = write_claude(folder / "one", lengthened_sample(), total_bytes=size, one_file=True)[0]
    peak = peak_megabytes(_IMPORT, folder / "big", one)
    name = f"peak memory, importing one file of {one.stat().st_size / 1e6:,.0f} MB"
    yield Figure(name, peak, "MB", target="< 300", met=peak < 300)


def _corpus(folder: Path, name: str, data: bytes, *, asked: bool) -> Iterator[Figure]:
    """Import one corpus, measure what is kept of it, and import it again. `asked`: the issue's figures are held to it."""
    source = folder / name
    many = write_claude(source, data, total_bytes=CORPUS_BYTES, one_file=False)
    name = f"{name}-x{len(many)}"
    total = sum(path.stat().st_size for path in many)
    parsing = best_seconds(lambda: _parse(many), runs=2)
    home = Home(folder / f"{name}-store")
    Archive.make(home)
    began, cpu = time.perf_counter(), time.process_time()
    _import(home, source)
    seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
    baseline = "parsing its lines as JSON"
    met = total / cpu / 1e6 >= 15 if asked else None
    target = ">= 15" if asked else ""
    yield Figure(
        f"import {name}, a second of one core", total / cpu / 1e6, "MB/s", baseline, cpu / parsing, target, met
    )
    yield Figure(f"import {name}, a second of waiting", total / seconds / 1e6, "MB/s", baseline, seconds / parsing)
    yield from _sizes(home, name, asked=asked)
    began = time.perf_counter()
    _import(home, source)
    yield Figure(f"import {name} again, nothing new", total / (time.perf_counter() - began) / 1e6, "MB/s")


PUBLISHED = Path(__file__).parents[2] / "shared" / "data" / "public"


def _published(folder: Path) -> Iterator[Figure]:
    """The same figures for histories that people published, where a copy of them lies beside the project."""
    claude = [path for path in sorted(PUBLISHED.rglob("*.jsonl")) if path.name.startswith(("pup-mcp", "agentv-claude"))]
    if not claude:
        return
    data = b"".join(path.read_bytes() for path in claude)
    yield from _corpus(folder, "published", data, asked=True)


def _parse(paths: list[Path]) -> None:
    for path in paths:
        with path.open("rb") as file:
            for line in file:
                orjson.loads(line)


def _import(home: Home, path: Path) -> None:
    adapters = {claude_code.NAME: claude_code}
    archive = Archive(home)
    report = Importer(archive, adapters, UTC).run(recognise([path], adapters))
    archive.close()
    if report.has_errors:
        sys.exit(f"the import failed: {report.refused} {[file.error for file in report.files]}")


def _several(folder: Path) -> Iterator[Figure]:
    """Importing and indexing with the processes of `tally import`, against one process."""
    source = folder / "several"
    write_claude(source, lengthened_sample(), total_bytes=CORPUS_BYTES, one_file=False)
    alone, _ = _whole(folder / "store-of-one", source, "one")
    seconds, peak = _whole(folder / "store-of-several", source, "several")
    name = f"import and index {CORPUS_BYTES / 1e6:,.0f} MB"
    yield Figure(f"{name}, several processes", seconds, "s", "one process", seconds / alone)
    yield Figure(f"{name}, memory of all processes (PSS)", peak, "MB", target="< 300", met=peak < 300)


def _whole(store: Path, source: Path, how: str) -> tuple[float, float]:
    """Seconds, and the most memory that the processes had together, in MB."""
    began, peak = time.perf_counter(), 0
    process = psutil.Popen([sys.executable, "-c", _WHOLE, str(store), str(source), how])
    while process.poll() is None:
        with contextlib.suppress(psutil.Error):
            peak = max(peak, sum(one.memory_full_info().pss for one in (process, *process.children())))
        time.sleep(0.1)
    return time.perf_counter() - began, peak / 1e6


_WHOLE = """
import sys
from contextlib import nullcontext
from datetime import UTC
from pathlib import Path
from tallystick.ingest.adapters import adapters
from tallystick.ingest.histories import Reading, find_histories, import_histories, import_workers
from tallystick.journal.home import Home
home, known = Home(Path(sys.argv[1])), adapters()
found = find_histories(Path("/nowhere"), (Path(sys.argv[2]),), known)
with import_workers(home, found, known) if sys.argv[3] == "several" else nullcontext() as workers:
    import_histories(home, found, known, Reading(UTC), workers=workers)
"""


_IMPORT = """
import sys
from pathlib import Path
from bench.imports import _import
from tallystick.journal.archive import Archive
from tallystick.journal.home import Home
home = Home(Path(sys.argv[1]))
Archive.make(home)
_import(home, Path(sys.argv[2]))
"""


def _sizes(home: Home, corpus: str, *, asked: bool) -> Iterator[Figure]:
    content = 0
    for sid, _ in home.sessions():
        for step in read_session(home, sid, load_blobs=True):
            content += sum(len(canonical(value)) for value in step.values.values())
            content += sum(len(data) for data in step.raw.values())
    files = [path for part in (home.journals, home.blobs) for path in part.rglob("*") if path.is_file()]
    files.append(home.ledger)
    kept = sum(path.stat().st_size for path in files)
    packed = sum(len(zlib.compress(path.read_bytes(), 6)) for path in files)
    baseline, name = "bytes of the content", f"journals, blobs and ledger of {corpus}"
    met = kept / content <= 1.6 if asked else None
    yield Figure(name, kept / 1e6, "MB", baseline, kept / content, "<= 1.6 x" if asked else "", met)
    yield Figure("the same, each file packed with zlib", packed / 1e6, "MB", baseline, packed / content)
