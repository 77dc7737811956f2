"""The file `graph.db`: opening it, and one way to run a statement on it.

Owns the connection, the version of the schema and what SQLite's errors mean to a person. Must not know what the rows say.
"""

from __future__ import annotations

import contextlib
import enum
import errno
import fcntl
import functools
import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib.resources import files
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, TypeAlias
from urllib.parse import quote

from tallystick.errors import TallystickError, UsageError

SCHEMA = 10
"""The version of the tables: `user_version`. The rules by which a session's rows were made have a digest (rules.py)."""

APPLICATION_ID = 0x54414C4C
"""Marks the file as ours in its header: "TALL"."""

_SCRIPTS = ("schema.sql", "alerts.sql", "views.sql")
_PATIENCE_S = 5.0
_CACHE_KIB = 32_000
_PAGES_A_CHECKPOINT = 4_000
_PAGE_BYTES = 8192
_STEPS_A_BEAT = 100_000
_FILE_MODE = 0o600
_LOCKED = frozenset((sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL))
_NOT_THE_CONTENT = frozenset(
    (
        sqlite3.SQLITE_PERM,
        sqlite3.SQLITE_NOMEM,
        sqlite3.SQLITE_READONLY,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_AUTH,
        sqlite3.SQLITE_INTERRUPT,
    )
)
_CUT_SHORT = sqlite3.SQLITE_IOERR_SHORT_READ
_REBUILD = "`tally rebuild` makes it again from the journals"

Row: TypeAlias = tuple[Any, ...]
"""What SQLite gives for a row; the query that asked for it knows the types."""


class Mode(enum.Enum):
    """What the index is opened for."""

    READ = "read"
    WRITE = "write"
    """To read and project; it is made if it is not there."""
    REPLACE = "replace"
    """To rebuild it, whatever is in the file: `tally rebuild`."""


class GraphError(TallystickError):
    """The index cannot be used. Nothing of the record is lost by that: it is made again from the journals."""


class OutdatedError(GraphError):
    """The index was made by rules of before. It is rebuilt from the journals, and nothing is lost."""


class DamagedError(GraphError):
    """The index's file is broken."""


