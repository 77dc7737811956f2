"""Questions that people write themselves, in SQL, asked so that they can change nothing.

Owns the connection that only reads: its file is opened for reading, SQLite refuses to write on it, and an authorizer lets
nothing through but reading and computing: no ATTACH, no PRAGMA, no extension. A question has a limit of time and of rows.
Must not know what the tables mean, nor who asks.
"""

from __future__ import annotations

import math
import os
import re
import sqlite3
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TypeAlias
from urllib.parse import quote

import msgspec

from tallystick.errors import TallystickError, UsageError
from tallystick.graph.graph import Graph, GraphError

Value: TypeAlias = "str | int | float | bytes | None"
"""What a cell can hold. A float that is not a number is text: `inf`, `-inf`."""

LONGEST_VALUE = 16 << 20
"""Bytes of one value, whatever a question computes."""

_LONGEST_QUESTION = 100_000
_PATIENCE_S = 5.0
_STEPS_A_LOOK = 2_000  # of SQLite's machine, between two looks at the clock: less than a millisecond
_ALLOWED = frozenset((sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_RECURSIVE))
_FORBIDDEN_FUNCTIONS = frozenset(("load_extension", "readfile", "writefile", "edit", "fts3_tokenizer"))
# A table that is not a real one is made known to SQLite by its first use, which the authorizer would take for a
# change.
_FIRST_USES = (
    "SELECT 1 FROM json_each('[]')",
    "SELECT 1 FROM json_tree('[]')",
    "SELECT rowid FROM search LIMIT 0",
)


class QuestionError(UsageError):
    """A question that SQLite does not understand.

    `at` is the offset of what it stumbled on, None where that is not known; `unknown` a name that there is not, with its
    kind: `column` or `table`.
    """

    def __init__(self, message: str, *, at: int | None = None, unknown: tuple[str, str] | None = None) -> None:
        super().__init__(message)
        self.at = at
        self.unknown = unknown


class TooSlowError(TallystickError):
    """A question that was not answered in its time."""


class Answer(msgspec.Struct, frozen=True):
    """The rows that a question gave. `more`: there are others, which were not asked for."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Value, ...], ...]
    more: bool


def ask(path: Path, question: str, values: Mapping[str, str] = {}, *, limit: int, seconds: float) -> Answer:
    """What the index at `path` answers to one SELECT, at most `limit` rows of it.

    Args:
        values: what stands for `:name` in the question.

    Raises: QuestionError: it is not a question, or would change something. TooSlowError: it was not answered in
    `seconds`. GraphError: the index cannot be read.
    """
    if len(question) > _LONGEST_QUESTION:
        raise QuestionError(f"a question is at most {_LONGEST_QUESTION} characters long, this one has {len(question)}")
    with _reader(path) as database, _time_limit(database, seconds), _explained(database, path, question):
        cursor = database.execute(question, {name: _encodable(value) for name, value in values.items()})
        if cursor.description is None:
            raise QuestionError("there is no question in it")
        rows = cursor.fetchmany(limit + 1)
        columns = tuple(_encodable(name) for name, *_ in cursor.description)
        return Answer(columns, tuple(tuple(map(_value, row)) for row in rows[:limit]), len(rows) > limit)


def names(path: Path) -> dict[str, tuple[str, ...]]:
    """The columns of each table and view that a question can name. Raises GraphError."""
    with _connection(path) as database:
        tables = database.execute(
            "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%'"
            " AND name NOT LIKE 'search_%' ORDER BY name"
        ).fetchall()
        columns = "SELECT name FROM pragma_table_info(?)"
        return {table: tuple(name for (name,) in database.execute(columns, (table,))) for (table,) in tables}


# The connection -------------------------------------------------------------------------------------------------------


@contextmanager
def _connection(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection that cannot write. The schema is trusted, for a view that reads JSON needs that; no function does harm."""
    with Graph(path):  # says in words what is wrong with the file, if anything is
        pass
    address = f"file:{quote(str(path.absolute()))}?mode=ro"
    if not os.access(path.parent, os.W_OK) and not path.with_name(path.name + "-wal").exists():
        address += "&immutable=1"  # even a reader would make files beside it, unless told that no one writes
    try:
        database = sqlite3.connect(address, uri=True, timeout=_PATIENCE_S, isolation_level=None)
    except sqlite3.Error as error:
        raise GraphError(f"cannot use {path}: {error}") from error
    with closing(database):
        database.text_factory = lambda data: data.decode("utf-8", "replace")
        database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST_VALUE)
        database.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
        try:
            database.execute("PRAGMA query_only = ON")
            for first_use in _FIRST_USES:
                database.execute(first_use).fetchall()
        except sqlite3.Error as error:
            raise GraphError(f"cannot use {path}: {error}") from error
        yield database


