"""Rows of an agent's SQLite database, as the JSON text that its reader is fed (docs/format.md 13).

Owns opening a database that its agent may be writing at this moment: no file is made beside it, and what is read is one
consistent state. Must not know what any table means.
"""

from __future__ import annotations

import base64
import json
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TypeAlias
from urllib.parse import quote

import msgspec
import orjson

from tallystick.agents.kit.tables import Table, Tables
from tallystick.errors import SourceError

_MAGIC = b"SQLite format 3\0"
_FORMAT_AT = 18
_PATIENCE_S = 0.25
_COPIES = 3
_BESIDE = ("", "-wal", "-shm", "-journal")

_Row: TypeAlias = tuple[str, dict[str, object]]


def read_rows(path: Path, tables: Tables) -> Iterator[tuple[bytes, int]]:
    """Each row of `tables` in the database at `path` as `{"table": name, "row": {column: value}}`, and its ordinal.

    Bytes come as `{"base64": text}`, text that is not UTF-8 with its bad bytes as lone surrogates. Tables that are not
    there give nothing. A damaged table ends early; those after it are read before the error is raised.

    Raises:
        SourceError: no database, one that stays locked or that may not be read, or a damaged one.
    """
    _check(path)
    with _opened(path) as database:
        ordinal = 0
        damage: sqlite3.Error | None = None
        for table in tables:
            try:
                for name, row in _table_rows(database, table):
                    yield _encode(name, row), ordinal
                    ordinal += 1
            except sqlite3.Error as error:
                damage = damage or error
        if damage is not None:
            raise _source_error(path, damage, after=ordinal) from damage


def _check(path: Path) -> None:
    """Say plainly what SQLite would say in riddles, and what it would wait for: a pipe may never give a byte."""
    if path.exists() and not path.is_file():
        raise SourceError(f"{path}: is not a file")
    try:
        with path.open("rb") as file:
            head = file.read(len(_MAGIC))
    except OSError as error:
        raise SourceError(f"{path}: cannot be read: {error.strerror or error}") from error
    if head and head != _MAGIC:
        raise SourceError(f"{path}: is not an SQLite database")


