"""Finding steps by the words in them.

Owns the little language of a search (words, "phrases", beginnings*), its answers, and the piece of text that shows why
a step was found. The index keeps no text: anyone who asks gives a way to read a step from its journal.
"""

from __future__ import annotations

import enum
import re
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing

import msgspec

from tallystick.errors import UsageError
from tallystick.graph.document import COLUMNS, TOKENIZER, Document, document_of
from tallystick.graph.graph import Graph, Row
from tallystick.graph.queries import unsearchable_sessions
from tallystick.graph.steps import STEP_COLUMNS, StepEntry, step_entry
from tallystick.graph.times import asked_time
from tallystick.lineage.identity import thing_id
from tallystick.lineage.things import file_thing
from tallystick.model.recorded import Recorded

MOST_RANKED = 20_000
"""Words that are in more steps than this do not rank them: the newest come first."""

_LONGEST_QUERY = 2_000
_SNIPPET_WORDS = 24
_OPEN, _CLOSE = "\x01", "\x02"
_TERM = re.compile(r'"([^"]*)"?(\*?)|([^\s"]+)')
_NO_MARKS = str.maketrans({_OPEN: " ", _CLOSE: " "})

ReadStep = Callable[[StepEntry], Recorded | None]
"""Reads a step from its journal, values that are kept as blobs included; None if it cannot be read."""


class Order(enum.Enum):
    """Which steps come first."""

    BEST = "best"
    """Those with many of the words in little text (BM25)."""
    NEWEST = "newest"


class SearchFilter(msgspec.Struct, frozen=True, kw_only=True):
    """Where to search. An empty tuple or None does not filter. `fields` are among `document.COLUMNS`.

    `session` is a full id; `since` (not before) and `until` (before) are times as the record writes them. `path` is that of a
    file, or the end of it: calls that touched it, as far as that is confirmed, and their results. `failed`: what did not
    succeed, refused calls among it.
    """

    fields: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    session: str | None = None
    since: str | None = None
    until: str | None = None
    path: str | None = None
    failed: bool = False
    order: Order = Order.BEST
    limit: int = 20


class Part(msgspec.Struct, frozen=True):
    """A piece of a snippet; `hit` if it is what was searched for."""

    text: str
    hit: bool


class Hit(msgspec.Struct, frozen=True, kw_only=True):
    """A step that was found. `field` and `snippet` show where, and are empty if its journal cannot be read."""

    step: StepEntry
    field: str | None
    snippet: tuple[Part, ...]


class SearchResult(msgspec.Struct, frozen=True, kw_only=True):
    """What was found, in which order, and whether there is more. Of `unsearchable` sessions some text is not there yet."""

    hits: tuple[Hit, ...]
    order: Order
    more: bool
    unsearchable: int


def search(graph: Graph, text: str, wanted: SearchFilter, read: ReadStep) -> SearchResult:
    """The steps in which all the words, "phrases" and beginnings* of `text` stand, each anywhere in the step.

    Raises:
        UsageError: the text is too long, or the filter names a field or time that there is not.
        GraphError: the index cannot be read.
    """
    expression = match_expression(text, fields=wanted.fields)
    if expression is not None:
        rows, order = _matches(graph, expression, wanted)
    else:
        rows, order = [], wanted.order
    found = [step_entry(row) for row in rows[: max(wanted.limit, 0)]]
    return SearchResult(
        hits=tuple(_hits(found, expression or "", read)),
        order=order,
        more=len(rows) > len(found),
        unsearchable=unsearchable_sessions(graph),
    )


def match_expression(text: str, *, fields: Sequence[str] = ()) -> str | None:
    """What FTS5 is asked for `text`; None if there is no word in it. No text is a syntax error, nor an operator of FTS5.

    Raises:
        UsageError: the text is too long, or there is no such field.
    """
    if len(text) > _LONGEST_QUERY:
        raise UsageError(f"a search is at most {_LONGEST_QUERY} characters long, this one has {len(text)}")
    unknown = [field for field in fields if field not in COLUMNS]
    if unknown:
        raise UsageError(f"there is no field {unknown[0]!r}", hint=f"the fields are {', '.join(COLUMNS)}")
    clean = text.replace("\0", " ").encode("utf-8", "replace").decode("utf-8")
    terms = [term for term in map(_term, _TERM.finditer(clean)) if term is not None]
    if not terms:
        return None
    # Terms side by side, not joined by AND: one without a letter or digit is then passed over instead of finding nothing.
    expression = " ".join(terms)
    if fields:
        return f"{{{' '.join(fields)}}} : ({expression})"
    return expression


def _term(match: re.Match[str]) -> str | None:
    phrase, star, word = match.groups()
    if word is not None:
        phrase = word.rstrip("*")
        star = ""
        if phrase != word:
            star = "*"
    if not any(character.isalnum() for character in phrase):
        return None
    return f'"{phrase}"{star}'


