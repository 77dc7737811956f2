"""SQL → the files and programs that it names; not the tables.

Owns `ATTACH`, `COPY`, `INTO OUTFILE`, `LOAD DATA`, functions that read and write files, and the commands of the clients
sqlite3, psql and mysql. Must not know the database that it is given. Sources: the documentation of SQLite (CLI, ATTACH,
VACUUM, fileio), PostgreSQL (COPY, psql, large objects), MySQL (SELECT … INTO, LOAD DATA, mysql) and DuckDB (COPY, reading
files).
"""

from __future__ import annotations

import itertools
import re

from tallystick.intent.actions import Found
from tallystick.model.intent import Operation
from tallystick.model.pattern import pattern_of

_MOST_CHARACTERS = 131_072
_MOST_TOKENS = 12_000
_STRING = r"'([^']*+(?:''[^']*+)*)(?:'|\Z)"
_TOKEN = pattern_of(
    r"(?P<space>\s+|--[^\n]*|/\*[^*]*+(?:\*(?!/)[^*]*+)*(?:\*/|\Z))"
    rf"|(?P<string>{_STRING})|(?P<quoted>\"[^\"]*+(?:\"|\Z)|`[^`]*+(?:`|\Z))"
    r"|(?P<name>[A-Za-z_]\w*)|(?P<sign>\S)",
    re.DOTALL,
)
_CLIENT = pattern_of(r"^[ \t]*([.\\][A-Za-z!.]+|system(?=[ \t]))[ \t]*([^\n]*)$", re.MULTILINE)
_SHOUTS = ("STDIN", "STDOUT", "PSTDIN", "PSTDOUT")
_CLIENTS = {
    **dict.fromkeys((".read", "\\i", "\\ir", "\\include", "\\.", ".load"), Operation.EXECUTE),
    **dict.fromkeys(
        (".output", ".once", ".backup", ".save", ".log", ".clone", "\\o", "\\w", "\\out", "\\write"), Operation.WRITE
    ),
    **dict.fromkeys((".import", ".restore"), Operation.READ),
    ".open": Operation.EDIT,
}
_SHELLS = (".shell", ".system", "\\!", "system")
_READING_FUNCTIONS = """
readfile load_file pg_read_file pg_read_binary_file lo_import read_csv read_csv_auto read_parquet read_json read_json_auto
read_text sniff_csv parquet_scan
"""
_READING = frozenset(_READING_FUNCTIONS.split())
_WRITING = frozenset(("writefile", "pg_file_write"))


def read_sql(text: str, found: Found) -> None:
    """Note what a script does besides asking and changing its own database."""
    found.is_unknown = len(text) > _MOST_CHARACTERS
    text = text[:_MOST_CHARACTERS]
    for command in _CLIENT.finditer(text):
        _of_client(found, command[1], command[2].strip())
    tokens = (match for match in _TOKEN.finditer(_CLIENT.sub("", text)) if match.lastgroup != "space")
    _statements(found, list(itertools.islice(tokens, _MOST_TOKENS)))


def _of_client(found: Found, command: str, rest: str) -> None:
    word = re.match(r"(?:-[^ \t]+[ \t]+|main[ \t]+(?=[^ \t]))*(?!-)(?:'([^']*)'|\"([^\"]*)\"|([^ \t]+))", rest)
    target = None
    if word is not None:
        target = next((part for part in word.groups() if part), None)
    if command in _SHELLS:
        found.runs("sh", rest or None)
    elif command in ("\\copy",):
        _copied(found, rest)
    elif command in _CLIENTS and target is not None:
        if target.startswith("|"):
            found.runs("sh", rest.lstrip("|"))
        elif target not in ("stdout", "off", "stderr"):
            found.file(_CLIENTS[command], target)


def _copied(found: Found, rest: str) -> None:
    """psql's own `copy`: the file is the client's."""
    named = re.search(r"\b(to|from)\s+(program\s+)?(?:'([^']*)'|([^ \t\n]+))", rest[:4096], re.IGNORECASE)
    if named is not None:
        _transfer(found, named[1], named[3] or named[4], is_program=named[2] is not None)


def _transfer(found: Found, direction: str, target: str, *, is_program: bool) -> None:
    if is_program:
        found.runs("sh", target)
    elif target.upper() not in _SHOUTS:
        operation = Operation.READ
        if direction.lower() == "to":
            operation = Operation.WRITE
        found.file(operation, target)


def _statements(found: Found, tokens: list[re.Match[str]]) -> None:
    in_copy = False
    for place, token in enumerate(tokens):
        if token.lastgroup == "name":
            word = token[0].lower()
        else:
            word = token[0]
        if word == ";":
            in_copy = False
        elif word in ("copy", "export", "unload"):
            in_copy = True
        elif token.lastgroup == "name":
            _word(found, tokens, place, word, in_copy)


def _word(found: Found, tokens: list[re.Match[str]], place: int, word: str, in_copy: bool) -> None:
    """A word after which a file may be named."""
    target = _text(tokens, place + 1)
    following = tokens[place + 1][0].lower() if place + 1 < len(tokens) else ""
    if word in ("attach", "database") and target is not None:
        if target not in (":memory:", "") and _is_after(tokens, place, "attach", word):
            found.file(Operation.EDIT, target)
    elif word in ("outfile", "dumpfile") and target is not None:
        found.file(Operation.WRITE, target)
    elif word == "infile" and target is not None:
        found.file(Operation.READ, target)
    elif word == "into" and target is not None and _is_after(tokens, place, "vacuum", word):
        found.file(Operation.WRITE, target)
    elif in_copy and word in ("to", "from"):
        is_program = following == "program"
        target = _text(tokens, place + 2) if is_program else target
        if target is not None:
            _transfer(found, word, target, is_program=is_program)
    elif following == "(" and (word in _READING or word in _WRITING or word == "load_extension"):
        _function(found, word, _text(tokens, place + 2))
    elif word in ("from", "join") and target is not None:
        found.file(Operation.READ, target)  # DuckDB reads a file that is named like a table


def _is_after(tokens: list[re.Match[str]], place: int, first: str, word: str) -> bool:
    """Whether the statement begins with `first`."""
    return word == first or any(token[0].lower() == first for token in tokens[max(0, place - 3) : place])


def _text(tokens: list[re.Match[str]], place: int) -> str | None:
    """The text at a place, None if not found."""
    if place >= len(tokens) or tokens[place].lastgroup != "string":
        return None
    return tokens[place][0][1:].removesuffix("'").replace("''", "'")


def _function(found: Found, word: str, target: str | None) -> None:
    if word == "load_extension":
        found.file(Operation.EXECUTE, target)
        found.is_unknown = True
    elif target is not None or word in _WRITING:
        operation = Operation.READ
        if word in _WRITING:
            operation = Operation.WRITE
        found.file(operation, target)
