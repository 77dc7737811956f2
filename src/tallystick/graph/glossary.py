"""What the tables of the index are, for people who ask it in SQL.

Owns one sentence a table; what a column means stands beside it in schema.sql and views.sql, and is read from there. Must not
know how rows are made.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from importlib.resources import files

import msgspec

_SCRIPTS = ("schema.sql", "alerts.sql", "views.sql")
_HEAD = re.compile(r"CREATE (?:VIRTUAL )?(TABLE|VIEW) (\w+)(?: USING fts5)?", re.IGNORECASE)
_COLUMN = re.compile(r"\s+(\w+) (?:TEXT|INTEGER|REAL|FLOAT)\b[^-]*(?:--\s*(.*))?\Z")
_VIEW_COLUMN = re.compile(r"\s+(?:.* AS )?(?:s\.)?\"?(\w+)\"?,?\Z")
_SEARCH_COLUMNS = re.compile(r"\s+((?:\w+, )+\w+),\Z")

MEANINGS = {
    "sessions": "One row a conversation of an agent. flagged and root_pid are as the reference has them.",
    "usage": "What each model used in a session, by day.",
    "checkpoints": "Labelled marks at positions of journals.",
    "requests": "One row a human prompt and its result; one without a prompt for what no human asked.",
    "steps": "One row a step of the record: the entry n of its session's journal. session_events shows it with all members.",
    "session_edges": "What connects sessions: child, continuation, fork, merge. claimed_*: said by the agent, not sealed.",
    "agent_events": "What agents asked for and got: calls, results, permissions, and a file_intent for each file named.",
    "system_events": "What was observed on the machine: effects on files, processes.",
    "intents": "What calls meant to do, and whether it happened.",
    "accesses": "Who touched what and when: confirmed intents and observed effects.",
    "things": "What accesses touch, by kind and URI, over all versions.",
    "scripts": "Which text a script had that a call ran.",
    "flows": "What one access read went into what another one wrote.",
    "unsettled": "Bookkeeping: things whose versions are to be made again. Empty when the index is up to date.",
    "artifacts": "One row a version of a file, URL, resource or commit.",
    "relations": "Confirmed edges between requests, events and artifacts, each with confidence and evidence.",
    "links": "Which version of a file makes one request derive from another.",
    "artifact_observations": "Bounded, scrubbed beginnings of what files held when they were looked at.",
    "artifact_risk_tags": "What rules found in one content of a file.",
    "artifact_facts": "One row a URI over all its versions: what is asked before a call.",
    "alerts": "What rules said against requests, events and artifacts: an append-only hash chain.",
    "alert_chain_head": "The end of the chain of alerts.",
    "alert_retention_checkpoints": "What the reference keeps of alerts that it prunes. Ours are never pruned.",
    "alert_retention_head": "The end of the chain of those checkpoints.",
    "alert_steps": "Which sealed step each alert is made of.",
    "alert_reviews": "What people said of alerts.",
    "human_feedback": "A view: feedback on alerts, in the words of the reference.",
    "search": "The words of steps, for MATCH: rowid is steps.id. It keeps no text.",
    "session_events": "A view: one row a step, each member of its meta as a column. No joins needed.",
}
"""One sentence a table."""


class ColumnMeaning(msgspec.Struct, frozen=True):
    """A column and what is said of it; empty where its name says it."""

    name: str
    means: str


class TableMeaning(msgspec.Struct, frozen=True):
    """A table or view, what it is, and its columns."""

    name: str
    means: str
    columns: tuple[ColumnMeaning, ...]


@cache
def glossary() -> tuple[TableMeaning, ...]:
    """All tables and views, in the order in which they are made."""
    found: list[TableMeaning] = []
    for script in _SCRIPTS:
        text = files(__package__).joinpath(script).read_text("utf-8")
        for statement in _creations(text):
            head = _HEAD.match(statement[0])
            assert head is not None, "that is how creations are found"
            kind, name = head.groups()
            found.append(TableMeaning(name, MEANINGS.get(name, ""), tuple(_columns(kind.upper(), statement))))
    return tuple(found)


def _creations(script: str) -> Iterator[list[str]]:
    """The lines of each statement that makes a table or view."""
    lines: list[str] = []
    for line in script.splitlines():
        if lines or _HEAD.match(line):
            lines.append(line)
        if lines and line.partition("--")[0].rstrip().endswith(";"):
            yield lines
            lines = []


def _columns(kind: str, lines: list[str]) -> Iterator[ColumnMeaning]:
    if "fts5" in lines[0]:
        yield from (ColumnMeaning(name, "") for line in lines for name in _column_words(line))
        return
    if kind == "VIEW":
        found = (_VIEW_COLUMN.match(line) for line in lines[1:-1])
        yield from (ColumnMeaning(match[1], "") for match in found if match is not None)
        return
    for line in [lines[0].partition("(")[2].join("  "), *lines[1:]]:
        match = _COLUMN.match(line)
        if match is not None:
            yield ColumnMeaning(match[1], match[2] or "")


def _column_words(line: str) -> list[str]:
    match = _SEARCH_COLUMNS.match(line)
    if match is not None:
        return re.findall(r"\w+", match[1])
    return []
