"""`tally ingest`: record the events of scripts and programs, sent as lines of JSON.

Parses the arguments, calls one operation, renders the result.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, BinaryIO

import click

from tallystick.cli.command import FAILED, Command
from tallystick.cli.context import Run, counted, pass_run

if TYPE_CHECKING:
    from tallystick.ingest.json_lines import Ingested

_MOST_TOLD = 100


@click.command(
    cls=Command,
    example='echo \'{"type": "user", "session": "nightly", "text": "Update the index"}\' | tally ingest --stdin',
)
@click.option("--stdin", is_flag=True, help="Read lines from stdin until it ends, recording each as it comes.")
@click.option("--agent", metavar="A", help="The agent of lines that have none.  [default: script]")
@click.option("--session", metavar="S", help="The session of lines that have none.")
@click.option("--schema", is_flag=True, help="Print the JSON Schema of a line, and nothing else.")
@pass_run
def ingest(run: Run, stdin: bool, agent: str | None, session: str | None, schema: bool) -> None:
    """Record events that a program writes as lines of JSON.

    A line has a type and a session; an id prevents duplicates when it is sent twice. Exit code 1: a line was refused.
    """
    from tallystick.errors import UsageError

    if stdin == schema:
        raise UsageError("give either --stdin or --schema")
    if schema:
        _print_schema(run)
        return
    counts = _record(run, sys.stdin.buffer, agent, session)
    run.answer("ingest", _data(counts), _counts_text(counts))
    if counts.refused:
        raise SystemExit(FAILED)


def _print_schema(run: Run) -> None:
    import json

    from tallystick.agents.protocols.ingest import schema

    run.write(json.dumps(schema(), indent=2) + "\n")


def _record(run: Run, stream: BinaryIO, agent: str | None, session: str | None) -> Ingested:
    import os

    from tallystick.agents.protocols.ingest import AGENT, Defaults
    from tallystick.ingest.json_lines import Ingested, Refused, ingest
    from tallystick.recording.session_writer import SessionWriter

    defaults = Defaults(agent or AGENT, session, os.environ.get("TALLY_SESSION") or None)
    counts = Ingested()
    with SessionWriter(run.home) as session_writer:
        for result in ingest(session_writer, _input_lines(stream), defaults, counts):
            if isinstance(result, Refused) and counts.refused <= _MOST_TOLD:
                run.warn(f"line {result.number}: {result.why}" + (f" ({result.hint})" if result.hint else ""))
    if counts.refused > _MOST_TOLD:
        run.warn(f"and {counted(counts.refused - _MOST_TOLD, 'more line')} were refused")
    return counts


def _input_lines(stream: BinaryIO) -> Iterator[bytes]:
    """The lines of a stream as they arrive. Of a line over the limit only the beginning, which is refused for its length."""
    from tallystick.ingest.json_lines import MOST_BYTES

    while line := stream.readline(MOST_BYTES + 1):
        rest = line
        while len(rest) > MOST_BYTES and not rest.endswith(b"\n"):
            rest = stream.readline(MOST_BYTES + 1)
        yield line


def _data(counts: Ingested) -> dict[str, object]:
    return {
        "lines": counts.lines,
        "empty": counts.empty,
        "refused": counts.refused,
        "sessions": sorted(counts.sessions),
        "steps": dict(counts.steps),
    }


def _counts_text(counts: Ingested) -> Iterator[str]:
    new = sum(count for outcome, count in counts.steps.items() if outcome not in ("known", "corroborated"))
    known = counts.steps["known"] + counts.steps["corroborated"]
    yield (
        f"recorded {counted(new, 'step')} of {counted(len(counts.sessions), 'session')}; {known:,} were already "
        "recorded"
    )
    if counts.refused:
        yield f"refused {counted(counts.refused, 'line')}"
