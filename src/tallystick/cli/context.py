"""How the program was called, and how it prints answers.

Owns the store in use, the choice between text and JSON, colour, paging and warnings. stdout carries the answer and
nothing else; warnings, hints and progress go to stderr. Must not know any answer.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from itertools import chain, islice
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import click

from tallystick.display.text import counted as counted
from tallystick.display.text import lines, one_line

if TYPE_CHECKING:
    from tallystick.journal.home import Home


_LINES_A_WRITE = 100


class Run:
    """One call of `tally`: the values of the options that every command takes."""

    def __init__(self) -> None:
        self.folder: Path | None = None
        self.json = False
        self.quiet = False
        self.no_color = False
        self.colors_always = False
        self.warnings: list[str] = []

    @cached_property
    def home(self) -> Home:
        """The store: `--home`, else TALLY_HOME, else `~/.tally`."""
        from tallystick.journal.home import Home, default_folder

        return Home(self.folder if self.folder is not None else default_folder(os.environ))

    # Output ------------------------------------------------------------------------------------------------------

    def answer(self, schema: str, data: Any, text: Iterable[str], *, version: int = 1) -> None:
        """Print the answer: `data` in the envelope with --json, else the lines of `text`, which must be safe to print.

        With --json `text` is not iterated, so it may be a generator that renders as it goes. `data` may be a function
        that gives it: it is called with --json only.
        """
        if self.json:
            if callable(data):
                data = data()
            self.write(envelope(schema, data, self.warnings, version=version) + "\n")
        else:
            self.page(text)

    def page(self, text: Iterable[str]) -> None:
        """Print lines, through a pager if stdout is a terminal and they do not fit on it."""
        rest = iter(text)
        rows = self._rows_for_pager()
        if rows is None:
            self.write_lines(rest)
            return
        first = list(islice(rest, rows - 1))
        more = next(rest, None)
        if more is None:
            self.write("".join(f"{line}\n" for line in first))
            return
        click.echo_via_pager((f"{line}\n" for line in chain(first, [more], rest)), color=self.uses_color)

    def write_lines(self, text: Iterable[str]) -> None:
        """Print lines as they arrive, without a pager."""
        rest = iter(text)
        while some := list(islice(rest, _LINES_A_WRITE)):  # each write is flushed
            self.write("".join(f"{line}\n" for line in some))

    def write(self, text: str) -> None:
        """Print text unchanged, without its colours where colour is off."""
        click.echo(text, nl=False, color=self.uses_color)

    def warn(self, message: str) -> None:
        """Print a warning that is not part of the answer: on stderr, and in the envelope."""
        self.warnings.append(message)
        if not self.quiet and not self.json:
            for line in lines(f"tally: {message}"):
                click.echo(line, err=True, color=self.uses_color)

    def take(self, remarks: Iterable[str]) -> None:
        """Print the remarks of an operation as warnings."""
        for remark in remarks:
            self.warn(remark)

    def note(self, message: str) -> None:
        """Print a note for a person on stderr; nothing with --quiet or --json."""
        if not self.quiet and not self.json:
            for line in lines(message):
                click.echo(line, err=True, color=self.uses_color)

    # The terminal ---------------------------------------------------------------------------------------------------

    @property
    def uses_color(self) -> bool | None:
        """False: no colours; None: only on a terminal; True: always."""
        if self.no_color or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
            return False
        if self.colors_always:
            return True
        return None

    @property
    def shows_progress(self) -> bool:
        """Whether a progress bar would be visible, and to a person."""
        return not (self.quiet or self.json) and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"

    def limit(self, asked: int | None) -> int:
        """The number of rows to show: the number asked for, else the setting."""
        if asked is not None:
            return asked
        from tallystick.workspace.settings import read_setting

        found = read_setting(self.home, "output.limit")
        assert isinstance(found, int), "the table of settings guarantees it"
        return found

    def _rows_for_pager(self) -> int | None:
        """The rows of the terminal; None: no pager is used. A terminal of 0 rows does not know how large it is."""
        if self.json or not (sys.stdin.isatty() and sys.stdout.isatty()):
            return None
        from tallystick.workspace.settings import read_setting

        rows = os.get_terminal_size(sys.stdout.fileno()).lines
        return rows if rows and read_setting(self.home, "output.pager") == "auto" else None

    @cached_property
    def width(self) -> int:
        """Columns for one line: those of the terminal if it knows them, else COLUMNS, else 160. At least 40."""
        if sys.stdout.isatty():
            columns = os.get_terminal_size(sys.stdout.fileno()).columns
            if columns:
                return max(columns, 40)
        named = os.environ.get("COLUMNS", "")
        if named.isascii() and named.isdigit() and len(named) < 5:
            return max(int(named), 40)
        return 160


pass_run = click.make_pass_decorator(Run, ensure=True)
"""Gives a command the Run as its first argument."""


def envelope(schema: str, data: Any, warnings: list[str], *, version: int = 1, on_one_line: bool = False) -> str:
    """The document that --json prints.

    All characters but ASCII's printable ones are escaped, so that a terminal obeys none of them.
    """
    members = {"schema": f"tally.{schema}", "version": version, "data": data, "warnings": warnings}
    indent: int | None = 2
    if on_one_line:
        indent = None
    return json.dumps(members, ensure_ascii=True, indent=indent, default=_builtin)


def error_envelope(error: Mapping[str, Any]) -> str:
    """The document that --json prints where there is no answer."""
    members = {"schema": "tally.error", "version": 1, "data": None, "warnings": [], "error": error}
    return json.dumps(members, ensure_ascii=True, indent=2, default=_builtin)


def _builtin(value: Any) -> Any:
    """Convert structs, bytes, paths and similar to JSON types. Bytes become base64."""
    import msgspec

    return msgspec.to_builtins(value, enc_hook=str)


def labelled(rows: Iterable[tuple[str, str]], *, indent: str = "", width: int | None = None) -> Iterator[str]:
    """Lines of names and values, with the values aligned; wrapped where they are wider than `width`.

    Values must be safe to print; names are constants of the program.
    """
    from tallystick.cli.fitting import wrapped

    kept = [(name, value) for name, value in rows if value]
    widest = max((len(name) for name, _ in kept), default=0)
    before = len(indent) + widest + 2
    for name, value in kept:
        said = [value]
        if width is not None:
            said = list(wrapped(value, max(width - before, 20)))
        yield f"{indent}{click.style(name.ljust(widest), dim=True)}  {said[0]}"
        yield from (f"{' ' * before}{line}" for line in said[1:])


def table(
    rows: Iterable[tuple[str, ...]],
    *,
    head: tuple[str, ...],
    right: frozenset[int] = frozenset(),
    width: int | None = None,
    gives: Mapping[int, int] = MappingProxyType({}),
) -> Iterator[str]:
    """Rows below a header, columns aligned, no line wider than `width`. Cells must be safe to print.

    Args:
        right: the numbers of the columns to right-align.
        width: the columns of the terminal; None: lines have any width.
        gives: the columns whose text may be shortened, the widest first, each with its least width. Ids and numbers are
            no such columns: where a line has no room for them, its row goes on in the next line.
    """
    from tallystick.cli.fitting import Shape, fitted

    every = fitted([head, *rows], Shape(width=width, right=right, gives=gives))
    yield from (click.style(line, dim=True) for line in next(every).split("\n"))
    for text in every:
        yield from text.split("\n")


def path_text(path: Path | str) -> str:
    """A path, safe to print."""
    return one_line(os.fsdecode(path).encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace"))
