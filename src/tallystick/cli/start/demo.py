"""`tally demo`: the commands on recorded sessions, in a temporary home.

Owns the order of the scenes. Each scene runs a real command and shows its output, shortened where it is long.
"""

from __future__ import annotations

import contextlib
import io
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypedDict

import click

from tallystick.cli.command import Command
from tallystick.cli.context import Run, pass_run
from tallystick.display.text import one_line


class Scene(TypedDict):
    """One scene: its introduction, the command, the output, the exit code."""

    before: str
    command: str
    output: list[str]
    exit_code: int


@click.command(cls=Command, example="tally demo")
@pass_run
def demo(run: Run) -> None:
    """Show the commands on recorded sessions, in a temporary store. Reads and writes nothing of yours."""
    with TemporaryDirectory(prefix="tally-demo-") as folder, _home_at(Path(folder)):
        scenes = _play(Path(folder), run)
        if run.json:
            run.answer("demo", list(scenes), ())
            return
        for scene in scenes:
            for line in _scene_text(scene):
                run.write(line + "\n")
            sys.stdout.flush()
    run.write(_NEXT)


_NEXT = """
That was a throw-away store. Next, with the histories that agents keep on this machine:

  tally import          takes them into ~/.tally; nothing leaves the machine, nothing of theirs is changed
  tally session list    tally log    tally search WORDS    tally verify
"""


@contextlib.contextmanager
def _home_at(folder: Path) -> Iterator[None]:
    """Make `folder` the home folder of this process for the duration."""
    kept = {name: os.environ.pop(name, None) for name in ("HOME", "TALLY_HOME")}
    os.environ["HOME"] = str(folder)
    try:
        yield
    finally:
        for name, value in kept.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value


def _play(folder: Path, run: Run) -> Iterator[Scene]:
    from tallystick.journal.home import Home
    from tallystick.setup.demo import forge, lay_out_samples, refused_call

    lay_out_samples(folder)
    stage = _Stage(folder, run)
    yield stage.show("Agents have left their histories in a home folder. Import them:", "import", most=5)
    yield stage.show("List them:", "session list")
    call, result = refused_call(Home(folder / ".tally"))
    name = _own_name(folder, call.session)
    told = "One session: a sub-agent, a failing test, and a push that was refused:"
    yield stage.show(told, f"replay {name} --tool Agent --tool Bash")
    yield stage.show("The refused call:", f"show {name}:{result.n}", most=6)
    told = "A file of the project, months later. Why does it exist?"
    yield stage.show(told, "why /home/dev/project/tests/fixtures/ticket-118.txt", most=8)
    yield stage.show("Is the record intact, complete and signed?", "verify", most=5)
    shutil.copytree(folder / ".tally", folder / "copy")
    forged = forge(Home(folder / "copy"), call)
    told = f"Now someone edits one byte of a copy: {forged.before!r} becomes {forged.after!r}."
    yield stage.show(told, "verify --home ~/copy", most=3)


def _own_name(folder: Path, session: str) -> str:
    """The agent's own id of a session, shortened: it is the same in every run of the demo, ours is not."""
    from tallystick.journal.home import Home
    from tallystick.journal.read import read_session

    own = next(read_session(Home(folder / ".tally"), session)).member("source_session")
    if own is not None:
        return str(own)[:8]
    return session[:8]


class _Stage:
    """Runs commands in this process as a person would, and keeps their output."""

    def __init__(self, folder: Path, run: Run) -> None:
        self._folder = folder
        self._run = run

    def show(self, before: str, command: str, *, most: int = 30) -> Scene:
        """Run a command and keep at most this many lines of its output."""
        from tallystick.cli import main

        words = [word.replace("~", str(self._folder)) for word in command.split()]
        inner = Run()
        inner.quiet, inner.no_color, inner.colors_always = True, self._run.no_color, sys.stdout.isatty()
        inner.width = self._run.width
        printed = io.StringIO()
        code = 0
        with contextlib.redirect_stdout(printed):
            try:
                main.main(words, "tally", standalone_mode=False, obj=inner)
            except SystemExit as end:
                code = 1
                if isinstance(end.code, int):
                    code = end.code
        lines = printed.getvalue().splitlines()
        if len(lines) > most:
            left_out = [f"… {len(lines) - most} more lines"]
        else:
            left_out = []
        return Scene(before=before, command=f"tally {command}", output=lines[:most] + left_out, exit_code=code)


def _scene_text(scene: Scene) -> Iterator[str]:
    yield ""
    yield one_line(scene["before"])
    yield click.style(f"$ {scene['command']}", bold=True)
    yield from scene["output"]
    if scene["exit_code"] or scene["command"].startswith("tally verify"):
        yield click.style(f"(exit code {scene['exit_code']})", dim=True)
