"""`tally sql`: SQL queries on the index."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click
import msgspec

from tallystick.cli.command import Command, options_as
from tallystick.cli.context import Run, counted, labelled, pass_run, table
from tallystick.cli.filters import limit_option
from tallystick.display.text import cut, lines, one_line

if TYPE_CHECKING:
    from tallystick.graph.examples import Example
    from tallystick.graph.glossary import TableMeaning
    from tallystick.graph.sql import Answer, Value

_CELL_COLUMNS = 80
_ONLY_CELL_COLUMNS = 2000


def _values(context: click.Context, parameter: click.Parameter, given: tuple[str, ...]) -> dict[str, str]:
    found = {}
    for word in given:
        name, equals, value = word.partition("=")
        if not equals or not name.isidentifier():
            raise click.BadParameter(f"{word!r} is not NAME=VALUE", context, parameter)
        found[name] = value
    return found


class SqlOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked, and how rows are printed."""

    query: str | None
    values: dict[str, str]
    as_csv: bool
    timeout: float
    name: str | None
    wants_examples: bool
    wants_tables: bool
    limit: int | None


@click.command(
    cls=Command,
    example='tally sql "SELECT type, count(*) FROM session_events GROUP BY type"\n'
    "tally sql --example prompts-that-touched-a-file -p path=totals.py",
)
@click.argument("query", required=False)
@click.option(
    "--param", "-p", "values", multiple=True, metavar="NAME=VALUE", callback=_values, help="The value of :NAME."
)
@click.option("--csv", "as_csv", is_flag=True, help="Print all rows as CSV.")
@click.option(
    "--timeout",
    type=click.FloatRange(min=0.001),
    default=10.0,
    show_default=True,
    metavar="S",
    help="Stop after S seconds.",
)
@click.option("--example", "name", metavar="NAME", help="Run this example.")
@click.option("--examples", "wants_examples", is_flag=True, help="List example queries.")
@click.option("--tables", "wants_tables", is_flag=True, help="List tables, columns and what they mean.")
@limit_option("rows")
@options_as(SqlOptions)
@pass_run
def sql(run: Run, options: SqlOptions) -> None:
    """Query the index in SQL. The index is read-only."""
    from tallystick.ask.sql import all_examples, all_tables, ask_sql, example_named

    if [options.query is not None, options.name is not None, options.wants_examples, options.wants_tables].count(
        True
    ) != 1:
        raise click.UsageError("give one of QUERY, --example, --examples and --tables")
    if options.wants_examples:
        found = all_examples()
        run.answer("sql-examples", found, _examples_text(found))
        return
    if options.wants_tables:
        tables = all_tables()
        run.answer("sql-tables", tables, _tables_text(tables))
        return
    sql_text, sql_values = options.query or "", options.values
    if options.name is not None:
        example = example_named(options.name)
        sql_text, sql_values = example.sql, example.values | options.values
    answer, remarks = ask_sql(run.home, sql_text, sql_values, limit=run.limit(options.limit), seconds=options.timeout)
    run.take(remarks)
    if options.as_csv and not run.json:
        _print_csv(run, answer)
    else:
        run.answer("sql", answer, _rows_text(answer))
    if answer.more:
        run.note(f"Showing {counted(len(answer.rows), 'row')}; --limit N shows more")


def _rows_text(answer: Answer) -> Iterator[str]:
    if not answer.rows:
        yield "no rows"
        return
    width = _ONLY_CELL_COLUMNS
    if len(answer.columns) > 1:
        width = _CELL_COLUMNS
    rows = (tuple(_cell(value, width) for value in row) for row in answer.rows)
    head = tuple(cut(one_line(name), width) for name in answer.columns)
    numbers = {
        place
        for place in range(len(answer.columns))
        if all(row[place] is None or isinstance(row[place], int | float) for row in answer.rows)
    }
    yield from table(rows, head=head, right=frozenset(numbers))


def _cell(value: Value, width: int) -> str:
    if value is None:
        return ""
    if isinstance(value, bytes):
        return f"({counted(len(value), 'byte')})"
    if isinstance(value, str):
        text = value
    else:
        text = str(value)
    if len(text) <= 4 * width:
        return cut(one_line(text[: 4 * width]), width)
    return cut(one_line(text[: 4 * width]) + " …", width)


def _print_csv(run: Run, answer: Answer) -> None:
    """The rows as in RFC 4180, bytes as hex; on a terminal without anything that it would obey."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\r\n")
    writer.writerow(answer.columns)
    writer.writerows([value.hex() if isinstance(value, bytes) else value for value in row] for row in answer.rows)
    text = buffer.getvalue()
    if sys.stdout.isatty():
        run.page(shown for line in text.split("\r\n")[:-1] for shown in lines(line))
    else:
        sys.stdout.buffer.write(text.encode("utf-8", "replace"))
        sys.stdout.buffer.flush()


def _examples_text(found: tuple[Example, ...]) -> Iterator[str]:
    for example in found:
        yield click.style(example.name, bold=True)
        yield f"  {example.answers}"
        yield from (f"  :{name} = {value}" for name, value in example.values.items())
        yield ""
        yield from (f"    {line}" for line in example.sql.splitlines())
        yield ""


def _tables_text(found: tuple[TableMeaning, ...]) -> Iterator[str]:
    for one in found:
        yield f"{click.style(one.name, bold=True)}  {one.means}"
        described = [(column.name, column.means) for column in one.columns if column.means]
        plain = [column.name for column in one.columns if not column.means]
        if plain:
            yield from _wrapped(", ".join(plain))
        yield from labelled(described, indent="  ")
        yield ""


def _wrapped(text: str) -> list[str]:
    import textwrap

    return textwrap.wrap(text, 110, initial_indent="  ", subsequent_indent="  ")
