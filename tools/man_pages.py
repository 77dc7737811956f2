"""Man pages of all commands, from what click knows of them: `python tools/man_pages.py FOLDER`.

Owns the sections of a page and the escaping of roff(7). Must not know any command: names, words, options and examples are
read from the same objects that answer `--help`.
"""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import click

from tallystick.cli import main
from tallystick.cli.command import Command
from tallystick.cli.version import VERSION

_EXITS = (
    ("0", "Success. A verification found nothing wrong, or a session that is still open."),
    ("1", "The command could not run, or an answer is negative where its page says so."),
    ("2", "Verification detected tampering."),
    ("3", "The record is sound, but below the level that \\fB\\-\\-require\\fR asked for."),
    ("4", "Malformed input, or input over a limit."),
    ("64", "Usage error."),
)
_FILES = (
    (
        "~/.tally",
        "The store: journals, ledger, keys, index, settings. TALLY_HOME or \\fB\\-\\-home\\fR name another one.",
    ),
    ("~/.tally/config.toml", "Settings; see \\fBtally\\-config\\fR(1)."),
    ("~/.tally/policy/*.cedar", "Policies of your own; see \\fBtally\\-policy\\fR(1)."),
)
_ENVIRONMENT = (
    ("TALLY_HOME", "The folder of the store."),
    ("NO_COLOR", "No colours."),
    ("TALLY_DEBUG", "Show where a fault of the program itself is."),
)


def pages(day: str) -> Iterator[tuple[str, str]]:
    """File name and text of each page, `day` (YYYY-MM-DD) in its footer."""
    yield from _pages(main, click.Context(main, info_name="tally", **main.context_settings), day)


def _pages(command: click.Command, context: click.Context, day: str) -> Iterator[tuple[str, str]]:
    name = context.command_path.replace(" ", "-")
    yield f"{name}.1", "".join(f"{line}\n" for line in _page(command, context, name, day))
    for child, inner in _children(command, context):
        yield from _pages(child, inner, day)


def _children(command: click.Command, context: click.Context) -> Iterator[tuple[click.Command, click.Context]]:
    if isinstance(command, click.Group):
        for word in command.list_commands(context):
            child = command.get_command(context, word)
            assert child is not None, word
            if not child.hidden:
                # The settings name the options that ask for help, and Click keeps what it was asked with first.
                yield child, click.Context(child, info_name=word, parent=context, **child.context_settings)


def _page(command: click.Command, context: click.Context, name: str, day: str) -> Iterator[str]:
    summary, *rest = _paragraphs(command.help or "")
    yield f'.TH "{name.upper()}" "1" "{day}" "Tallystick {VERSION}" "User Commands"'
    yield ".SH NAME"
    yield f"{_roff(name)} \\- {_roff(_first_sentence(summary))}"
    yield ".SH SYNOPSIS"
    usage = " ".join(command.collect_usage_pieces(context))
    yield f"\\fB{_roff(context.command_path)}\\fR {_roff(usage)}"
    yield ".SH DESCRIPTION"
    for paragraph in (summary, *rest):
        yield ".PP"
        yield from _filled(paragraph)
    yield from _section("COMMANDS", _commands(command, context))
    yield from _section("OPTIONS", _options(command, context))
    if isinstance(command, Command):
        yield from (".SH EXAMPLES", ".nf", *map(_roff, command.example.splitlines()), ".fi")
    if command is main:
        yield from _section("EXIT STATUS", ((f"\\fB{code}\\fR", text) for code, text in _EXITS))
        yield from _section("ENVIRONMENT", ((f"\\fB{word}\\fR", text) for word, text in _ENVIRONMENT))
        yield from _section("FILES", ((f"\\fI{_roff(path)}\\fR", text) for path, text in _FILES))
    yield from (".SH SEE ALSO", _see_also(context))


def _section(title: str, rows: Iterator[tuple[str, str]]) -> Iterator[str]:
    found = list(rows)
    if found:
        yield f".SH {title}"
        for term, text in found:
            yield from (".TP", term, text)


def _commands(command: click.Command, context: click.Context) -> Iterator[tuple[str, str]]:
    for child, inner in _children(command, context):
        page = _roff(inner.command_path.replace(" ", "-"))
        yield f"\\fB{page}\\fR(1)", _roff(_first_sentence(_paragraphs(child.help or "")[0]))


def _options(command: click.Command, context: click.Context) -> Iterator[tuple[str, str]]:
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context)
        if record is not None and record[1]:
            term, text = record
            yield f"\\fB{_roff(term)}\\fR", _roff(text)


def _see_also(context: click.Context) -> str:
    parents = [context.parent.command_path.replace(" ", "-")] if context.parent is not None else []
    return ", ".join(
        f"\\fB{_roff(name)}\\fR(1)" for name in (*parents, *([] if parents else ["tally-demo", "tally-up"]))
    )


def _paragraphs(text: str) -> list[str]:
    """The paragraphs of a help text. One that click must not wrap, marked with a backspace, keeps its lines."""
    found = []
    for part in re.split(r"\n\s*\n", text):
        keeps_lines = part.lstrip().startswith("\b")
        lines = [line.rstrip() for line in part.replace("\b", "").strip("\n").splitlines()]
        found.append("\n".join(lines) if keeps_lines else " ".join(" ".join(lines).split()))
    return [part for part in found if part] or [""]


def _filled(paragraph: str) -> Iterator[str]:
    if "\n" in paragraph:
        yield from (".nf", *map(_roff, paragraph.splitlines()), ".fi")
    else:
        yield _roff(paragraph)


def _first_sentence(text: str) -> str:
    return re.split(r"(?<=[.:])\s", text, maxsplit=1)[0].rstrip(".:")


def _roff(text: str) -> str:
    """Text in which roff(7) finds no requests, escapes or hyphens that it may break at."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("`", "\\(ga")
    return f"\\&{escaped}" if escaped.startswith(".") else escaped


def write(folder: Path, seconds: float) -> int:
    """Write all pages into a folder, dated by a time in seconds; how many there are."""
    folder.mkdir(parents=True, exist_ok=True)
    day = time.strftime("%Y-%m-%d", time.gmtime(seconds))
    count = 0
    for name, text in pages(day):
        (folder / name).write_text(text, "utf-8")
        count += 1
    return count


if __name__ == "__main__":
    made = write(Path(sys.argv[1]), float(os.environ.get("SOURCE_DATE_EPOCH") or time.time()))
    sys.stdout.write(f"{made} pages in {sys.argv[1]}\n")