def _matches(graph: Graph, expression: str, wanted: SearchFilter) -> tuple[list[Row], Order]:
    """The rows of steps that match, one more than wanted if there are more, and the order that they are in."""
    matching, values = "search MATCH ?", list[object]((expression,))
    if wanted.session is not None:
        row = graph.row("SELECT first_id, first_id + size - 1 FROM sessions WHERE session_id = ?", (wanted.session,))
        matching += " AND search.rowid BETWEEN ? AND ?"
        if row is None:
            values += 0, -1
        else:
            values += row
    conditions, filters = _conditions(wanted)
    limit = max(wanted.limit, 0) + 1
    is_common = _are_many(graph, matching, values)
    if is_common:
        order = Order.NEWEST
    else:
        order = wanted.order
    if is_common:
        # Along the index of times, looking each step up among those that match: a few of many are soon found.
        source = "steps s WHERE +s.id IN (SELECT search.rowid FROM search WHERE {})"
    else:
        source = "search CROSS JOIN steps s ON s.id = search.rowid WHERE {}"
    by = "s.at_us DESC, s.id DESC"
    if order is Order.BEST:
        by = "search.rank"
    sql = f"SELECT {STEP_COLUMNS} FROM {source.format(matching)}{conditions} ORDER BY {by} LIMIT ?"
    return graph.rows(sql, (*values, *filters, limit)), order


def _are_many(graph: Graph, matching: str, values: Sequence[object]) -> bool:
    """Whether more steps match than can be ranked while someone waits."""
    row = graph.row(
        f"SELECT count(*) FROM (SELECT search.rowid FROM search WHERE {matching} LIMIT ?)", (*values, MOST_RANKED + 1)
    )
    return row is not None and row[0] > MOST_RANKED


def _conditions(wanted: SearchFilter) -> tuple[str, list[object]]:
    sql, values = "", list[object]()
    for column, allowed in (("type", wanted.types), ("agent_id", wanted.agents), ("tool", wanted.tools)):
        if allowed:
            sql += f" AND s.{column} IN ({', '.join('?' * len(allowed))})"
            values += allowed
    for bound, comparison in ((wanted.since, ">="), (wanted.until, "<")):
        if bound is not None:
            sql += f" AND s.at_us {comparison} ?"
            values.append(asked_time(bound))
    if wanted.failed:
        sql += " AND s.success = 0"
    if wanted.path is not None:
        named, words = _path_condition(wanted.path)
        sql += f" AND s.id IN ({_TOUCHING.format(named)})"
        values += words * 2
    return sql, values


# Calls that touched something, and the steps that say that they did.
_TOUCHED = "FROM things t CROSS JOIN accesses a ON a.thing = t.thing"
_TOUCHING = (
    f"SELECT a.step_id {_TOUCHED} WHERE {{0}}"
    f" UNION ALL SELECT c.id - c.n + a.result {_TOUCHED} CROSS JOIN steps c ON c.id = a.step_id WHERE {{0}}"
)


def _path_condition(path: str) -> tuple[str, list[object]]:
    """Which things `t` a path names: one file if it is absolute, else all whose paths end with its words."""
    file = file_thing(path)
    if path.startswith("/"):
        return "t.thing = ?", [thing_id(*file)]
    ending = f"/{path.removeprefix('./')}"
    return "t.kind = 'file' AND (t.uri = ? OR substr(t.uri, -length(?)) = ?)", [file.uri, ending, ending]


# Snippets ----------------------------------------------------------------------------------------------------------


def _hits(found: Sequence[StepEntry], expression: str, read: ReadStep) -> Iterator[Hit]:
    """The steps with their snippets. One whose text was erased since it was indexed is not among them any more."""
    documents: dict[int, Document] = {}
    unread: set[int] = set()
    for position, entry in enumerate(found):
        step = read(entry)
        if step is None or step.hash != entry.hash:
            unread.add(position)
        else:
            documents[position] = document_of(step) or (None,) * len(COLUMNS)
    if documents:
        snippets = _snippets(documents, expression)
    else:
        snippets = {}
    for position, entry in enumerate(found):
        if position in snippets:
            field, parts = snippets[position]
            yield Hit(step=entry, field=field, snippet=parts)
        elif position in unread:
            yield Hit(step=entry, field=None, snippet=())


def _snippets(documents: dict[int, Document], expression: str) -> dict[int, tuple[str, tuple[Part, ...]]]:
    """The best field of each document that matches, and the piece of it to show: FTS5's own choice, made in memory."""
    columns = ", ".join(COLUMNS)
    pieces = ", ".join(
        f"snippet(shown, {column}, '{_OPEN}', '{_CLOSE}', '…', {_SNIPPET_WORDS})" for column in range(len(COLUMNS))
    )
    with closing(sqlite3.connect(":memory:")) as memory:
        memory.execute(f"CREATE VIRTUAL TABLE shown USING fts5 ({columns}, tokenize = '{TOKENIZER}')")
        memory.executemany(
            f"INSERT INTO shown (rowid, {columns}) VALUES (?{', ?' * len(COLUMNS)})",
            (
                (position, *(None if text is None else text.translate(_NO_MARKS) for text in document))
                for position, document in documents.items()
            ),
        )
        rows = memory.execute(f"SELECT rowid, {pieces} FROM shown WHERE shown MATCH ?", (expression,)).fetchall()
    return {position: _best_piece(texts) for position, *texts in rows}


def _best_piece(texts: Sequence[str | None]) -> tuple[str, tuple[Part, ...]]:
    hits = [0 if text is None else text.count(_OPEN) for text in texts]
    best = hits.index(max(hits))
    return COLUMNS[best], tuple(_parts(texts[best] or ""))


def _parts(marked: str) -> Iterator[Part]:
    """A snippet cut at its marks."""
    for piece in re.split(f"({_OPEN}[^{_CLOSE}]*{_CLOSE})", marked):
        if piece:
            is_hit = piece.startswith(_OPEN)
            yield Part(piece[1:-1] if is_hit else piece, is_hit)