class Graph:
    """An open index, for the thread that opened it."""

    def __init__(self, path: Path, mode: Mode = Mode.READ, *, patience_s: float | None = None) -> None:
        """Open the index at `path`.

        Args:
            patience_s: how long a statement waits for someone else who has locked the file; None: five seconds.

        Raises: GraphError: none exists, or it is of another version, locked, not to be written, or no index at all.
        DamagedError: its file is broken.
        """
        self.path = path
        if mode is Mode.READ and not path.exists():
            raise GraphError(f"there is no index at {path}", hint=_REBUILD)
        with self._explained():
            self._database = _connect(path, mode, _PATIENCE_S if patience_s is None else patience_s)
            try:
                if mode is not Mode.READ:
                    self._make(anew=mode is Mode.REPLACE)
                self._check()
            except BaseException:
                self._database.close()
                raise
        self._files = _files(path)

    def __enter__(self) -> Graph:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def check(self) -> None:
        """Read all of it. Raises DamagedError: pages of it are not what they should be."""
        with self._explained():
            (said,) = self._database.execute("PRAGMA quick_check(1)").fetchone()
        if said != "ok":
            raise DamagedError(f"{self.path} is damaged: {said}", hint=_REBUILD)

    def watch(self, beat: Callable[[], bool]) -> None:
        """Have `beat` called now and then while a statement runs; where it says True, the statement ends with an error."""
        self._database.set_progress_handler(lambda: int(beat()), _STEPS_A_BEAT)

    @property
    def is_moved(self) -> bool:
        """Whether its file, or the log beside it, is another one than at the opening: then what others write is not seen."""
        return _files(self.path) != self._files

    # Statements -----------------------------------------------------------------------------------------------------

    def rows(self, sql: str, values: Sequence[object] = ()) -> list[Row]:
        """All rows that a query gives. Raises GraphError."""
        with self._explained():
            return self._database.execute(sql, values).fetchall()

    def row(self, sql: str, values: Sequence[object] = ()) -> Row | None:
        """The first row that a query gives. Raises GraphError."""
        with self._explained():
            found: Row | None = self._database.execute(sql, values).fetchone()
            return found

    def change(self, sql: str, values: Sequence[object] = ()) -> None:
        """Run one statement that changes something. Raises GraphError."""
        with self._explained():
            self._database.execute(sql, values)

    def change_many(self, sql: str, many: Iterable[Sequence[object]]) -> None:
        """Run one statement for each sequence of values. Raises GraphError."""
        with self._explained():
            self._database.executemany(sql, many)

    @property
    def in_transaction(self) -> bool:
        """Whether `begin` was called, and neither `commit` nor `roll_back` since."""
        return self._database.in_transaction

    def begin(self) -> None:
        """Begin a transaction that may write; others may only read until it ends. Raises GraphError."""
        self.change("BEGIN IMMEDIATE")

    def commit(self) -> None:
        """Keep what was changed since `begin`. Raises GraphError."""
        self.change("COMMIT")

    def roll_back(self) -> None:
        """Undo what was changed since `begin`, if a transaction is open."""
        if self.in_transaction:
            self.change("ROLLBACK")

    def wipe_traces(self) -> None:
        """Leave nothing of what was deleted in the file beside the index, unless someone is reading it just now."""
        self.row("PRAGMA wal_checkpoint(TRUNCATE)")

    # The schema -----------------------------------------------------------------------------------------------------

    def _make(self, *, anew: bool) -> None:
        """Lay the tables if none exist, or again: in one transaction, so that others see the old index or this one."""
        self._database.execute("PRAGMA journal_mode = WAL")
        if not anew and not self._is_empty():
            return
        self.begin()
        try:
            if anew:
                for kind, name in self.rows(_OBJECTS):
                    quoted = name.replace('"', '""')
                    self.change(f'DROP {kind} IF EXISTS "{quoted}"')
            if self._is_empty(anew=anew):  # no one else was faster
                _lay_tables(self._database)
            self.commit()
        finally:
            self.roll_back()

    def _is_empty(self, *, anew: bool = False) -> bool:
        return (anew or self._number("user_version") == 0) and not self.rows(_OBJECTS)

    def _check(self) -> None:
        version = self._number("user_version")
        if self._is_empty():
            raise GraphError(f"{self.path} is empty: nothing could be written to it", hint="is the disk full?")
        if self._number("application_id") != APPLICATION_ID:
            raise GraphError(f"{self.path} is an SQLite database, but no index of ours", hint=_REBUILD)
        if version != SCHEMA:
            age = "an older"
            if version > SCHEMA:
                age = "a newer"
            if version > SCHEMA:
                kind = GraphError
            else:
                kind = OutdatedError
            raise kind(
                f"{self.path} was made by {age} Tallystick: version {version}, this program knows {SCHEMA}",
                hint=_REBUILD,
            )

    def _number(self, pragma: str) -> int:
        return int(self._database.execute(f"PRAGMA {pragma}").fetchone()[0])

    @contextlib.contextmanager
    def _explained(self) -> Iterator[None]:
        """Say in words what SQLite means."""
        try:
            yield
        except (UnicodeEncodeError, OverflowError) as error:
            raise UsageError(f"nothing in the index can have this value: {error}") from error
        except sqlite3.Error as error:
            explanation = _explanation(self.path, error)
            if explanation is error:
                raise
            raise explanation from error


_OBJECTS = (
    "SELECT type, name FROM sqlite_master WHERE type IN ('table', 'view')"
    " AND name NOT LIKE 'sqlite_%' AND name NOT LIKE 'search_%' ORDER BY type DESC, name"
)


_SETTINGS = (
    f"page_size = {_PAGE_BYTES}",
    f"cache_size = -{_CACHE_KIB}",
    f"wal_autocheckpoint = {_PAGES_A_CHECKPOINT}",
    "synchronous = NORMAL",
    "secure_delete = ON",  # what was erased from the record must not linger in a freed page
    "trusted_schema = OFF",
)


def _connect(path: Path, mode: Mode, patience_s: float) -> sqlite3.Connection:
    if mode is not Mode.READ:
        _prepare(path)
    how = "rw"
    if mode is Mode.READ:
        how = "ro"
    if mode is Mode.READ and not os.access(path.parent, os.W_OK) and not path.with_name(path.name + "-wal").exists():
        how = "ro&immutable=1"  # even a reader would make files beside it, unless told that no one writes
    return _open(path, how, patience_s)


