"""Questions in SQL: what is answered, and what is refused."""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tallystick.errors import UsageError
from tallystick.graph.graph import SCHEMA, Graph, GraphError
from tallystick.graph.project import project
from tallystick.graph.sql import Answer, QuestionError, TooSlowError, ask, names
from tests.graph.making import Session, everything
from tests.support.laws import examples


@pytest.fixture
def index(graph: Graph) -> Path:
    session = Session()
    session.begin()
    session.prompt("What does the parser do?")
    session.add("tool_call", {"tool": "Bash", "corr": "c", "check": "static"}, args={"command": "grep -rn parse src"})
    session.add("tool_result", {"tool": "Bash", "corr": "c", "success": True, "exit_code": 0}, output="src/a.py: parse")
    project(graph, [session.journal()])
    return graph.path


def asked(path: Path, question: str, *, limit: int = 100, seconds: float = 10, **values: str) -> Answer:
    return ask(path, question, values, limit=limit, seconds=seconds)


def test_rows_come_with_the_names_of_their_columns(index: Path) -> None:
    found = asked(index, "SELECT n, type AS kind, tool FROM session_events WHERE tool = :tool ORDER BY n", tool="Bash")
    assert found.columns == ("n", "kind", "tool")
    assert found.rows == ((2, "tool_call", "Bash"), (3, "tool_result", "Bash"))
    assert not found.more


def test_members_of_meta_are_columns(index: Path) -> None:
    assert asked(index, 'SELECT n, "check" FROM session_events WHERE "check" = \'static\'').rows == ((2, "static"),)
    assert asked(index, "SELECT n FROM session_events WHERE exit_code = 0").rows == ((3,),)


def test_the_steps_before_a_step_have_the_ids_before_its_own(index: Path) -> None:
    question = (
        "SELECT b.n FROM session_events a JOIN session_events b ON b.step_id BETWEEN a.step_id - a.n AND a.step_id - 1"
        " WHERE a.n = 3 ORDER BY b.n"
    )
    assert asked(index, question).rows == ((0,), (1,), (2,))


def test_a_cut_is_told(index: Path) -> None:
    assert asked(index, "SELECT n FROM steps", limit=2) == Answer(("n",), ((0,), (1,)), True)
    assert asked(index, "SELECT n FROM steps", limit=4).more is False


def test_words_can_be_asked_for(index: Path) -> None:
    question = "SELECT s.n FROM search JOIN steps s ON s.id = search.rowid WHERE search MATCH 'parse' ORDER BY 1"
    assert asked(index, question).rows == ((2,), (3,))


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM steps",
        "UPDATE steps SET tool = 'x'",
        "INSERT INTO things VALUES (1, 'file', 'file:x')",
        "REPLACE INTO things VALUES (1, 'file', 'file:x')",
        "DROP TABLE steps",
        "CREATE TABLE x (y)",
        "CREATE TEMP TABLE x (y)",
        "CREATE VIEW x AS SELECT 1",
        "ALTER TABLE steps ADD COLUMN x",
        "ATTACH 'elsewhere.db' AS x",
        "DETACH main",
        "PRAGMA user_version = 7",
        "PRAGMA query_only = OFF",
        "PRAGMA writable_schema = ON",
        "PRAGMA table_info(steps)",
        "SELECT * FROM pragma_table_info('steps')",
        "SELECT load_extension('x')",
        "SELECT fts3_tokenizer('x')",
        "VACUUM INTO 'elsewhere.db'",
        "REINDEX",
        "ANALYZE",
        "BEGIN IMMEDIATE",
        "SAVEPOINT x",
        "INSERT INTO search (search) VALUES ('delete-all')",
        "WITH x AS (SELECT 1) DELETE FROM steps",
        "SELECT 1; DELETE FROM steps",
        "EXPLAIN DELETE FROM steps",
    ],
)
def test_nothing_but_reading_is_done(index: Path, statement: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(index.parent)
    with Graph(index) as graph:
        before = graph.rows("SELECT * FROM steps")
    with pytest.raises(UsageError):
        asked(index, statement)
    with Graph(index) as graph:
        assert graph.rows("SELECT * FROM steps") == before
        assert graph.row("PRAGMA user_version") == (SCHEMA,)
    assert not Path("elsewhere.db").exists()


@given(st.text(max_size=60))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=examples(200))
def test_no_text_does_harm(graph: Graph, text: str) -> None:
    before = everything(graph)
    for question in (text, f"SELECT {text}", f"SELECT * FROM steps {text}"):
        with contextlib.suppress(UsageError, TooSlowError):
            ask(graph.path, question, {"a": text}, limit=3, seconds=5)
    assert everything(graph) == before


def test_a_question_without_end_is_stopped(index: Path) -> None:
    endless = "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) SELECT count(*) FROM t"
    with pytest.raises(TooSlowError, match=r"no answer within 0\.05 s"):
        asked(index, endless, seconds=0.05)


def test_a_value_cannot_be_as_large_as_memory(index: Path) -> None:
    with pytest.raises(QuestionError):
        asked(index, "SELECT zeroblob(1000000000)")
    with pytest.raises(QuestionError, match="at most"):
        asked(index, "SELECT '" + "x" * 200_000 + "'")


@pytest.mark.parametrize(
    ("question", "at", "unknown"),
    [
        ("SELECT * FORM steps", 9, None),
        ("SELECT form FROM steps WHERE form form 1", 34, None),
        ("SELECT (1", 9, None),
        ("SELECT 'abc", 7, None),
        ("SELECT tol FROM steps", 7, ("column", "tol")),
        ("SELECT s.tol FROM steps s", 7, ("column", "s.tol")),
        ("SELECT 1 FROM stepps", 14, ("table", "stepps")),
        ("SELECT nosuch(1)", 7, None),
    ],
)
def test_an_error_says_where_it_is(index: Path, question: str, at: int, unknown: tuple[str, str] | None) -> None:
    with pytest.raises(QuestionError) as raised:
        asked(index, question)
    assert (raised.value.at, raised.value.unknown) == (at, unknown)


@pytest.mark.parametrize("question", ["", "  -- nothing", "SELECT 1; SELECT 2", "SELECT :missing"])
def test_what_is_no_one_question_is_a_mistake(index: Path, question: str) -> None:
    with pytest.raises(QuestionError):
        asked(index, question)


def test_odd_values_come_out_as_something_that_json_has(index: Path) -> None:
    found = asked(index, "SELECT 9e999, -9e999, CAST(x'ff41' AS TEXT), x'00', NULL, :a", a="half \ud800 pair")
    assert found.rows == (("inf", "-inf", "\ufffdA", b"\0", None, "half ? pair"),)


def test_all_tables_and_views_have_names(index: Path) -> None:
    found = names(index)
    assert found["things"] == ("thing", "kind", "uri")
    assert {"session_events", "search", "relations"} <= found.keys()


def test_it_is_answered_while_somebody_writes(index: Path, graph: Graph) -> None:
    graph.begin()
    graph.change("DELETE FROM steps")
    assert asked(index, "SELECT count(*) FROM steps").rows == ((4,),)
    graph.roll_back()


def test_a_file_that_is_no_index_is_said_to_be_none(tmp_path: Path) -> None:
    with pytest.raises(GraphError, match="there is no index"):
        asked(tmp_path / "none.db", "SELECT 1")
    path = tmp_path / "other.db"
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE x (y)")
    database.close()
    with pytest.raises(GraphError, match="no index of ours"):
        asked(path, "SELECT 1")
