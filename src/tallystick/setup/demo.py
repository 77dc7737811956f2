"""What the demonstration needs beside the commands: sample sessions in a home folder, and a forger.

Owns laying out the samples that ship with the package, and changing one byte of a journal behind the store's back. The
commands do the rest, as they would for anyone.
"""

from __future__ import annotations

import shutil
from importlib.resources import as_file, files
from pathlib import Path

import msgspec

from tallystick.errors import NotFoundError
from tallystick.journal.home import Home
from tallystick.journal.read import read_file
from tallystick.model.recorded import Recorded

_HIDDEN = "dot-"


def lay_out_samples(folder: Path) -> None:
    """Make `folder` a home folder in which agents have left the sample sessions.

    In the package a leading dot is written `dot-`, because packaging tools skip hidden files.
    """
    with as_file(files("tallystick").joinpath("samples", "home")) as samples:
        for source in sorted(samples.rglob("*")):
            parts = [
                f".{part.removeprefix(_HIDDEN)}" if part.startswith(_HIDDEN) else part
                for part in _below(source, samples)
            ]
            target = folder.joinpath(*parts)
            if source.is_dir():
                target.mkdir(parents=True, exist_ok=True)
            else:
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source, target)


def _below(path: Path, folder: Path) -> tuple[str, ...]:
    return path.relative_to(folder).parts


class Forged(msgspec.Struct, frozen=True):
    """What was changed: the journal, the entry, and the words before and after."""

    path: Path
    session: str
    n: int
    before: str
    after: str


def refused_call(home: Home) -> tuple[Recorded, Recorded]:
    """A tool call that was refused and its result, the last one of the longest session that has one.

    Raises:
        NotFoundError: no call was refused.
    """
    longest, found = 0, None
    for _, path in home.sessions():
        steps = [placed.step for placed in read_file(home, path)]
        calls = {step.meta.get("corr"): step for step in steps if step.type == "tool_call"}
        refused = [
            (calls[corr], step)
            for step in steps
            if step.meta.get("decision") == "deny" and (corr := step.meta.get("corr")) in calls
        ]
        if refused and len(steps) > longest:
            longest, found = len(steps), refused[-1]
    if found is None:
        raise NotFoundError("no recorded call was refused")
    return found


def forge(home: Home, call: Recorded) -> Forged:
    """Change one byte of what a recorded call asked for, as someone with an editor could.

    Raises:
        NotFoundError: the call is not there, or asked for nothing in words.
    """
    path = home.journal(call.session)
    command = None
    args = call.values.get("content.args")
    if isinstance(args, dict):
        command = args.get("command")
    if path is None or not isinstance(command, str) or not command.isascii() or '"' in command or "\\" in command:
        raise NotFoundError(f"step {call.session}:{call.n} has no plain command to change")
    changed = command[:-1] + ("x" if command[-1] != "x" else "y")
    lines = path.read_bytes().split(b"\n")
    lines[call.n] = lines[call.n].replace(command.encode(), changed.encode(), 1)
    path.write_bytes(b"\n".join(lines))
    return Forged(path, call.session, call.n, command, changed)
