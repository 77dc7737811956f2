"""SQL on the command line."""

import csv
import io
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.conftest import Tally, TallyJson


def test_rows_are_a_table(tally: Tally, full: Path) -> None:
    shown = tally("sql", "SELECT type, count(*) AS n FROM session_events WHERE type = 'user' GROUP BY 1").stdout
    head, *rows = shown.splitlines()
    assert head.split() == ["type", "n"]
    assert rows
    assert all(row.split()[0] == "user" for row in rows)
    assert tally("sql", "SELECT 1 WHERE 0").stdout == "no rows\n"


def test_json_has_columns_rows_and_whether_there_are_more(tally_json: TallyJson, full: Path) -> None:
    found = tally_json("sql", "SELECT n, NULL AS none FROM steps ORDER BY id", "--limit", "2")
    assert found == {"columns": ["n", "none"], "rows": [[0, None], [1, None]], "more": True}


def test_csv_can_be_read_back(tally: Tally, full: Path) -> None:
    result = tally(
        "sql", "--csv", "SELECT 'a,\"b\"' || char(10) || 'c' AS text, 1.5 AS number, NULL AS none, x'00ff' AS data"
    )
    assert list(csv.reader(io.StringIO(result.stdout, newline=""))) == [
        ["text", "number", "none", "data"],
        ['a,"b"\nc', "1.5", "", "00ff"],
    ]


def test_what_a_terminal_would_obey_is_shown(tally: Tally, full: Path) -> None:
    shown = tally("sql", "SELECT char(27) || '[31m' || char(8238) || char(10) AS \"na\x1bme\"").stdout
    assert "\x1b" not in shown
    assert "␛[31m" in shown
    assert "\u202e" not in shown


def test_a_long_value_is_cut_on_the_screen_and_whole_in_json(tally: Tally, tally_json: TallyJson, full: Path) -> None:
    question = "SELECT replace(hex(zeroblob(5000)), '00', 'word ') AS a, 1 AS b"
    assert max(map(len, tally("sql", question).stdout.splitlines())) < 100
    assert tally_json("sql", question)["rows"][0][0] == "word " * 5000


def test_values_stand_for_names(tally_json: TallyJson, full: Path) -> None:
    found = tally_json("sql", "SELECT :a, :b", "-p", "a=it's; --", "--param", "b=x=y")
    assert found["rows"] == [["it's; --", "x=y"]]


def test_an_example_is_asked_by_its_name(tally: Tally, tally_json: TallyJson, full: Path) -> None:
    listed = tally_json("sql", "--examples")
    names = [example["name"] for example in listed]
    assert "denials-after-triage" in names
    shown = tally("sql", "--examples").stdout
    assert all(name in shown for name in names)
    found = tally_json("sql", "--example", "prompts-that-touched-a-file", "-p", "path=docs/ticket-118.txt")
    assert found["rows"]


def test_tables_are_listed_with_what_they_mean(tally: Tally, tally_json: TallyJson) -> None:
    shown = tally("sql", "--tables").stdout
    assert "session_events  A view" in shown
    assert {table["name"] for table in tally_json("sql", "--tables")} >= {"steps", "relations", "session_events"}


def test_a_cut_answer_says_so(tally: Tally, full: Path) -> None:
    assert "Showing 3 rows" in tally("sql", "SELECT n FROM steps", "--limit", "3").stderr


@pytest.mark.parametrize(
    "words",
    [
        ("sql",),
        ("sql", "SELECT 1", "--tables"),
        ("sql", "SELECT :a", "-p", "a"),
        ("sql", "--example", "no-such"),
        ("sql", "DROP TABLE steps"),
        ("sql", "SELECT nothing FROM steps"),
        ("sql", "SELECT 1", "--timeout", "0"),
    ],
)
def test_a_mistake_is_64(tally: Tally, full: Path, words: tuple[str, ...]) -> None:
    result = tally(*words)
    assert (result.exit_code, result.stdout) == (64, "")
    assert "hint: " in result.stderr


def test_a_person_can_stop_a_question(user: Path, full: Path) -> None:
    endless = "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) SELECT count(*) FROM t"
    words = [sys.executable, "-m", "tallystick", "sql", endless, "--timeout", "120"]
    with subprocess.Popen(
        words, env={**os.environ, "TALLY_HOME": str(user / ".tally")}, stderr=subprocess.PIPE, text=True
    ) as process:
        time.sleep(1.5)
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=120)
    assert (process.returncode, told.strip()) == (130, "tally: interrupted")


def test_a_slow_question_is_no_mistake_of_the_caller(tally: Tally, full: Path) -> None:
    endless = "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) SELECT count(*) FROM t"
    result = tally("sql", endless, "--timeout", "0.05")
    assert result.exit_code == 1
    assert "no answer within 0.05 s" in result.stderr
