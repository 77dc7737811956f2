"""The rows that the index has of every recording, in a store whose clock and randomness are fixed, as one digest a table.

    python -m tests.workspace.golden_projection

writes them to `golden_projection.json`. Where rows change on purpose, run it; the difference in that file is then part of
the change, and says which tables it touched.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC
from hashlib import sha256
from itertools import count
from pathlib import Path

from tallystick.agents import adapters
from tallystick.capture.discover import Found, recognise
from tallystick.graph import rules
from tallystick.graph.graph import SCHEMA, Graph, Mode
from tallystick.ingest.import_ import Importer
from tallystick.journal.archive import Archive
from tallystick.journal.home import Home
from tallystick.model.step import Opening, Ref, Step
from tallystick.recording.writer import Writer
from tallystick.workspace.indexing import bring_up_to_date

GOLDEN = Path(__file__).with_suffix(".json")
RECORDINGS = Path(__file__).parents[1] / "recordings"
SHELL = (
    'python3 -c \'import os; getattr(os, "remove")("old.txt")\'',
    "cp a.txt b.txt && cat b.txt | tee c.txt",
    "curl -o page.html https://example.com/page",
    "sed -i s/a/b/ b.txt; rm -rf build; git commit -am x",
    'for f in *.md; do cp "$f" docs/; done',
    "bash -c 'echo 1 > n.txt' && python3 - <<'X'\nopen('out.txt', 'w').write(open('n.txt').read())\nX",
)
"""Calls whose rows say how commands and code are understood."""
_TABLES = ("schema.sql", "alerts.sql", "views.sql")
_OF_THE_FILE = {"inode", "rules"}
"""Columns that differ from store to store, or from program to program, by nature."""


def golden() -> dict[str, object]:
    """What the file holds: the version and the digest of the tables, that of the rules, and that of each table's rows."""
    with tempfile.TemporaryDirectory() as folder:
        home = Home(Path(folder, "store"))
        record(home)
        with Graph(home.graph, Mode.WRITE) as graph:
            bring_up_to_date(home, graph)
            rows = dict(digests(graph))
    return {"schema": SCHEMA, "tables": tables_digest(), "rules": rules.current(), "rows": rows}


def tables_digest() -> str:
    """The digest of the statements that lay the tables, without comments and spacing."""
    folder = rules.PACKAGE / Path(rules.ROWS.stored).parent
    lines = (line.partition("--")[0] for name in _TABLES for line in (folder / name).read_text("utf-8").splitlines())
    return sha256(" ".join(" ".join(lines).split()).encode()).hexdigest()[:16]


def record(home: Home) -> None:
    """Every recording, and some calls of a shell, in a new store."""
    numbers = count()
    seeds = _seeds(numbers)
    archive_clock = _clock(count())
    Archive.make(home, clock=archive_clock, seeds=seeds)
    with closing(Archive(home, clock=archive_clock, seeds=seeds)) as archive:
        known = adapters()
        found = [item for item in recognise([RECORDINGS], known) if isinstance(item, Found)]
        Importer(archive, known, UTC).run(found)
        with closing(Writer(archive, UTC)) as writer:
            session, _ = writer.open(Opening(session="shell", agent="claude-code"))
            for step in _calls():
                session.add(step, _no_reference)


def _calls() -> Iterator[Step]:
    for number, command in enumerate(SHELL):
        at = f"2026-01-01T00:00:{number:02d}.000000Z"
        yield Step(
            session="shell",
            type="tool_call",
            source_id=f"c{number}",
            ts=at,
            meta={"tool": "Bash", "corr": f"c{number}"},
            values={"content.args": {"command": command}, "personal.cwd": "/home/dev/project"},
        )


def _no_reference(ref: Ref) -> str | None:
    return None


def _seeds(numbers: Iterator[int]) -> Callable[[], bytes]:
    return lambda: sha256(f"golden {next(numbers)}".encode()).digest()


def _clock(numbers: Iterator[int]) -> Callable[[], str]:
    return lambda: f"2026-01-01T{next(numbers) // 3_600_000 % 24:02d}:00:00.000000Z"


def digests(graph: Graph) -> Iterator[tuple[str, str]]:
    """By table, the digest of all its rows in an order of their own. The search index is left out: it keeps no text."""
    names = graph.rows("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'search%' ORDER BY name")
    for (name,) in names:
        if name.startswith("sqlite_"):
            continue
        columns = [row[1] for row in graph.rows(f"PRAGMA table_info({name})") if row[1] not in _OF_THE_FILE]
        rows = sorted(repr(row) for row in graph.rows(f"SELECT {', '.join(columns)} FROM {name}"))
        digest = sha256("\n".join(rows).encode()).hexdigest()
        yield name, f"{len(rows)} rows, {digest[:16]}"


if __name__ == "__main__":
    GOLDEN.write_text(json.dumps(golden(), indent=1) + "\n", "utf-8")
