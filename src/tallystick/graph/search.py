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
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from tallystick.errors import UsageError
from tallystick.graph.document import COLUMNS, TOKENIZER, Document, document_of
from tallystick.graph.graph import Graph, Row
from tallystick.graph.projects import SESSION_IN_FOLDERS
from tallystick.graph.queries import id_list, unsearchable_sessions
from tallystick.graph.steps import STEP_COLUMNS, StepEntry, step_entry
from tallystick.graph.times import asked_time
from tallystick.lineage.identity import thing_id
from tallystick.lineage.things import file_thing
from tallystick.model.recorded import Recorded

MOST_RANKED = 20_000
"""Words that are in more steps than this do not rank them: the newest come first."""
FEW = 10
"""Where fewer steps than this have all the words, the best of those with some of them follow, up to so many in all."""

_LONGEST_QUERY = 2_000
_SNIPPET_WORDS = 24
_OPEN, _CLOSE = "\x01", "\x02"
_TERM = re.compile(r'"([^"]*)"?(\*?)|([^\s"]+)')
_LAST_WORD = re.compile(r"[^\W_]+$")
_SHORTEST_FINISHED = 4
_ENDINGS = (
    *(
        "ing",
        "ings",
        "ed",
        "es",
        "er",
        "ers",
        "ly",
        "ally",
        "ity",
        "ities",
        "ies",
        "ment",
        "ments",
        "ness",
        "ion",
        "ions",
    ),
    *("ation", "ations", "ational", "able", "ible", "ance", "ence", "ive", "ful", "ize", "ized", "ization"),
)
_MOST_TERMS = 50
"""So many words are looked for each by itself where few steps have all of them."""
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
    folders: tuple[str, ...] = ()
    """In which their sessions work: `graph.projects` finds them by name."""
    order: Order = Order.BEST
    limit: int = 20


class Part(msgspec.Struct, frozen=True):
    """A piece of a snippet; `hit` if it is what was searched for."""

    text: str
    hit: bool


class Hit(msgspec.Struct, frozen=True, kw_only=True):
    """A step that was found. `field` and `snippet` show where, and are empty if its journal cannot be read.

    `partial`: it has only some of the words; `missing` are the others, as far as its journal can be read.
    """

    step: StepEntry
    field: str | None
    snippet: tuple[Part, ...]
    partial: bool = False
    missing: tuple[str, ...] = ()


class SearchResult(msgspec.Struct, frozen=True, kw_only=True):
    """What was found, in which order, and whether there is more. Of `unsearchable` sessions some text is not there yet."""

    hits: tuple[Hit, ...]
    order: Order
    more: bool
    unsearchable: int


class _Term(NamedTuple):
    """A word, phrase or beginning: as it was written, and as FTS5 is asked for it."""

    written: str
    expression: str
    is_simple: bool
    """Whether it can stand beside others: FTS5 takes nothing in parentheses without an operator."""


def search(graph: Graph, text: str, wanted: SearchFilter, read: ReadStep) -> SearchResult:
    """The steps in which all the words, "phrases" and beginnings* of `text` stand, each anywhere in the step.

    Where they are few, the best of the steps in which some of the words stand follow.

    Raises:
        UsageError: the text is too long, or the filter names a field or time that there is not.
        GraphError: the index cannot be read.
    """
    terms = _terms(text, wanted.fields)
    if terms:
        rows, order = _matches(graph, _joined(terms, wanted.fields), wanted)
    else:
        rows, order = [], wanted.order
    limit = max(wanted.limit, 0)
    found = [step_entry(row) for row in rows[:limit]]
    hits = list(_hits(found, terms, wanted.fields, read))
    if len(terms) > 1 and len(rows) < min(limit, FEW):
        some = _some_matches(graph, terms, replace(wanted, limit=min(limit, FEW) + len(rows)))
        known = {entry.hash for entry in found}
        others = [entry for row in some if (entry := step_entry(row)).hash not in known]
        hits += _partial_hits(others[: min(limit, FEW) - len(rows)], terms, wanted.fields, read)
    return SearchResult(
        hits=tuple(hits),
        order=order,
        more=len(rows) > len(found),
        unsearchable=unsearchable_sessions(graph),
    )


