"""`tally watch`: record file changes.

Parses the arguments, calls `ingest.watch`, renders the result.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tallystick.cli.command import Command
from tallystick.cli.context import Run, counted, envelope, pass_run, path_text
from tallystick.display.text import one_line

if TYPE_CHECKING:
    import threading

    from tallystick.capture.watch import Batch
    from tallystick.ingest.watch_steps import Watched
    from tallystick.model.effect import FileEffect
    from tallystick.model.ids import SessionId


@click.command(
    "watch",
    cls=Command,
    example="tally watch\ntally watch ~/src/shop --pid 4711\ntally watch --no-sensitive-roots --json",
)
@click.argument("paths", nargs=-1, metavar="[PATH]...", type=click.Path(path_type=Path))
@click.option(
    "--pid",
    type=click.IntRange(min=1),
    help="The agent's process: the processes that it starts may be named as the cause.",
)
@click.option("--no-sensitive-roots", is_flag=True, help="Do not watch ~/.ssh, ~/.aws and ~/.config/gcloud.")
@pass_run
def watch(run: Run, paths: tuple[Path, ...], pid: int | None, no_sensitive_roots: bool) -> None:
    """Record file changes until Ctrl-C.

    Files that are created, modified, deleted and renamed below the folders (default: this one) are printed and
    recorded: in the session of the agent that works there, if there is exactly one, else in a session of the watcher.
    With --json each change is a document of its own on one line, and so is the report at the end.
    """
    from tallystick.ingest.watch import FolderWatch, watched_roots

    roots = watched_roots(paths or (Path.cwd(),), Path.home(), sensitive=not no_sensitive_roots)

    def ready(session: SessionId) -> None:
        folders = ", ".join(path_text(root.path) for root in roots)
        run.note(f"watching {folders}; Ctrl-C ends it")
        if run.json:
            members = {"session": session, "roots": [path_text(root.path) for root in roots]}
            run.write(envelope("watch-begin", members, [], on_one_line=True) + "\n")

    watch = FolderWatch(run.home, roots, pid=pid)
    done = watch.run(_until_signalled(), seen=lambda batch: _show_batch(run, batch), ready=ready)
    run.take(done.remarks)
    if run.json:
        run.write(envelope("watch", _data(done), run.warnings, on_one_line=True) + "\n")
    else:
        run.page(_summary_text(done))


def _until_signalled() -> threading.Event:
    """An event that is set by a signal that ends the process."""
    import signal
    import threading

    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:  # under nohup, hang-ups stay ignored
            signal.signal(number, lambda *_: stop.set())
    return stop


def _show_batch(run: Run, batch: Batch) -> None:
    for effect in batch.effects:
        run.write((_effect_json(effect) if run.json else _line(effect)) + "\n")
    for gap in batch.gaps:
        run.warn(f"{gap.reason}: {counted(gap.events, 'event')} not reported one by one")


def _line(effect: FileEffect) -> str:
    from datetime import UTC, datetime

    at = datetime.fromtimestamp(effect.at_ms / 1000, UTC).strftime("%H:%M:%S.%f")[:-3]
    path = path_text(effect.path)
    if effect.old_path is not None:
        path = f"{path_text(effect.old_path)} -> {path}"
    by = ""
    if effect.holder is not None:
        by = f"  by {one_line(effect.holder.name)} ({effect.holder.pid})"
    return f"{at}  {effect.kind.value:<6}  {path}{'/' if effect.is_folder else ''}{by}"


def _effect_json(effect: FileEffect) -> str:
    from tallystick.ingest.watch_steps import effect_step
    from tallystick.seal.tagged import tag

    step = effect_step(effect)
    values = {name: tag(value) for name, value in step.values.items()}
    return envelope("watch-effect", {"ts": step.ts, "meta": step.meta, "values": values}, [], on_one_line=True)


def _data(done: Watched) -> dict[str, object]:
    return {
        "session": done.session,
        "effects": dict(done.effects),
        "writes": done.writes,
        "named": done.named,
        "in_sessions": done.in_sessions,
        "gaps": done.gaps,
    }


def _summary_text(done: Watched) -> Iterator[str]:
    kinds = ", ".join(f"{count:,} {kind}" for kind, count in sorted(done.effects.items()))
    yield f"recorded {counted(done.effects.total(), 'effect')}{f' ({kinds})' if kinds else ''}, " + (
        f"{done.in_sessions:,} of them in the session of an agent"
    )
    yield f"the process is known for {done.named:,} of {counted(done.writes, 'write')}"
    if done.gaps:
        yield f"{counted(done.gaps, 'gap')}: `tally log --type gap` shows them"