@contextmanager
def _reader(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection that can do nothing but answer questions."""
    with _connection(path) as database:
        database.set_authorizer(_authorize)
        yield database


def _authorize(action: int, first: str | None, second: str | None, _schema: str | None, _view: str | None) -> int:
    """Whether SQLite may do something: read and compute. The search index looks at a counter of the file as it reads."""
    is_allowed = (
        action in _ALLOWED
        or (action == sqlite3.SQLITE_FUNCTION and (second or "").lower() not in _FORBIDDEN_FUNCTIONS)
        or (action == sqlite3.SQLITE_PRAGMA and first == "data_version" and second is None)
    )
    if is_allowed:
        return sqlite3.SQLITE_OK
    return sqlite3.SQLITE_DENY


@contextmanager
def _time_limit(database: sqlite3.Connection, seconds: float) -> Iterator[None]:
    """Have SQLite stop when the time is over. Raises TooSlowError then."""
    end = time.monotonic() + seconds
    database.set_progress_handler(lambda: int(time.monotonic() > end), _STEPS_A_LOOK)
    try:
        yield
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode == sqlite3.SQLITE_INTERRUPT:
            if (
                time.monotonic() <= end
            ):  # a signal came while the clock was looked at, and SQLite took it for the answer
                raise KeyboardInterrupt from error
            raise TooSlowError(
                f"no answer within {seconds:g} s",
                hint="ask for less, or give it longer: --timeout SECONDS",
            ) from error
        raise


# What SQLite says against a question ------------------------------------------------------------------------------------

_NEAR = re.compile(r'near "(.*)": syntax error\Z', re.DOTALL)
_TOKEN = re.compile(r'unrecognized token: "(.*)"\Z', re.DOTALL)
_UNKNOWN = re.compile(r"no such (column|table|function): (.*)\Z", re.DOTALL)
_MOST_TRIALS = 200


@contextmanager
def _explained(database: sqlite3.Connection, path: Path, question: str) -> Iterator[None]:
    try:
        yield
    except sqlite3.DatabaseError as error:
        code = getattr(error, "sqlite_errorcode", None)
        if code == sqlite3.SQLITE_INTERRUPT:
            raise
        if code is not None and code & 0xFF not in _OF_THE_QUESTION:
            raise GraphError(
                f"cannot use {path}: {error}", hint="try again in a moment; else `tally rebuild`"
            ) from error
        raise _question_error(database, question, str(error)) from error
    except (sqlite3.Warning, UnicodeEncodeError, OverflowError, MemoryError) as error:
        raise QuestionError(f"this cannot be asked: {error}") from error


_OF_THE_QUESTION = frozenset(
    (
        *(sqlite3.SQLITE_ERROR, sqlite3.SQLITE_AUTH, sqlite3.SQLITE_RANGE, sqlite3.SQLITE_TOOBIG),
        *(sqlite3.SQLITE_MISMATCH, sqlite3.SQLITE_MISUSE, sqlite3.SQLITE_READONLY),
    )
)


def _question_error(database: sqlite3.Connection, question: str, message: str) -> QuestionError:
    if "not authorized" in message or "prohibited" in message or "readonly" in message:
        return QuestionError(f"only SELECT can be asked: {message}")
    near = _NEAR.match(message) or _TOKEN.match(message)
    if near is not None:
        return QuestionError(message, at=_offset_of_syntax(database, question, near[1]))
    unknown = _UNKNOWN.match(message)
    if unknown is not None:
        kind, name = unknown.groups()
        at = re.search(rf"(?<![\w.]){re.escape(name)}(?!\w)", question)
        found = None
        if kind != "function":
            found = kind, name
        return QuestionError(message, at=None if at is None else at.start(), unknown=found)
    return QuestionError(message, at=len(question.rstrip()) if message == "incomplete input" else None)


def _offset_of_syntax(database: sqlite3.Connection, question: str, token: str) -> int | None:
    """Where the token stands that SQLite stumbled on: at the first of its places where a question cut there is wrong."""
    for count, match in enumerate(re.finditer(re.escape(token), question)):
        if count >= _MOST_TRIALS:
            break
        try:
            database.execute(f"EXPLAIN {question[: match.end()]}").close()
        except sqlite3.Error as error:
            said = _NEAR.match(str(error)) or _TOKEN.match(str(error))
            if said is not None and said[1] == token:
                return match.start()
    return None


def _encodable(value: str) -> str:
    """Text that SQLite can take: no half of a surrogate pair."""
    return value.encode("utf-8", "replace").decode("utf-8")


def _value(value: Value) -> Value:
    if isinstance(value, float) and not math.isfinite(value):
        return repr(value)
    return value
