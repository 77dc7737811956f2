"""Questions to the index in SQL.

Owns bringing the index up to date before it is asked, and what a person is told who mistypes a name. How a question is kept
from changing anything is store's.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from tallystick.errors import UsageError
from tallystick.graph.examples import Example, examples
from tallystick.graph.glossary import TableMeaning, glossary
from tallystick.graph.journals import Depth
from tallystick.graph.sql import Answer, QuestionError, ask, names
from tallystick.journal.home import Home
from tallystick.model.did_you_mean import nearest
from tallystick.workspace.indexing import open_index

_SEARCHES = re.compile(r"\bsearch\b", re.IGNORECASE)
_CONTEXT = 40


def ask_sql(
    home: Home, question: str, values: Mapping[str, str], *, limit: int, seconds: float
) -> tuple[Answer, list[str]]:
    """What the index answers to one SELECT, and remarks on the state of the index.

    Raises:
        UsageError: it is not a question, or would change something; the message says where SQLite stumbled and what names
            are near. TooSlowError: it was not answered in `seconds`.
    """
    with open_index(home, depth=Depth.TEXT if _SEARCHES.search(question) else Depth.ROWS) as index:
        try:
            return ask(home.graph, question, values, limit=limit, seconds=seconds), index.remarks
        except QuestionError as error:
            raise UsageError(
                _question_error_text(home, question, error), hint="`tally sql --tables` lists the tables"
            ) from error


def example_named(name: str) -> Example:
    """The example of that name.

    Raises: UsageError: none exists; the message has the nearest names.
    """
    known = {example.name: example for example in examples()}
    if name not in known:
        raise UsageError(f"no example {name!r}{nearest(name, known)}", hint="`tally sql --examples` lists them")
    return known[name]


def all_examples() -> tuple[Example, ...]:
    """All examples."""
    return examples()


def all_tables() -> tuple[TableMeaning, ...]:
    """All tables and views that can be asked, their columns, and what they mean."""
    return glossary()


def _question_error_text(home: Home, question: str, error: QuestionError) -> str:
    """What is wrong with a question: SQLite's words, the nearest names, and where it is."""
    message = str(error)
    if error.unknown is not None:
        kind, name = error.unknown
        known = names(home.graph)
        words = (
            known if kind == "table" else {column for columns in _asked_columns(question, known) for column in columns}
        )
        message += nearest(name.rpartition(".")[2], words)
    if error.at is None:
        return message
    return f"{message}\n{_place(question, error.at)}"


def _asked_columns(question: str, known: Mapping[str, tuple[str, ...]]) -> list[tuple[str, ...]]:
    """The columns of the tables that a question names, of all if it names none."""
    said = set(re.findall(r"\w+", question.lower()))
    return [columns for table, columns in known.items() if table in said] or list(known.values())


def _place(question: str, at: int) -> str:
    """The line on which it happened, as much of it as fits, and a mark below."""
    line = question.count("\n", 0, at) + 1
    start = question.rfind("\n", 0, at) + 1
    end = question.find("\n", at)
    shown_from = max(start, at - _CONTEXT)
    shown = question[shown_from : min(len(question) if end < 0 else end, at + _CONTEXT)].replace("\t", " ")
    head = f"line {line}, column {at - start + 1}: "
    return f"{head}{shown}\n{' ' * (len(head) + at - shown_from)}^"
