"""A table of alerts unchanged in a file: ours, or that of the reference.

Owns opening such a file so that nothing of it changes, whatever its journal mode, and reading its chain byte for byte. Must
not know whether the chain holds.
"""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from urllib.parse import quote

import msgspec

from tallystick.errors import FormatError, NotFoundError
from tallystick.graph.graph import APPLICATION_ID
from tallystick.graph.projection.statements import columns
from tallystick.seal.alert_chain import Anchor, Checkpoint, Finding, Row

REFERENCE_VERSION = 2
"""`user_version` of the reference's databases that have a chain as it is read here."""

_NO_KEY = "a store of the reference that is encrypted cannot be checked without its key: export it in plain first"
_ROWS = f"SELECT alert_id, {columns(Finding)}, prev_hash, entry_hash FROM alerts ORDER BY alert_id"
_CHECKPOINTS = f"SELECT {columns(Checkpoint)} FROM alert_retention_checkpoints ORDER BY checkpoint_id"
_ANCHOR = "SELECT head_hash, count FROM {} WHERE id = 1"


class AlertTable(msgspec.Struct, frozen=True, kw_only=True):
    """What a file holds of alerts. An anchor is None where its row, or its table, is not there.

    `is_ours`: the file is an index of Tallystick's. `steps` are then the steps (session, n) that its rows are made of, as far
    as it says so.
    """

    is_ours: bool
    version: int
    rows: tuple[Row, ...]
    anchor: Anchor | None
    checkpoints: tuple[Checkpoint, ...]
    retention: Anchor | None
    steps: frozenset[tuple[str, int]] = frozenset()


def read_alerts(path: Path) -> AlertTable:
    """The alerts in an SQLite database that someone hands over. It stays as it is, and so do the files beside it.

    Raises:
        NotFoundError: there is no such file.
        FormatError: it is encrypted or no SQLite database, has no table of alerts, or is damaged.
    """
    return _checked(path, lambda: _open_database(path))


def read_own_alerts(path: Path) -> AlertTable:
    """The alerts of our own index, which others may be writing. Raises as `read_alerts` does.

    Nothing but SQLite opens it: this process may have it open already (graph.py, `_prepare`).
    """
    return _checked(path, lambda: closing(_connect(path, "mode=ro")))


def _checked(path: Path, opened: Callable[[], AbstractContextManager[sqlite3.Connection]]) -> AlertTable:
    if not path.is_file():
        raise NotFoundError(f"{path} is no file")
    try:
        if not path.stat().st_size:  # SQLite takes it for a database without tables
            raise sqlite3.DatabaseError
        with opened() as database:
            database.execute("BEGIN")  # rows and anchor are to be of the same moment
            return _read_table(database, path)
    except sqlite3.Error as error:
        if getattr(error, "sqlite_errorcode", sqlite3.SQLITE_NOTADB) == sqlite3.SQLITE_NOTADB:
            raise FormatError(f"{path} is encrypted, or no SQLite database", rule="db", hint=_NO_KEY) from error
        raise FormatError(f"{path} cannot be read: {error}", rule="db") from error


@contextmanager
def _open_database(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection that sees what writers have committed, and leaves no trace.

    Where there is a write-ahead log even a reader changes the files beside the database, so that a copy is read.
    """
    log = path.with_name(path.name + "-wal")
    if not log.is_file() or not log.stat().st_size:
        with closing(_connect(path, "immutable=1")) as database:
            yield database
        return
    with tempfile.TemporaryDirectory(prefix="tally-verify-log-") as folder:
        copy = Path(folder) / "alerts.db"
        shutil.copyfile(path, copy)
        shutil.copyfile(log, copy.with_name(copy.name + "-wal"))
        with closing(_connect(copy, "mode=rw")) as database:
            yield database


def _connect(path: Path, how: str) -> sqlite3.Connection:
    database = sqlite3.connect(f"file:{quote(str(path.absolute()))}?{how}", uri=True, isolation_level=None)
    # What is not UTF-8 must be hashed unchanged, and must not stop the reading.
    database.text_factory = lambda data: data.decode("utf-8", "surrogateescape")
    database.execute("PRAGMA trusted_schema = OFF")
    return database


def _read_table(database: sqlite3.Connection, path: Path) -> AlertTable:
    names = {row[0] for row in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    found = {row[1] for row in database.execute("PRAGMA table_info(alerts)")}
    missing = {"alert_id", "prev_hash", "entry_hash", *Finding.__struct_fields__} - found
    version = int(database.execute("PRAGMA user_version").fetchone()[0])
    if missing:
        raise FormatError(
            f"{path} has no table `alerts` with a hash chain", rule="db", hint=f"its schema has version {version}"
        )
    members = len(Finding.__struct_fields__)
    return AlertTable(
        is_ours=database.execute("PRAGMA application_id").fetchone()[0] == APPLICATION_ID,
        version=version,
        rows=tuple(
            Row(row[0], Finding(**dict(zip(Finding.__struct_fields__, row[1:], strict=False))), *row[members + 1 :])
            for row in database.execute(_ROWS)
        ),
        anchor=_anchor(database, "alert_chain_head", names),
        checkpoints=tuple(
            Checkpoint(**dict(zip(Checkpoint.__struct_fields__, row, strict=True)))
            for row in (database.execute(_CHECKPOINTS) if "alert_retention_checkpoints" in names else ())
        ),
        retention=_anchor(database, "alert_retention_head", names),
        steps=frozenset(database.execute("SELECT session_id, n FROM alert_steps") if "alert_steps" in names else ()),
    )


def _anchor(database: sqlite3.Connection, table: str, names: set[str]) -> Anchor | None:
    row = None
    if table in names:
        row = database.execute(_ANCHOR.format(table)).fetchone()
    if row is None:
        return None
    return Anchor(row[0], row[1])
