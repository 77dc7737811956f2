from __future__ import annotations

import pytest

from tallystick.model.script import Word
from tests.intent.programs.acting import acted, does, flows


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("sqlite3 a.db 'select * from t'", ["read a.db"]),
        ("sqlite3 a.db .tables", ["read a.db"]),
        ("sqlite3 a.db 'DELETE from t'", ["edit a.db"]),
        ("sqlite3 a.db '.import x t'", ["edit a.db"]),
        ("sqlite3 -readonly a.db", ["read a.db"]),
        ("sqlite3 :memory: 'select 1'", []),
        ("psql -h h -p 1 -o f", ["connect h:1", "write f"]),
        ("psql 'host=h dbname=d'", ["connect host=h dbname=d"]),
        ("psql -f a.sql", ["execute a.sql", "connect localhost:5432"]),
        ("mysql -h h -P 1 -psecret d", ["connect h:1"]),
        ("mongorestore d", ["read* d", "send localhost:27017"]),
        ("redis-cli -u redis://h", ["connect redis://h"]),
        ("mongosh a.js", ["connect localhost:27017", "execute a.js"]),
    ],
)
def test_files_and_servers_of_databases(text: str, expected: list[str]) -> None:
    assert does(text) == expected


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("sqlite3 a 'x'", "sql"),
        ("psql -c x", "sql"),
        ("mysql -ex", "sql"),
        ("mongosh --eval x", "javascript"),
    ],
)
def test_queries_are_code(text: str, language: str) -> None:
    assert [(code.language, code.text) for code in acted(text).codes] == [(language, Word("x"))]


def test_queries_on_the_input_are_code() -> None:
    assert [code.text for code in acted("psql", fed="select 1").codes] == [Word("select 1")]
    assert acted("psql", reads="a.sql").scripts == (Word("a.sql"),)
    assert does("sqlite3 a.db", fed="select 1") == ["read a.db"]


def test_a_very_long_query_may_change_anything() -> None:
    assert does(f"sqlite3 a.db '{'x ' * 20_000}'") == ["edit a.db"]


def test_a_dump_comes_from_its_server() -> None:
    assert flows("pg_dump -h h -f d") == ["h:5432 -> d"]
    assert acted("mysqldump d").prints == (0,)
