from __future__ import annotations

from tallystick.model.script import Word
from tests.intent.programs.acting import acted, does, flows
from tests.support.cases import each_case


@each_case("text, expected")
def test_files_and_servers_of_databases(text: str, expected: list[str]) -> None:
    assert does(text) == expected


@each_case("text, language")
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
