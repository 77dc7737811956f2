"""What is said of the tables, held against the tables."""

import sqlite3

from tallystick.graph.glossary import MEANINGS, glossary
from tallystick.graph.graph import Graph
from tallystick.graph.sql import names


def test_each_table_and_each_of_its_columns_is_in_the_glossary(graph: Graph) -> None:
    found = {table.name: tuple(column.name for column in table.columns) for table in glossary()}
    assert found == names(graph.path)


def test_each_table_has_a_meaning_and_no_other_thing_has_one() -> None:
    assert {table.name for table in glossary()} == set(MEANINGS)
    assert [name for name, means in MEANINGS.items() if not means.endswith(".")] == []


def test_what_stands_beside_a_column_in_the_schema_is_its_meaning() -> None:
    said = {(table.name, column.name): column.means for table in glossary() for column in table.columns}
    assert said["steps", "request"] == "n of the prompt it belongs to; a prompt's own n"
    assert said["steps", "tool"] == ""


def test_the_view_has_a_column_for_each_member_of_its_select(graph: Graph) -> None:
    with sqlite3.connect(graph.path) as database:
        cursor = database.execute("SELECT * FROM session_events")
        columns = [name for name, *_ in cursor.description]
    database.close()
    assert len(set(columns)) == len(columns)
    assert {"step_id", "session_id", "check_path", "suspicious", "meta_request_id", "limit"} <= set(columns)