def _open(path: Path, how: str, patience_s: float) -> sqlite3.Connection:
    address = f"file:{quote(str(path.absolute()))}?mode={how}"
    database = sqlite3.connect(address, uri=True, timeout=patience_s, isolation_level=None)
    try:
        for setting in _SETTINGS:
            database.execute(f"PRAGMA {setting}")
    except BaseException:
        database.close()
        raise
    return database


class FileStamp(NamedTuple):
    """What tells an index's file from another one, and from what it was before someone wrote into it; zeros: none."""

    inode: int = 0
    """No other file has it as long as someone has this one open."""
    size: int = 0
    changed_ns: int = 0


def file_stamp(path: Path) -> FileStamp:
    """That of the index at `path`. An empty file is no index."""
    try:
        found = path.stat()
    except OSError:
        return FileStamp()
    if found.st_size:
        return FileStamp(found.st_ino, found.st_size, found.st_mtime_ns)
    return FileStamp()


def _files(path: Path) -> tuple[int, ...]:
    """What tells the index and its log from others."""
    return file_stamp(path).inode, *(_inode(path.with_name(path.name + suffix)) for suffix in ("-wal", "-shm"))


def _inode(path: Path) -> int:
    try:
        return path.stat().st_ino
    except OSError:
        return 0


def _prepare(path: Path) -> None:
    """Make the file if it is not there. One that is there is not opened here.

    To close a descriptor of a file drops all locks that the process holds on it, SQLite's too; the next process that
    closes the index then removes the log under this one (sqlite.org/howtocorrupt.html, 2.2).
    """
    try:
        if not path.exists():
            with _alone_in(path.parent):
                _make_file(path)
    except OSError as error:
        raise GraphError(f"cannot write {path}: {error.strerror}") from error
    if not os.access(path, os.W_OK):
        raise GraphError(f"cannot write {path}: {os.strerror(errno.EACCES)}")


def _make_file(path: Path) -> None:
    """Make the file for this user only, as SQLite would not; its companions get the same permissions.

    It gets its name when the tables are in it: no one finds an empty one, or has it open before.
    """
    if path.exists():  # someone else was faster
        return
    made = path.with_name(path.name + "-new")
    _remove(made)
    os.close(os.open(made, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, _FILE_MODE))
    with contextlib.closing(_open(made, "rw", _PATIENCE_S)) as database:
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("BEGIN IMMEDIATE")
        _lay_tables(database)
        database.execute("COMMIT")
    _remove(path)  # the log of an index that was deleted says nothing of this one
    made.rename(path)


@contextlib.contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    """Wait until no one else makes or removes an index in a folder."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _lay_tables(database: sqlite3.Connection) -> None:
    for statement in _schema():
        database.execute(statement)
    database.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    database.execute(f"PRAGMA user_version = {SCHEMA}")


@functools.cache
def _schema() -> tuple[str, ...]:
    folder = files(__package__)
    return tuple(
        statement for script in _SCRIPTS for statement in _statements(folder.joinpath(script).read_text("utf-8"))
    )


def _statements(script: str) -> Iterator[str]:
    """The statements of a script, one by one: all of them can then run in one transaction."""
    waiting = ""
    for line in script.splitlines(keepends=True):
        waiting += line
        if sqlite3.complete_statement(waiting):
            yield waiting
            waiting = ""


def _explanation(path: Path, error: sqlite3.Error) -> Exception:
    code = getattr(error, "sqlite_errorcode", None)
    if code is None:  # ours to fix, not the file's fault
        return error
    primary = code & 0xFF
    if code == _CUT_SHORT:
        return DamagedError(f"{path} is damaged: it is cut short", hint=_REBUILD)
    if primary in _LOCKED:
        return GraphError(f"{path} is being written by another process", hint="try again in a moment")
    if primary in _NOT_THE_CONTENT:
        return GraphError(f"cannot use {path}: {error}")
    return DamagedError(f"{path} is damaged: {error}", hint=_REBUILD)


def empty_graph(path: Path) -> Graph:
    """An index with nothing in it, open for writing, in place of whatever is at `path`.

    Raises:
        GraphError: the file cannot be written, or is being written.
    """
    try:
        return Graph(path, Mode.REPLACE)
    except DamagedError:
        remove_graph(path)
        return Graph(path, Mode.WRITE)


def remove_graph(path: Path) -> None:
    """Remove the index's files. Only of one that is of no use: anyone who has it open goes on with what they had."""
    with _alone_in(path.parent):
        _remove(path)


def _remove(path: Path) -> None:
    for suffix in ("-wal", "-shm", ""):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