# What FTS5 is asked ------------------------------------------------------------------------------------------------


def match_expression(text: str, *, fields: Sequence[str] = ()) -> str | None:
    """What FTS5 is asked for `text`; None if there is no word in it. No text is a syntax error, nor an operator of FTS5.

    Raises:
        UsageError: the text is too long, or there is no such field.
    """
    terms = _terms(text, fields)
    if not terms:
        return None
    return _joined(terms, fields)


def _terms(text: str, fields: Sequence[str]) -> list[_Term]:
    if len(text) > _LONGEST_QUERY:
        raise UsageError(f"a search is at most {_LONGEST_QUERY} characters long, this one has {len(text)}")
    unknown = [field for field in fields if field not in COLUMNS]
    if unknown:
        raise UsageError(f"there is no field {unknown[0]!r}", hint=f"the fields are {', '.join(COLUMNS)}")
    clean = text.replace("\0", " ").encode("utf-8", "replace").decode("utf-8")
    return [term for term in map(_term, _TERM.finditer(clean)) if term is not None]


def _joined(terms: Sequence[_Term], fields: Sequence[str]) -> str:
    """All of the terms. Those side by side, not joined by AND: one without a letter or digit is passed over then."""
    simple = " ".join(term.expression for term in terms if term.is_simple)
    parts = [simple, *(term.expression for term in terms if not term.is_simple)]
    return _within(fields, " AND ".join(part for part in parts if part))


def _within(fields: Sequence[str], expression: str) -> str:
    if fields:
        return f"{{{' '.join(fields)}}} : ({expression})"
    return expression


def _term(match: re.Match[str]) -> _Term | None:
    phrase, star, word = match.groups()
    if word is not None:
        phrase = word.rstrip("*")
        star = ""
        if phrase != word:
            star = "*"
    if not any(character.isalnum() for character in phrase):
        return None
    plain = f'"{phrase}"{star}'
    finished = _finished(phrase) if star else []
    if not finished:
        return _Term(match.group().strip(), plain, is_simple=True)
    return _Term(match.group().strip(), f"({' OR '.join((plain, *finished))})", is_simple=False)


def _finished(phrase: str) -> list[str]:
    """A beginning that ends within an ending of English, with the rest of it.

    What is indexed is the stem: `parsing` has no beginning `parsi` there, but `parsing` itself is found.
    """
    last = _LAST_WORD.search(phrase)
    if last is None or len(last.group()) < _SHORTEST_FINISHED:
        return []
    return [
        f'"{phrase}{ending[cut:]}"'
        for ending in _ENDINGS
        for cut in range(1, len(ending))
        if phrase.lower().endswith(ending[:cut])
    ]


# What matches ------------------------------------------------------------------------------------------------------


def _some_matches(graph: Graph, terms: Sequence[_Term], wanted: SearchFilter) -> list[Row]:
    """The rows of steps in which some of the terms stand: the rarest of them, as many as can be ranked."""
    counts = [(_count(graph, _within(wanted.fields, term.expression)), n) for n, term in enumerate(terms[:_MOST_TERMS])]
    chosen: list[str] = []
    total = 0
    for count, n in sorted(counts):
        total += count
        if chosen and total > MOST_RANKED:
            break
        if count:
            chosen.append(terms[n].expression)
    if not chosen:
        return []
    return _matches(graph, _within(wanted.fields, " OR ".join(chosen)), wanted)[0]


