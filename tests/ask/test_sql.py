"""Questions in SQL to a store of real sessions."""

from __future__ import annotations

import pytest

from tallystick.ask.sql import all_examples, all_tables, ask_sql, example_named
from tallystick.errors import UsageError
from tallystick.graph.sql import Answer
from tallystick.journal.home import Home
from tallystick.recording.recorder import Recorder
from tests.support.published import EVERYTHING_OF_A_FILE, PROMPTS_FROM_PROMPTS

FILE = EVERYTHING_OF_A_FILE.replace("/private/tmp/gensee-lineage/input.txt", "/home/dev/project/receipts/totals.py")
"""The published question about a file; only the file is ours."""
PROMPTS = PROMPTS_FROM_PROMPTS


def asked(home: Home, question: str, **values: str) -> Answer:
    answer, remarks = ask_sql(home, question, values, limit=1000, seconds=30)
    assert remarks == []
    return answer


def example(home: Home, name: str, **values: str) -> Answer:
    found = example_named(name)
    return asked(home, found.sql, **found.values | values)


@pytest.mark.parametrize("name", [one.name for one in all_examples()])
def test_each_example_can_be_asked(indexed_samples: Home, name: str) -> None:
    assert example(indexed_samples, name).columns


@pytest.mark.parametrize(
    "name",
    [
        *("everything-about-a-file", "prompts-from-prompts", "denials-after-triage", "refused-calls", "busiest-files"),
        *("prompts-that-touched-a-file", "tools-by-failures", "tokens-by-model", "words", "session-tree"),
    ],
)
def test_on_the_samples_an_example_finds_something(indexed_samples: Home, name: str) -> None:
    assert example(indexed_samples, name).rows


def test_the_published_question_about_a_file_gives_its_edges_each_once(indexed_samples: Home) -> None:
    found = asked(indexed_samples, FILE)
    assert found.columns == ("relation_type", "src_kind", "src_id", "dst_kind", "dst_id", "evidence")
    assert len({row[:5] for row in found.rows}) == len(found.rows) > 0
    assert {"consumed_by", "modified"} <= {row[0] for row in found.rows}
    assert found == example(indexed_samples, "everything-about-a-file")


def test_the_published_question_about_prompts_gives_the_prompts_that_read_what_others_made(
    indexed_samples: Home,
) -> None:
    found = asked(indexed_samples, PROMPTS)
    assert found.columns == ("src_request", "src_prompt", "dst_request", "dst_prompt", "evidence")
    assert len({(row[0], row[2]) for row in found.rows}) == len(found.rows) > 0
    assert all(row[0] != row[2] for row in found.rows)
    assert found == example(indexed_samples, "prompts-from-prompts")


def test_denials_after_triage_are_one_question(indexed_samples: Home) -> None:
    found = example(indexed_samples, "denials-after-triage")
    (row,) = [dict(zip(found.columns, row, strict=True)) for row in found.rows]
    assert (row["tool"], row["suspicious"], row["check_path"]) == ("bash", 1, "static→triage→supervisor")
    plain = asked(
        indexed_samples,
        "SELECT d.n FROM session_events t JOIN session_events d ON d.session_id = t.session_id AND d.n > t.n"
        " WHERE t.type = 'security_triage' AND d.type = 'security_decision' AND d.action = 'deny' AND d.tool = t.tool",
    )
    assert {row["denial_step"]} == {n for (n,) in plain.rows}


def test_every_member_of_meta_in_the_samples_is_a_column(indexed_samples: Home) -> None:
    columns = set(asked(indexed_samples, "SELECT * FROM session_events LIMIT 0").columns)
    found = asked(indexed_samples, "SELECT DISTINCT j.key FROM steps, json_each(meta) j WHERE meta IS NOT NULL")
    members = {str(key) for (key,) in found.rows}
    assert len(members) > 40
    assert members - columns == set()


def test_prompts_that_touched_a_file_are_found_by_the_end_of_its_path(indexed_samples: Home) -> None:
    whole = example(indexed_samples, "prompts-that-touched-a-file", path="/home/dev/project/receipts/totals.py")
    assert whole.rows
    assert set(whole.rows) <= set(
        example(indexed_samples, "prompts-that-touched-a-file", path="receipts/totals.py").rows
    )
    assert example(indexed_samples, "prompts-that-touched-a-file", path="otals.py").rows == ()


def test_what_was_recorded_just_now_is_in_the_answer(home: Home) -> None:
    with Recorder(home.folder) as recorder:
        session = recorder.session("demo", "one")
        session.prompt("a needle in a haystack")
        question = (
            "SELECT e.n FROM search JOIN session_events e ON e.step_id = search.rowid WHERE search MATCH 'needle'"
        )
        assert asked(home, question).rows == ((1,),)
        session.prompt("another needle")
        assert asked(home, question).rows == ((1,), (2,))


@pytest.mark.parametrize(
    ("question", "told"),
    [
        (
            "SELECT tol FROM steps",
            "did you mean 'tool'?\nline 1, column 8: SELECT tol FROM steps\n                         ^",
        ),
        ("SELECT 1\nFROM stepps", "did you mean 'steps'?\nline 2, column 6: FROM stepps\n                       ^"),
        ("SELECT\tx, FROM steps", 'near "FROM": syntax error\nline 1, column 11: SELECT x, FROM steps'),
        ("DELETE FROM steps", "only SELECT can be asked"),
    ],
)
def test_a_mistake_is_shown_where_it_is_with_the_nearest_names(indexed_samples: Home, question: str, told: str) -> None:
    with pytest.raises(UsageError) as raised:
        asked(indexed_samples, question)
    assert told in str(raised.value)


def test_a_long_line_is_shown_around_the_mistake(indexed_samples: Home) -> None:
    question = f"SELECT {', '.join('n' * 200)}, tol FROM steps"
    with pytest.raises(UsageError) as raised:
        asked(indexed_samples, question)
    _, shown, mark = str(raised.value).split("\n")
    assert shown.index("tol") == mark.index("^")
    assert len(shown) < 120


def test_an_unknown_example_brings_the_nearest(indexed_samples: Home) -> None:
    with pytest.raises(UsageError, match="did you mean 'busiest-files'"):
        example_named("bussiest-files")


def test_tables_are_told_with_their_columns() -> None:
    assert all(table.means and table.columns for table in all_tables())
