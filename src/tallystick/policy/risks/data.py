"""Databases that lose tables or rows.

Owns which statements and commands do that, and which names of databases say that they are for tests; what key-value stores
are told, `key_store`. Must not know whose a database is: where it is a file, the file's past tells. Sources: the references
of PostgreSQL, MySQL, SQLite and MongoDB; the commands of the frameworks' migration tools.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from tallystick.catalog.programs import programs_with
from tallystick.intent.tools.arguments import strings
from tallystick.model.decision import Call
from tallystick.model.pattern import pattern_of
from tallystick.policy.calls.reading import CallReading
from tallystick.policy.risks.call_forms import Forms, group
from tallystick.policy.risks.key_store import CLIENTS, emptied, removes_all_keys
from tallystick.policy.risks.programs import Started, programs
from tallystick.policy.risks.risk import Risk

_DROPS = "drops-data"
_MOST_SQL = 64 << 10
_MOST_STATEMENTS = 500
_NO_CODE = pattern_of(r"--[^\n\r]*|#[^\n\r]*|/\*[^*]*+(?:\*(?!/)[^*]*+)*(?:\*/|\Z)|'[^']*+(?:''[^']*+)*(?:'|\Z)")
_DROP = pattern_of(
    r"\b(?:drop\s+(?:table|database|schema|keyspace|collection|tablespace|owned|user|role|warehouse|catalog|measurement"
    r"|series|graph|bucket)\b"
    r"|truncate\b|alter\s+table\s+[^;]{1,300}?\sdrop\s+"
    r"(?!constraint|index|default|not|primary|foreign|key|check|expression|identity)"
    r"|flush\s+tables\s+with|detach\s+delete)",
    re.IGNORECASE,
)
_ROWS = pattern_of(
    r"\b(?:delete\s+from|update)\s+(?:only\s+)?[\w.\"`\[\]$]{1,200}(?P<rest>.*)", re.IGNORECASE | re.DOTALL
)
_WHERE = pattern_of(r"\b(?:where|limit|using|join|returning\s+into)\b(?P<rest>[^;]{0,200})", re.IGNORECASE)
_EACH = pattern_of(r"\s*\(?\s*(?:true|1\s*=\s*1|1|not\s+false|id\s*=\s*id)\s*\)?\s*\Z", re.IGNORECASE)
_FOR_TESTS = pattern_of(
    r"(?:.*[-_.])?(?:tests?|testing|tmp|temp|temporary|scratch|sandbox|ci|e2e|fixtures?)(?:[-_.\d].*)?", re.IGNORECASE
)
_FILES = programs_with("database-file")
_SERVERS = programs_with("database-server")
_MONGO = programs_with("mongo-client")
_MONGO_DROPS = pattern_of(
    r"\.(?:dropDatabase|drop|dropIndexes)\s*\(|\.(?:deleteMany|remove|deleteOne)\s*\(\s*\{\s*\}|\bdropAllUsers",
    re.IGNORECASE,
)
_TASKS = group("database-tasks")
_FORMS = Forms("data")
_OF_SMALLER = _FORMS.programs - programs_with("runs-database-tasks")
_HOLDERS = programs_with("runs-named-program")
"""Programs that run another one that their words name."""


def drops(sql: str) -> bool:
    """Whether SQL removes tables, or all rows of one."""
    text = _NO_CODE.sub(lambda found: "''" if found[0][0] == "'" else " ", sql[:_MOST_SQL])
    return any(map(_drops, text.split(";")[:_MOST_STATEMENTS]))


def _drops(statement: str) -> bool:
    found = _DROP.search(statement)
    if found is not None:
        return not re.match(r"\s*(?:create|comment|grant|revoke|explain|show|select)\b", statement, re.IGNORECASE)
    rows = _ROWS.search(statement)
    if rows is None or re.match(r"\s*(?:create|grant|revoke|explain|select|on)\b", statement, re.IGNORECASE):
        return False
    if rows[0][:6].lower() == "update" and re.search(r"\bset\b", rows["rest"], re.IGNORECASE) is None:
        return False  # `FOR UPDATE OF`, `ON UPDATE CASCADE`
    where = _WHERE.search(rows["rest"])
    return where is None or (where[0][:5].lower() == "where" and _EACH.match(where["rest"]) is not None)


def drops_in_file(reading: CallReading, program: str) -> bool:
    """Whether a program that keeps its database in a file is given such SQL."""
    return program in _FILES and any(snippet.language == "sql" and drops(snippet.text) for snippet in reading.snippets)


def of_code(reading: CallReading) -> Iterator[Risk]:
    """Such SQL for a server, or for a tool that has a database; the same in code that is in the call."""
    for shown in emptied(reading):
        yield Risk(_DROPS, shown)
    for sql in _given(reading.call):
        if drops(sql):
            yield Risk(_DROPS, sql.strip()[:200])
    for snippet in reading.snippets:
        if snippet.language == "sql":
            if drops(snippet.text) and not _is_spared(reading):
                yield Risk(_DROPS, snippet.text.strip()[:200])
        elif any(snippet.text in text for text in reading.texts):
            yield from (Risk(_DROPS, sql[:200]) for sql in _sql_in(snippet.text) if drops(sql))


_TOOLS = pattern_of(
    r"sql|postgres|database|(?:^|[_-])db(?:[_-]|$)|supabase|neon|bigquery|snowflake|mongo|redis|query", re.IGNORECASE
)
_MOST_TEXTS = 100
_STATEMENT = pattern_of(r"\s*(?:drop|truncate|delete|update|alter|with|begin|set|use|insert|create)\b", re.IGNORECASE)


def _given(call: Call) -> Iterator[str]:
    """Statements among the arguments of a tool that is for a database."""
    if not isinstance(call.args, dict) or _TOOLS.search(call.tool[:200]) is None or "search" in call.tool.lower():
        return
    for _, text in islice(strings(call.args), _MOST_TEXTS):
        if _STATEMENT.match(_NO_CODE.sub(" ", text[:_MOST_SQL])):
            yield text


def _is_spared(reading: CallReading) -> bool:
    """Whether the database is a file, which is judged itself, or has a name that says that it is for tests."""
    clients = [started for started in programs(reading) if started.name in _FILES | _SERVERS]
    return bool(clients) and all(started.name in _FILES or _is_for_tests(started) for started in clients)


def _is_for_tests(started: Started) -> bool:
    named = [started.value("-d", "--dbname", "-D", "--database"), *started.operands]
    found = [name.partition("?")[0].rpartition("/")[2].rpartition("=")[2] for name in named if name]
    return any(_FOR_TESTS.fullmatch(name) for name in found)


_CALLED = pattern_of(
    r"(?:\bexecute\w{0,20}|\b(?:exec|query|run|raw|unsafe)|\$(?:execute|query)Raw\w{0,20})\s{0,20}\(\s{0,200}(?:\w{1,40}\.)?"
    r"(?:text\s{0,20}\(\s{0,200})?[rbfu]{0,2}"
    r"(?:\"\"\"(?P<long>[^\"]{1,4000})|\"(?P<double>[^\"\n]{1,4000})|'(?P<single>[^'\n]{1,4000})|`(?P<back>[^`]{1,4000}))"
)


def _sql_in(code: str) -> Iterator[str]:
    """The texts that code gives to a database."""
    for found in _CALLED.finditer(code[:_MOST_SQL]):
        yield next((text for text in found.groups() if text), "")


# Programs ------------------------------------------------------------------------------------------------------------


def of_data(started: Started) -> str | None:
    """What a program does to a database by its own commands."""
    name, words = started.name, started.words
    if name in ("dropdb", "dropuser"):
        if started.has("--help", "--version", "-?") or _is_for_tests(started):
            return None
        return _DROPS
    if name in CLIENTS:
        if removes_all_keys(started):
            return _DROPS
        return None
    if name in _MONGO:
        return _DROPS if any(_MONGO_DROPS.search(word[:_MOST_SQL]) for word in words) else None
    if name in _SERVERS and drops(started.value("-e", "--execute", "-q", "--query", "-Q", "--eval")):
        return None if _is_for_tests(started) else _DROPS
    if _FORMS.of(started) is not None:
        return _DROPS
    return _inside(started) if name in _HOLDERS or name == "" else None


def _inside(started: Started) -> str | None:
    """A program that another one runs, in a container or out of a project's folder: the first word that names one."""
    for n, word in enumerate(started.given):
        name = word.plain.rpartition("/")[2].lower()
        if name in _OF_SMALLER or name in CLIENTS or name in _MONGO or name in ("dropdb", "rails", "artisan"):
            inner = Started(name, started.given[n + 1 :], started.spelled)
            if name not in ("rails", "artisan"):
                return of_data(inner)
            return _task(inner)
        if name in _SERVERS and any(drops(text) for text in started.words[n + 1 :]):
            inner = Started(name, started.given[n + 1 :], started.spelled)
            if _is_for_tests(inner):
                return None
            return _DROPS
    if started.name == "":
        return _task(started)
    return None


def _task(started: Started) -> str | None:
    if _TASKS.isdisjoint(word.lower() for word in started.words):
        return None
    return _DROPS