def _count(graph: Graph, expression: str) -> int:
    """How many steps match, as far as they can be ranked."""
    sql = "SELECT count(*) FROM (SELECT rowid FROM search WHERE search MATCH ? LIMIT ?)"
    row = graph.row(sql, (expression, MOST_RANKED + 1))
    return int(row[0]) if row is not None else 0


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
    if wanted.folders:
        sql += f" AND {SESSION_IN_FOLDERS}"
        values.append(id_list(wanted.folders))
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


def _hits(found: Sequence[StepEntry], terms: Sequence[_Term], fields: Sequence[str], read: ReadStep) -> Iterator[Hit]:
    """The steps with their snippets. One whose text was erased since it was indexed is not among them any more."""
    with closing(_Texts(found, read)) as texts:
        snippets = texts.snippets(_joined(terms, fields)) if terms else {}
        yield from _with_snippets(found, texts, snippets)


def _partial_hits(
    found: Sequence[StepEntry], terms: Sequence[_Term], fields: Sequence[str], read: ReadStep
) -> Iterator[Hit]:
    """Likewise, for steps that have some of the words only, and which words they do not have."""
    with closing(_Texts(found, read)) as texts:
        any_of = _within(fields, " OR ".join(term.expression for term in terms[:_MOST_TERMS]))
        having = [(term.written, texts.matching(_within(fields, term.expression))) for term in terms[:_MOST_TERMS]]
        positions = {entry.hash: position for position, entry in enumerate(found)}
        for hit in _with_snippets(found, texts, texts.snippets(any_of)):
            missing: tuple[str, ...] = ()
            if hit.snippet:
                position = positions[hit.step.hash]
                missing = tuple(written for written, matching in having if position not in matching)
            yield replace(hit, partial=True, missing=missing)


def _with_snippets(
    found: Sequence[StepEntry], texts: _Texts, snippets: dict[int, tuple[str, tuple[Part, ...]]]
) -> Iterator[Hit]:
    for position, entry in enumerate(found):
        if position in snippets:
            field, parts = snippets[position]
            yield Hit(step=entry, field=field, snippet=parts)
        elif position in texts.unread:
            yield Hit(step=entry, field=None, snippet=())


class _Texts:
    """The text of some steps by their position, read from their journals and indexed in memory as the store's index is."""

    def __init__(self, found: Sequence[StepEntry], read: ReadStep) -> None:
        self.unread: set[int] = set()
        documents: dict[int, Document] = {}
        for position, entry in enumerate(found):
            step = read(entry)
            if step is None or step.hash != entry.hash:
                self.unread.add(position)
            else:
                documents[position] = document_of(step) or (None,) * len(COLUMNS)
        columns = ", ".join(COLUMNS)
        self._memory = sqlite3.connect(":memory:")
        self._memory.execute(f"CREATE VIRTUAL TABLE shown USING fts5 ({columns}, tokenize = '{TOKENIZER}')")
        self._memory.executemany(
            f"INSERT INTO shown (rowid, {columns}) VALUES (?{', ?' * len(COLUMNS)})",
            (
                (position, *(None if text is None else text.translate(_NO_MARKS) for text in document))
                for position, document in documents.items()
            ),
        )

    def close(self) -> None:
        """Forget the texts."""
        self._memory.close()

    def matching(self, expression: str) -> set[int]:
        """Which of them match."""
        return {row[0] for row in self._memory.execute("SELECT rowid FROM shown WHERE shown MATCH ?", (expression,))}

    def snippets(self, expression: str) -> dict[int, tuple[str, tuple[Part, ...]]]:
        """The best field of each that matches, and the piece of it to show: FTS5's own choice."""
        pieces = ", ".join(
            f"snippet(shown, {column}, '{_OPEN}', '{_CLOSE}', '…', {_SNIPPET_WORDS})" for column in range(len(COLUMNS))
        )
        rows = self._memory.execute(f"SELECT rowid, {pieces} FROM shown WHERE shown MATCH ?", (expression,)).fetchall()
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
