"""Stores made from histories, and what is in them: ledger, journals, blobs, and every row of graph.db.

Owns which histories are imported, alone and together, and how a store's files become facts. Works through the command line
and the files on disk only.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from tools.same.commands import Tally
from tools.same.frozen import NOW_NS, restart
from tools.same.stream import Emit

_SAMPLES = Path("src/tallystick/samples/home")
_RECORDINGS = Path("tests/recordings")
_NOT_HISTORIES = ("hooks", "otlp", "acp", "__pycache__")
_DATA = ("transcripts", "sessions", "public/small", "public/large")
_ALONE = (
    "data/transcripts/cline_transcript.jsonl",
    "data/transcripts/mini_transcript.jsonl",
    "data/public/small/droid-session.jsonl",
    "data/public/small/windsurf-session-simple.jsonl",
)
"""Not in the store of all data: only some commits have a reader for them, and the ids of all others stay the same."""
_DIFFER_EACH_RUN = {"inode"}


def lay_out(tree: Path, data: Path | None, folder: Path) -> dict[str, Path]:
    """Copy all histories below a folder: name of a store → what is imported into it, each with the same time of change."""
    found: dict[str, Path] = {"samples": folder / "samples"}
    for path in sorted((tree / _SAMPLES).rglob("*")):
        if path.is_file():
            _copy(path, folder / "samples" / re.sub(r"(^|/)dot-", r"\1.", str(path.relative_to(tree / _SAMPLES))))
    for version in sorted((tree / _RECORDINGS).glob("*/*")):
        if version.is_dir() and version.parent.name not in _NOT_HISTORIES:
            name = f"recordings/{version.parent.name}/{version.name}"
            _copy_folder(version, folder / name)
            found[name] = folder / name
    for part in _DATA:
        for path in sorted((data / part).glob("*")) if data is not None else ():
            _copy(path, folder / "data" / part / path.name)
            found[f"data/{part}/{path.name}"] = folder / "data" / part / path.name
    return found


def together(histories: Mapping[str, Path]) -> list[str]:
    """The stores into which more than one history goes."""
    return sorted({name.partition("/")[0] for name in histories})


def _copy_folder(source: Path, target: Path) -> None:
    for path in sorted(source.rglob("*")):
        if path.is_file() and path.name != "README.md":
            _copy(path, target / path.relative_to(source))


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)
    os.utime(target, ns=(NOW_NS, NOW_NS))


def make_store(tally: Tally, name: str, histories: Mapping[str, Path]) -> Path:
    """Import histories into a new store: those of a name, or of all names below it, one after another.

    Each has random bytes of its own, so that one which is read in another way leaves the others as they were.
    """
    store = tally.folder / "stores" / name.replace("/", "_")
    for part in [part for part in histories if part.startswith(f"{name}/") and part not in _ALONE] or [name]:
        restart(f"{name} {part}")
        tally.run(store, ["import", str(histories[part])], key=f"import {name} {part}")
    return store


def store_facts(store: Path, name: str, emit: Emit) -> None:
    """All that is sealed in a store."""
    _lines(store / "ledger.jsonl", f"ledger {name}", emit)
    journals = {path.stem: path for path in (store / "journals").rglob("*.jsonl")}
    for path in sorted(journals.values(), key=lambda path: (_identity(path), path.name)):
        _lines(path, f"journal {name} {_identity(path)}", emit)
    for path in sorted((store / "blobs").rglob("*")):
        if path.is_file():
            emit(f"blob {name} {path.name}", sha256(path.read_bytes()).hexdigest())


def _identity(path: Path) -> str:
    with path.open(encoding="utf-8") as file:
        fields = json.loads(file.readline()).get("fields", {})
    meta = fields.get("meta", {})
    source = meta.get("source_session") or fields.get("content.meta", {}).get("source_session")
    return f"{meta.get('agent')}:{source}"


def _lines(path: Path, name: str, emit: Emit) -> None:
    with path.open(encoding="utf-8") as file:
        for number, line in enumerate(file):
            entry = json.loads(line)
            emit(f"{name} {number}", {"hash": sha256(line.encode()).hexdigest(), **entry})


# Rows ----------------------------------------------------------------------------------------------------------------


def graph_facts(store: Path, name: str, emit: Emit) -> int:
    """Every row of every table and view of graph.db; how many there were."""
    count = 0
    with sqlite3.connect(f"file:{store / 'graph.db'}?mode=ro", uri=True) as database:
        tables = database.execute(
            "SELECT name, sql FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY name"
        ).fetchall()
        virtual = [str(table) for table, sql in tables if "VIRTUAL" in str(sql)]
        for table, _ in tables:
            if any(str(table).startswith(f"{shadowed}_") for shadowed in virtual):
                continue  # how full text search keeps its words
            for key, row in _rows(database, str(table)):
                emit(f"graph {name} {table} {key}", row)
                count += 1
    return count


def _rows(database: sqlite3.Connection, table: str) -> Iterator[tuple[str, dict[str, Any]]]:
    columns = database.execute(f'PRAGMA table_xinfo("{table}")').fetchall()
    shown = [str(column[1]) for column in columns if not column[6] or column[6] > 1]
    keys = [name for _, name in sorted((column[5], str(column[1])) for column in columns if column[5])]
    compared = [column for column in shown if column not in _DIFFER_EACH_RUN]
    names = ", ".join(f'"{column}"' for column in compared)
    found = [dict(zip(compared, row, strict=True)) for row in _ordered(database, table, names)]
    for row in found:
        yield _key(row, keys), row


def _ordered(database: sqlite3.Connection, table: str, names: str) -> Sequence[tuple[Any, ...]]:
    rows = database.execute(f'SELECT {names} FROM "{table}"').fetchall()
    return sorted((tuple(_plain(cell) for cell in row) for row in rows), key=repr)


def _plain(cell: Any) -> Any:
    return cell.hex() if isinstance(cell, bytes) else cell


def _key(row: dict[str, Any], keys: Sequence[str]) -> str:
    known = keys or [name for name in ("step_id", "id", "feedback_id") if name in row]
    if known and all(name in row for name in known):
        return " ".join(f"{name}={row[name]}" for name in known)
    return sha256(repr(sorted(row.items())).encode()).hexdigest()[:12]
