"""Clients of databases.

Owns which file or server they work on, and which of their words are SQL. Sources: sqlite3(1), psql(1), pg_dump(1),
mysql(1), redis-cli --help, mongosh --help.
"""

from __future__ import annotations

import re

from tallystick.catalog.programs import Program
from tallystick.intent.actions import Actions, Code
from tallystick.intent.programs.arguments import Line, fed_file, grammar, is_fed, renamed, taken
from tallystick.intent.programs.rules import Builder, Rule, Rules, grammar_of
from tallystick.model.intent import Operation
from tallystick.model.pattern import pattern_of
from tallystick.model.script import Command, Word

RULES = Rules()

_SQLITE = grammar_of("sqlite3")
_CHANGES = pattern_of(
    r"(?i)\b(?:insert|update|delete|create|drop|alter|replace|vacuum|reindex|attach|begin|truncate|copy|install|load)\b"
    r"|\bpragma\s{1,9}[\w.]{1,60}\s{0,9}[=(]|^[ \t]*\.(?:import|restore|load|read|recover)\b",
    re.MULTILINE,
)


_LONGEST_QUERY = 16 << 10


def _changes(text: Word) -> bool:
    """Whether SQL may change what it is run on; so may all that is too long to look at."""
    return len(text.text) > _LONGEST_QUERY or _CHANGES.search(text.plain) is not None


@RULES.of("sqlite", _SQLITE)
def _sqlite(built: Builder, line: Line, command: Command) -> None:
    """`sqlite3 FILE [SQL]`: the file is read, or edited where the SQL changes something or is unknown."""
    if command.program == "duckdb":
        texts = [*line.operands[1:], *line.values("-cmd", "-c", "-s")]
    else:
        texts = []
    texts = texts or [*line.operands[1:], *line.values("-cmd")]
    if command.input is not None and not line.operands[1:]:
        texts.append(command.input)
    built.codes = [Code("sql", text) for text in texts]
    is_told = bool(texts) and all(text.is_known for text in texts)
    is_read = line.has("-readonly") or (is_told and not any(map(_changes, texts)))
    for word in line.operands[:1]:
        if word.text not in (":memory:", ""):
            if is_read:
                built.show(built.add(Operation.READ, word))
            elif is_told:
                built.show(built.author(Operation.EDIT, word))
            else:
                built.show(built.add(Operation.EDIT, word))
    _fed(built, command, is_told=bool(texts))


def _fed(built: Builder, command: Command, *, is_told: bool) -> int | None:
    """Take SQL from a file that is fed; what else is fed is unknown."""
    file = fed_file(command)
    if is_told or file is None:
        built.is_unknown = built.is_unknown or (not is_told and is_fed(command))
        return None
    return built.run(file)


def _server(
    line: Line, *, port: str, host: tuple[str, ...] = ("-h", "--host"), ports: tuple[str, ...] = ("-p", "-P", "--port")
) -> Word:
    """`host:port` of a server; without a host it is this machine."""
    where = line.value(*host)
    told = next((word.text for word in line.values(*ports) if word.text.isdigit()), port)
    if where is not None:
        return renamed(where, f"{where.text}:{told}")
    return Word(f"localhost:{told}")


_URL = pattern_of(r"\w+(?:\+\w+)?://|\w+=\S")


@RULES.of("psql")
def _psql(built: Builder, line: Line, command: Command) -> None:
    """`psql`, `createdb`, `dropdb`: a connection, over which SQL goes."""
    url = next((word for word in [*line.values("-d", "--dbname"), *line.operands[:1]] if _URL.match(word.text)), None)
    sources = [built.run(word) for word in line.values("-f", "--file") if word.text != "-"]
    at = built.add(
        Operation.CONNECT, url or _server(line, port="5432", ports=("-p", "--port")), words=(url or command.words[0],)
    )
    built.flow(sources, [at])
    built.codes = [Code("sql", word) for word in line.values("-c", "--command")]
    if command.input is not None and not built.codes and not sources:
        built.codes.append(Code("sql", command.input))
    _answers(built, line, command, at, ("-o", "--output"))


