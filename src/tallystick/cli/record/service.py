"""`tally service`: the resident recorder.

Parses the arguments, calls `tallystick.service`, renders the result.
"""

from __future__ import annotations

import click

from tallystick.cli.command import Command, Group
from tallystick.cli.context import Run, labelled, pass_run
from tallystick.display.text import one_line

service = Group(
    "service",
    help="The resident recorder, which answers the agents' hooks. Hooks start it on demand; it ends when it is idle.",
    lazy={
        "start": (
            "tallystick.cli.record.service:start",
            "Start the recorder unless it runs, and wait until it answers.",
        ),
        "stop": ("tallystick.cli.record.service:stop", "Stop the recorder."),
        "status": (
            "tallystick.cli.record.service:status",
            "Show whether the recorder runs and what it did",
        ),
        "run": ("tallystick.cli.record.service:run", "Run the recorder in this terminal or under a supervisor."),
        "unit": (
            "tallystick.cli.record.service:unit",
            "Print a systemd user unit or a launchd property list.",
        ),
    },
)


@click.command("start", cls=Command, example="tally service start")
@pass_run
def start(call: Run) -> None:
    """Start the recorder unless it runs, and wait until it answers."""
    from tallystick.capture import recorder

    pid = recorder.start(call.home.folder)
    call.answer("service", {"running": True, "pid": pid}, [f"the recorder answers; its pid is {pid}"])


@click.command("stop", cls=Command, example="tally service stop")
@pass_run
def stop(call: Run) -> None:
    """Stop the recorder. What it has received is recorded and sealed first; the next hook starts it again."""
    from tallystick.capture import recorder

    stopped = recorder.stop(call.home.folder)
    text = "the recorder is not running"
    if stopped:
        text = "the recorder has stopped"
    call.answer("service", {"running": False, "stopped": stopped}, [text])


@click.command("status", cls=Command, example="tally service status --json")
@pass_run
def status(call: Run) -> None:
    """Show whether the recorder runs and what it did, and how fast it answered. Exit code 1 if it does not run."""
    from tallystick.capture import recorder

    found = recorder.status(call.home.folder)
    if found is None:
        call.answer("service", {"running": False}, ["the recorder is not running; the next hook starts it"])
        raise SystemExit(1)
    rows = [(name.replace("_", " "), one_line(_value_text(value))) for name, value in found.items()]
    call.answer("service", {"running": True, **found}, labelled(rows))


def _value_text(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {_value_text(item)}" for name, item in value.items() if item is not None)
    if value is None:
        return ""
    return str(value)


@click.command("run", cls=Command, example="tally service run --idle 0")
@click.option("--idle", type=click.IntRange(min=0), default=None, help="Stop after this many idle minutes; 0: never.")
@pass_run
def run(call: Run, idle: int | None) -> None:
    """Run the recorder in this terminal or under a supervisor. It stops with Ctrl-C, or when it is idle."""
    from tallystick.service.start import bear_much
    from tallystick.service.start import run as run_recorder

    bear_much()
    seconds = None
    if idle is not None:
        seconds = float(idle * 60 or 10**12)
    raise SystemExit(run_recorder(call.home.folder, idle_seconds=seconds))


@click.command("unit", cls=Command, example="tally service unit systemd > ~/.config/systemd/user/tallystick.service")
@click.argument("kind", type=click.Choice(["systemd", "launchd"]))
@pass_run
def unit(call: Run, kind: str) -> None:
    """Print a systemd user unit or a launchd property list."""
    from tallystick.capture import supervisor

    if kind == "systemd":
        text = supervisor.systemd(call.home.folder)
    else:
        text = supervisor.launchd(call.home.folder)
    call.answer("service-unit", {"kind": kind, "text": text}, text.splitlines())