@contextmanager
def _opened(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection inside one read transaction: to the database itself, else to a private copy of it."""
    try:
        database = None
        if not _would_write(path):
            database = _connect(path, "ro")
    except sqlite3.Error as error:
        if not isinstance(error, sqlite3.OperationalError):
            raise _source_error(path, error, after=0) from error
        database = None  # locked, or in WAL mode in a folder where we may not write
    if database is not None:
        with closing(database):
            yield database
        return
    with tempfile.TemporaryDirectory(prefix="tally-") as folder:
        copy = _copy(path, Path(folder))
        try:
            # A copy may hold a hot journal, which only a writer can roll back.
            database = _connect(copy, "rw")
        except sqlite3.Error as error:
            raise _source_error(path, error, after=0) from error
        with closing(database):
            yield database


def _would_write(path: Path) -> bool:
    """Whether even a reader would make files beside the database: it is in WAL mode, and no one has it open."""
    beside = [_beside(path, ending).exists() for ending in ("-wal", "-shm")]
    with path.open("rb") as file:
        is_wal = file.read(_FORMAT_AT + 1)[_FORMAT_AT:] == b"\x02"
    return (is_wal or any(beside)) and not all(beside)


def _connect(path: Path, mode: str) -> sqlite3.Connection:
    address = f"file:{quote(str(path.absolute()))}?mode={mode}"
    database = sqlite3.connect(address, uri=True, timeout=_PATIENCE_S, isolation_level=None)
    try:
        database.text_factory = lambda data: data.decode("utf-8", "surrogateescape")
        for pragma in ("query_only = on", "trusted_schema = off", "cell_size_check = on"):
            database.execute(f"PRAGMA {pragma}")
        database.execute("BEGIN")
        database.execute("SELECT count(*) FROM sqlite_master").fetchone()  # the transaction begins with its first read
    except BaseException:
        database.close()
        raise
    return database


def _copy(path: Path, folder: Path) -> Path:
    """The database and the files beside it, copied while no one wrote to them."""
    target = folder / "copy.db"
    for _ in range(_COPIES):
        before = stamps(path)
        for ending in _BESIDE:
            _copy_one(_beside(path, ending), _beside(target, ending))
        if stamps(path) == before:
            return target
    raise SourceError(f"{path}: is being written all the time", hint="try again when its agent is idle")


def _copy_one(source: Path, target: Path) -> None:
    target.unlink(missing_ok=True)
    try:
        shutil.copyfile(source, target)
    except FileNotFoundError:
        return
    except OSError as error:
        raise SourceError(f"{source}: cannot be copied: {error.strerror or error}") from error


def stamps(path: Path) -> list[tuple[int, int] | None]:
    """Size and time of the files that make up the database. The shared-memory index changes with every reader."""
    found: list[tuple[int, int] | None] = []
    for ending in _BESIDE:
        try:
            state = _beside(path, ending).stat()
        except OSError:
            found.append(None)
        else:
            if ending != "-shm":
                found.append((state.st_size, state.st_mtime_ns))
            else:
                found.append(None)
    return found


def _beside(path: Path, ending: str) -> Path:
    return path.with_name(path.name + ending)


class _Plan(msgspec.Struct):
    """How one table is read: its query, the columns it gives, and the plans of the tables below."""

    table: Table
    columns: list[str]
    query: str
    order: str
    below: list[_Plan]


def _plan(database: sqlite3.Connection, table: Table) -> _Plan | None:
    """How to read a table; None if it is not there, or lacks what links it to the table above."""
    present = _columns(database, table.name)
    if not present or (table.link and table.link not in present):
        return None
    columns = [name for name in present if not table.columns or name in (*table.columns, table.key)]
    order = [_quoted(name) for name in table.order_by if name in present] or ["rowid"]
    plans = (_plan(database, below) for below in table.below)
    return _Plan(
        table=table,
        columns=columns,
        query=f"SELECT {', '.join(map(_quoted, columns))} FROM {_quoted(table.name)}",
        order=f" ORDER BY {', '.join(order)}",
        below=[plan for plan in plans if plan is not None],
    )


def _columns(database: sqlite3.Connection, name: str) -> list[str]:
    """The columns of a table; none for one that is not there, or that is not a plain table."""
    if name == "sqlite_master":
        return ["type", "name"]
    found = database.execute("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", (name,)).fetchone()
    if found is None:
        return []
    return [row[1] for row in database.execute(f"PRAGMA table_info({_quoted(name)})")]


def _table_rows(database: sqlite3.Connection, table: Table) -> Iterator[_Row]:
    """The rows of a table, each followed by those that belong to it, then those that belong to none."""
    plan = _plan(database, table)
    if plan is None:
        for below in table.below:
            yield from _table_rows(database, below)
        return
    yield from _select(database, plan, "", ())
    yield from _orphans(database, plan)


def _select(database: sqlite3.Connection, plan: _Plan, where: str, values: tuple[object, ...]) -> Iterator[_Row]:
    table = plan.table
    with closing(_cursor(database, plan, where, values)) as cursor:
        for found in cursor:
            row = dict(zip(plan.columns, found, strict=True))
            yield table.name, row
            if (key := row.get(table.key)) is not None:
                for below in plan.below:
                    yield from _select(database, below, f" WHERE {_quoted(below.table.link)} = ?", (key,))


def _cursor(database: sqlite3.Connection, plan: _Plan, where: str, values: tuple[object, ...]) -> sqlite3.Cursor:
    try:
        return database.execute(plan.query + where + plan.order, values)
    except sqlite3.OperationalError:
        if not plan.order.endswith(" rowid"):
            raise
        return database.execute(plan.query + where, values)  # a table WITHOUT ROWID


def _orphans(database: sqlite3.Connection, plan: _Plan) -> Iterator[_Row]:
    owner = plan.table
    for below in plan.below:
        where = ""
        if owner.key in plan.columns:
            link = f"{_quoted(below.table.name)}.{_quoted(below.table.link)}"
            where = f" WHERE NOT EXISTS (SELECT 1 FROM {_quoted(owner.name)} WHERE {_quoted(owner.key)} = {link})"
        yield from _select(database, below, where, ())
        yield from _orphans(database, below)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _encode(table: str, row: dict[str, object]) -> bytes:
    value = {"table": table, "row": row}
    try:
        if all(map(_is_plain, row.values())):
            return orjson.dumps(value)
    except TypeError:  # lone surrogates
        pass
    return json.dumps(value, default=_base64).encode("ascii")


def _is_plain(value: object) -> bool:
    """Whether the fast encoder writes `value` as it is: it writes infinities as null, and bytes not at all."""
    return not isinstance(value, bytes) and (not isinstance(value, float) or abs(value) != float("inf"))


def _base64(data: bytes) -> dict[str, str]:
    return {"base64": base64.b64encode(data).decode("ascii")}


def _source_error(path: Path, error: sqlite3.Error, *, after: int) -> SourceError:
    place = ""
    if after:
        place = f" after {after} rows"
    if "locked" in str(error) or "busy" in str(error):
        return SourceError(f"{path}: is locked{place}", hint="try again when its agent is idle")
    return SourceError(f"{path}: cannot be read{place}: {error}")