def _answers(built: Builder, line: Line, command: Command, at: int | None, outputs: tuple[str, ...]) -> None:
    """Input goes to the server; its answer to a file or the standard output."""
    made = [built.write(word) for word in line.values(*outputs)]
    built.flow([at], made)
    if not made:
        built.show(at)
    if is_fed(command) and not line.has("-c", "--command", "-e", "--execute", "--eval", "-f", "--file"):
        _fed(built, command, is_told=bool(built.codes))
        built.feed(at)


_DUMP = grammar_of("pg_dump")


@RULES.of("dumps", _DUMP)
def _dumps(built: Builder, line: Line, command: Command) -> None:
    """`pg_dump`, `mysqldump`, `mongodump`: a database becomes a file."""
    port = {"p": "5432", "m": "27017" if "mongo" in command.program else "3306"}.get(command.program[:1], "")
    url = next((word for word in [*line.values("-d", "--dbname", "--uri"), *line.operands] if "://" in word.text), None)
    at = built.add(Operation.FETCH, url or _server(line, port=port), words=(url or command.words[0],))
    made = [
        built.write(word, deep="mongo" in command.program)
        for word in line.values("-f", "--file", "-r", "--result-file", "-o", "--out", "--archive")
    ]
    built.flow([at], made)
    if not made:
        built.show(at)


@RULES.of("restores", _DUMP)
def _restores(built: Builder, line: Line, command: Command) -> None:
    """`pg_restore`, `mongorestore`, `mysqlimport`: files go into a database."""
    if "mongo" in command.program:
        port = "27017"
    elif "pg" in command.program:
        port = "5432"
    else:
        port = "3306"
    if "mysql" in command.program:
        operands = line.operands[1:]
    else:
        operands = line.operands
    sources = [built.read(word, deep="mongo" in command.program) for word in [*operands, *line.values("--archive")]]
    url = next((word for word in line.values("-d", "--dbname", "--uri") if "://" in word.text), None)
    at = built.add(Operation.SEND, url or _server(line, port=port), words=(url or command.words[0],))
    built.flow(sources, [at])
    if not sources and is_fed(command):
        built.feed(at)
        built.reads_input = True


@RULES.of("mysql")
def _mysql(built: Builder, line: Line, command: Command) -> None:
    for word in line.values("--defaults-file", "--defaults-extra-file"):
        built.read(word)
    at = built.add(
        Operation.CONNECT,
        _server(line, port="3306", ports=("-P", "--port")),
        words=(line.value("-h", "--host") or command.words[0],),
    )
    built.codes = [Code("sql", word) for word in line.values("-e", "--execute")]
    if command.input is not None and not built.codes:
        built.codes.append(Code("sql", command.input))
    _answers(built, line, command, at, ("--tee",))


def client(entry: Program) -> Rule:
    """Clients whose first operand may be a URL: `redis-cli`, `mongosh`, `clickhouse-client`, `sqlcmd`."""
    rules = grammar(entry.takes)

    def rule(command: Command) -> Actions:
        line = taken(command.arguments, rules)
        built = Builder()
        url = next((word for word in [*line.values("-u"), *line.operands[:1]] if "://" in word.text), None)
        at = built.add(
            Operation.CONNECT,
            url or _server(line, port=entry.port, host=("-h", "--host", "-S")),
            words=(url or command.words[0],),
        )
        for word in line.operands:
            if word.text.endswith((".js", ".mongodb")):
                built.run(word)
        language = "sql"
        if "mongo" in command.program:
            language = "javascript"
        built.codes = [Code(language, word) for word in line.values("--eval", "-q", "--query", "-Q")]
        _answers(built, line, command, at, ("-o",) if command.program == "sqlcmd" else ())
        return built.build()

    return rule
