"""`tally export`: a session in another format, to a file or to stdout."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click

from tallystick.cli import completing
from tallystick.cli.command import Command
from tallystick.cli.context import Run, counted, pass_run, path_text
from tallystick.display.text import lines


@click.command(
    cls=Command,
    example="tally export a3f9 --format jsonl --with-content | jq .type\ntally export a3f9 --format ledger -o ledger.jsonl",
)
@click.argument("session", shell_complete=completing.sessions)
@click.option("--format", "format_", required=True, metavar="F", help="jsonl, ledger, headless, otel or prov-json.")
@click.option(
    "--with-content",
    is_flag=True,
    help="Include prompts, arguments and results; without this only structure and times.",
)
@click.option(
    "--output", "-o", type=click.Path(dir_okay=False, path_type=Path), help="Write to this file instead of stdout."
)
@pass_run
def export(run: Run, session: str, format_: str, with_content: bool, output: Path | None) -> None:
    r"""Export a session in another format.

    \b
    jsonl      one JSON object for each step, with everything that may leave the store
    ledger     the step records of the gptme-style hash-chain ledger
    headless   the session log of the headless agent
    otel       spans of OpenTelemetry, by the GenAI conventions, in OTLP's JSON
    prov-json  W3C PROV: entities, activities, agents and their relations
    """
    from tallystick.review.export import export as export_session
    from tallystick.review.export import format_named
    from tallystick.workspace.indexing import open_index
    from tallystick.workspace.names import find_session

    chosen = format_named(format_)
    with open_index(run.home) as index:
        run.take(index.remarks)
        found = find_session(index, session)
        made = export_session(run.home, found, chosen, with_content=with_content, index=index)
    origin = made.origin
    if not origin.is_valid:
        run.warn(f"the journal does not verify: {origin.integrity}, {origin.completeness}; `tally verify` says more")
    if output is not None:
        count = _write(output, made.lines)
        data: dict[str, Any] = {"session": made.session, "format": format_, "path": str(output), "lines": count}
        data |= {"origin": origin, "losses": made.losses}
        run.answer("export", data, [f"wrote {counted(count, 'line')} to {path_text(output)}"])
    elif run.json:
        records = [json.loads(line) for line in made.lines]
        run.answer(
            "export",
            {"session": made.session, "format": format_, "origin": origin, "records": records, "losses": made.losses},
            (),
        )
    else:
        _print(run, made.lines)
    sealed = origin.entries - origin.unsealed
    run.note(
        f"written from {counted(origin.entries, 'entry', 'entries')} of {origin.session}, {sealed:,} of them "
        "covered by a head"
    )
    for loss in made.losses:
        run.note(f"{format_} does not carry {loss}")


def _write(path: Path, content: Iterable[bytes]) -> int:
    count = 0
    with path.open("wb") as file:
        for line in content:
            file.write(line)
            count += 1
    return count


def _print(run: Run, content: Iterable[bytes]) -> None:
    """Print the bytes unchanged, unless a terminal would obey some of them."""
    if sys.stdout.isatty():
        run.page(shown for line in content for shown in lines(line.decode("utf-8", "replace").rstrip("\n")))
        return
    sys.stdout.buffer.writelines(content)
    sys.stdout.buffer.flush()  # remarks on it follow it
