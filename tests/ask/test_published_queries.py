"""The reference's two published queries on imported sessions (gensee-crate, docs/lineage-graph.md).

Word for word, but for one path: `/private/tmp` of macOS is `/tmp` in the graph, as everywhere (decision 0084).
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC
from pathlib import Path

import pytest

from tallystick.capture.discover import recognise
from tallystick.ingest.adapters import adapters
from tallystick.ingest.import_ import Importer
from tallystick.journal.archive import Archive
from tallystick.journal.home import Home
from tallystick.workspace.indexing import open_index
from tests.support.published import EVERYTHING_OF_A_FILE, PROMPTS_FROM_PROMPTS

SAMPLES = Path(__file__).parents[2] / "src" / "tallystick" / "samples" / "home"


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[sqlite3.Connection]:
    """The sample sessions, with the file that they fix under another name."""
    tmp_path = tmp_path_factory.mktemp("published")
    source = tmp_path / "source"
    for path in SAMPLES.rglob("*.jsonl"):
        moved = source / path.relative_to(SAMPLES)
        moved.parent.mkdir(parents=True, exist_ok=True)
        text = path.read_text("utf-8")
        for name in ("/home/dev/project/receipts/totals.py", "receipts/totals.py"):
            text = text.replace(name, "/private/tmp/gensee-lineage/input.txt")
        moved.write_text(text)
    home = Home(tmp_path / "store")
    Archive.make(home)
    with closing(Archive(home)) as archive:
        Importer(archive, adapters(), UTC).run(recognise([source], adapters()))
    with open_index(home):
        pass
    with closing(sqlite3.connect(home.graph)) as connection:
        yield connection


def test_everything_known_about_a_file(database: sqlite3.Connection) -> None:
    rows = database.execute(EVERYTHING_OF_A_FILE.replace("/private/tmp", "/tmp")).fetchall()
    assert len(rows) == len({row[:5] for row in rows}), "no row comes twice"
    assert {row[0] for row in rows} >= {"consumed_by", "modified"}
    assert all(json.loads(row[5])["step"] for row in rows if len(row[5]) < 160)
    produced = {row[2] for row in rows if row[:2] == ("modified", "agent_event")}
    tools = database.execute(
        f"SELECT DISTINCT tool_name FROM agent_events WHERE event_id IN ({','.join(map(str, produced))})"
    )
    assert {name for (name,) in tools} == {"Edit", "apply_patch"}


def test_which_later_prompts_derive_from_earlier_ones(database: sqlite3.Connection) -> None:
    ((source, asked, target, asked_later, evidence),) = database.execute(PROMPTS_FROM_PROMPTS).fetchall()
    assert asked.startswith("A customer says that 15 % off an order of 9.99 is one cent short.")
    assert asked_later.startswith("A receipt line with a negative count should be refused.")
    assert json.loads(evidence)["artifact"].startswith("file://")
    assert source != target


def test_a_path_has_one_spelling_and_stays_on_its_system(database: sqlite3.Connection) -> None:
    uris = {row[0] for row in database.execute("SELECT uri FROM artifacts WHERE kind = 'file'")}
    assert "file:///tmp/gensee-lineage/input.txt" in uris
    assert not [uri for uri in uris if uri.startswith("file:///private/home")]
