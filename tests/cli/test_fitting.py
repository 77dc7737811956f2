"""Tables and long lines fit the terminal; ids and numbers are never shortened."""

import shutil
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from tallystick.cli import main
from tallystick.cli.context import labelled, table
from tallystick.cli.fitting import Shape, fitted, wrapped
from tallystick.display.text import width_of
from tests.support.cases import each

TABLES = """\
agents --all
alerts
anchor list
artifact list
artifact unexplained
checkpoint list
cost
cost --by day
cost --by request
cost --by session
coverage
policy grants list
policy list
policy list --usage
policy restore
search the
session list
status
"""
WORDS = st.text(st.characters(codec="utf-8", exclude_categories=("C", "Z", "M")), max_size=60)
HOSTILE = ("1", "an id", "語" * 50, "a text of some words", "12,345,678")


@pytest.fixture(scope="module")
def sampled(imported_samples: Path, tmp_path_factory: pytest.TempPathFactory) -> CliRunner:
    home = shutil.copytree(imported_samples, tmp_path_factory.mktemp("fitting"), dirs_exist_ok=True)
    return CliRunner(env={"HOME": str(home), "TALLY_HOME": None, "NO_COLOR": "1", "TERM": "xterm"})


@pytest.mark.parametrize("columns", [60, 80, 120])
@pytest.mark.parametrize("command", TABLES.splitlines())
def test_no_line_of_a_table_is_wider_than_the_terminal(sampled: CliRunner, command: str, columns: int) -> None:
    done = sampled.invoke(main, command.split(), env={"COLUMNS": str(columns)})
    assert done.exit_code == 0, done.output
    lines = done.stdout.splitlines()
    assert lines
    assert [line for line in lines if width_of(line) > columns] == []


@pytest.mark.parametrize("command", ["cost", "coverage", "session list"])
def test_what_programs_read_does_not_depend_on_the_terminal(sampled: CliRunner, command: str) -> None:
    words = [*command.split(), "--json"]
    narrow, wide = (sampled.invoke(main, words, env={"COLUMNS": columns}).stdout for columns in ("40", "200"))
    assert narrow == wide


@given(
    st.lists(st.tuples(WORDS, WORDS, WORDS, WORDS), min_size=1, max_size=5),
    st.integers(40, 130),
    st.dictionaries(st.integers(0, 3), st.integers(1, 20)),
)
def test_rows_of_any_text_fit(rows: list[tuple[str, ...]], width: int, gives: dict[int, int]) -> None:
    shape = Shape(width=width, right=frozenset((1,)), gives=gives)
    for row, text in zip(rows, fitted(rows, shape), strict=True):
        assert all(width_of(line) <= width for line in text.split("\n"))
        for number, cell in enumerate(row):
            if number not in gives and width_of(cell) <= width - 4:
                assert cell in text


def test_the_widest_text_gives_way_first() -> None:
    rows = [("a3f9", "short", "x" * 60, "12,345")]
    assert list(fitted(rows, Shape(width=40, right=frozenset(), gives={1: 2, 2: 8}))) == [
        f"a3f9  short  {'x' * 18}…  12,345",
    ]


def test_a_row_without_room_goes_on_in_the_next_line() -> None:
    found = list(table([HOSTILE], head=("N", "ID", "WIDE", "TEXT", "BYTES"), width=40, gives={2: 20}))
    assert found == [
        click.style("N  ID     WIDE", dim=True),
        click.style("    TEXT                  BYTES", dim=True),
        f"1  an id  {'語' * 14}…",
        "    a text of some words  12,345,678",
    ]


def test_an_id_that_is_wider_than_any_terminal_is_cut() -> None:
    assert list(fitted([("x" * 50,)], Shape(width=40, right=frozenset(), gives={}))) == [f"{'x' * 39}…"]


def test_without_a_width_nothing_is_cut() -> None:
    assert list(fitted([("x" * 500, "y")], Shape(width=None, right=frozenset(), gives={0: 8}))) == [f"{'x' * 500}  y"]


def test_styled_cells_keep_their_colour_and_take_the_columns_that_are_seen() -> None:
    red = click.style("deny", fg="red")
    shape = Shape(width=40, right=frozenset(), gives={1: 8})
    assert list(fitted([(red, "y" * 60)], shape)) == [f"{red}  {'y' * 33}…"]


@each(
    "text, found",
    [
        ("one two three", ["one two", "three"]),
        ("", [""]),
        ("abcdefghijk", ["abcdefgh", "ijk"]),
        ("a  b", ["a  b"]),
        ("語語語語語", ["語語語語", "語"]),
        ("語語語語", ["語語語語"]),
        ("xx yyyyyyyyyy", ["xx", "yyyyyyyy", "yy"]),
    ],
)
def test_long_lines_break_at_blanks(text: str, found: list[str]) -> None:
    assert list(wrapped(text, 8)) == found


@given(st.lists(WORDS), st.integers(2, 50))
def test_a_wrapped_text_fits_and_loses_nothing(words: list[str], width: int) -> None:
    text = " ".join(words)
    found = list(wrapped(text, width))
    assert all(width_of(line) <= width for line in found)
    assert "".join(found).replace(" ", "") == text.replace(" ", "")


def test_a_long_value_stands_below_itself() -> None:
    rows = [("key", "value " * 5 + "end"), ("other", "x")]
    assert [click.unstyle(line) for line in labelled(rows, width=30)] == [
        "key    value value value value",
        "       value end",
        "other  x",
    ]
