"""`tally otlp`: receive the telemetry that agents export.

Parses the arguments, gives `ingest.otlp` an HTTP server, renders the result.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tallystick.cli.command import Command
from tallystick.cli.context import Run, counted, pass_run
from tallystick.display.text import one_line

if TYPE_CHECKING:
    from tallystick.capture.http import Handler, Listener
    from tallystick.ingest.otlp import Counts, Receiver

PORT = 4318


@click.command(
    cls=Command, example="tally otlp\nOTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4318 copilot -p 'Fix the tests'"
)
@click.option("--host", default="127.0.0.1", show_default=True, help="A loopback address.")
@click.option("--port", default=PORT, show_default=True, type=click.IntRange(0, 65535), help="0: any free port.")
@click.option(
    "--token-file",
    type=click.Path(path_type=Path, dir_okay=False),
    help="A file with a token that clients must send as `Authorization: Bearer …`.",
)
@pass_run
def otlp(run: Run, host: str, port: int, token_file: Path | None) -> None:
    """Receive logs and spans by OTLP/HTTP (JSON or protobuf) and record them, until Ctrl-C.

    Agents export to http://127.0.0.1:4318 by default. Metrics are accepted and counted.
    """
    import asyncio

    from tallystick.ingest.otlp import Receiver
    from tallystick.recording.session_writer import SessionWriter

    token = _token(token_file)
    with SessionWriter(run.home) as session_writer:
        receiver = Receiver(session_writer)
        asyncio.run(_serve(run, receiver, host, port, token))
    run.answer("otlp", _data(receiver.counts), _counts_text(receiver.counts))


def _token(path: Path | None) -> str | None:
    from tallystick.errors import UsageError

    if path is None:
        return None
    try:
        token = path.read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read the token from {path}") from error
    if not token:
        raise UsageError(f"{path} contains no token")
    return token


async def _serve(run: Run, receiver: Receiver, host: str, port: int, token: str | None) -> None:
    import asyncio
    import signal

    from tallystick.capture.http import serve

    stopping = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, stopping.set)
    listener = await serve(host, port, handler(receiver), token=token)
    _announce(run, listener)
    try:
        await stopping.wait()
    finally:
        await listener.close()


def _announce(run: Run, listener: Listener) -> None:
    """Print the address at once: a script reads it to learn the port."""
    run.note(f"listening on {listener.url}; Ctrl-C ends it")
    if run.json:
        click.echo(f'{{"listening":"{listener.url}"}}', err=True)


def handler(receiver: Receiver) -> Handler:
    """The HTTP side of a receiver: POST only; one request after another."""
    import asyncio

    from tallystick.capture.http import Request, Response

    async def handle(request: Request) -> Response:
        if request.method != "POST":
            return Response(status=405, headers={"allow": "POST"})
        kind, encoding = (request.headers.get(name, "") for name in ("content-type", "content-encoding"))
        answer = await asyncio.to_thread(receiver.take, request.path, kind, encoding, request.body)
        return Response(status=answer.status, headers={"content-type": answer.content_type}, body=answer.body)

    return handle


def _data(counts: Counts) -> dict[str, object]:
    return {
        "requests": counts.requests,
        "refused": counts.refused,
        "sessions": counts.openings,
        "steps": dict(counts.steps),
        "not_recorded": dict(counts.losses),
        "last_error": counts.last_error,
    }


def _counts_text(counts: Counts) -> Iterator[str]:
    new = counts.steps["recorded"] + counts.steps["revised"] + counts.steps["extended"] + counts.steps["contradicted"]
    known = sum(counts.steps.values()) - new
    yield f"recorded {counted(new, 'step')} from {counted(counts.requests, 'request')}; {known:,} were already recorded"
    if counts.refused:
        yield f"refused {counted(counts.refused, 'request')}; the last: {one_line(counts.last_error or '')}"
    if counts.losses:
        yield "skipped content that is not in the record, by kind:"
    for kind, count in counts.losses.most_common():
        yield f"  {count:>6,}  {one_line(kind)}"
