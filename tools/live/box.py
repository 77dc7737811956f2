"""A sealed run: commands, one after the other, next to the scripted model, with nothing else within reach.

Owns the namespaces, the time limits, the interrupt and the cleaning up. Must not know which agents there are.
Where the machine permits it (Linux), a run has its own network with loopback alone, its own processes, all of which end
with it, and does not see the settings of whoever runs it. Elsewhere it has an own HOME, and its process groups are ended.
"""

from __future__ import annotations

import functools
import os
import pwd
import signal
import subprocess
import sys
from pathlib import Path

import msgspec

from tools.live.script import Script
from tools.live.wire.neutral import Json

ROOT = Path(__file__).resolve().parents[2]
PORT = "@PORT@"
"""Stands for the model's port in files, arguments and environment of a plan."""

NAMESPACES = ("unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc")
SETTINGS_BELOW_HOME: tuple[str, ...] = (
    ".claude",
    ".claude.json",
    ".codex",
    ".gemini",
    ".qwen",
    ".copilot",
    ".cline",
    ".pi",
    ".hermes",
)
SETTINGS_BELOW_HOME += (".config", ".local/share", ".tally", ".aider.conf.yml")
SETTINGS_OF_THE_MACHINE = ("/etc/claude-code", "/etc/codex", "/etc/gemini-cli", "/etc/qwen-code", "/etc/opencode")


class Command(msgspec.Struct, frozen=True, kw_only=True):
    """A command of a run. Its output goes to `<out>/<name>.stdout` and `.stderr`."""

    name: str
    argv: tuple[str, ...]
    limit_s: float = 120
    interrupt_at: str | None = None
    """A file: as soon as it is there, SIGINT goes to the command's process group, as Ctrl-C sends it."""
    interrupt_with: str = "INT"
    """The signal that goes there instead: `TERM`, `KILL`."""


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """A run: what is laid out, what the model says, and what is run in which environment."""

    home: str
    project: str
    out: str
    script: Script
    commands: tuple[Command, ...]
    env: dict[str, str] = {}
    """The whole environment, but for HOME, PATH, TMPDIR, TERM and LANG, which each run has."""
    path: tuple[str, ...] = ()
    """Folders before /usr/bin on PATH."""
    files: dict[str, str] = {}
    """Written before the first command, by absolute path."""
    covered: tuple[str, ...] = ()
    """Files and folders that the run must not see."""


class Ended(msgspec.Struct, frozen=True, kw_only=True):
    """How a command ended: its exit code (negative: the signal), and whether we had to end it."""

    name: str
    exit_code: int
    seconds: float
    interrupted: bool = False
    killed: bool = False
    """It did not end within its limit, or not within 20 s of the interrupt."""


class Ran(msgspec.Struct, frozen=True, kw_only=True):
    """A run that is over."""

    plan: Plan
    ended: tuple[Ended, ...]
    sealed: bool
    """It ran in namespaces of its own."""

    def command(self, name: str) -> Ended:
        """How one command ended."""
        return next(ended for ended in self.ended if ended.name == name)

    def stdout(self, name: str) -> str:
        """What one command printed."""
        return (Path(self.plan.out) / f"{name}.stdout").read_text("utf-8", "replace")

    def stderr(self, name: str) -> str:
        """What one command complained about."""
        return (Path(self.plan.out) / f"{name}.stderr").read_text("utf-8", "replace")

    def model_log(self) -> list[Json]:
        """What the model was asked and answered, in order."""
        text = (Path(self.plan.out) / "model.jsonl").read_text("utf-8")
        return [msgspec.json.decode(line) for line in text.splitlines()]

    def calls(self) -> list[Json]:
        """The calls that the model made: id, tool, input and whose (`main` or `subagent`); a repeated turn once."""
        turns = {}
        for line in self.model_log():
            if line["kind"] == "model" and line["whose"] != "side":
                turns[line["whose"], line["turn"]] = line["calls"]
        return [call | {"whose": whose} for (whose, _), calls in turns.items() for call in calls]


def run(plan: Plan) -> Ran:
    """Run a plan to its end. Raises subprocess.TimeoutExpired when even the box does not end."""
    out = Path(plan.out)
    for folder in (plan.home, plan.project, plan.out, f"{plan.out}/tmp"):
        Path(folder).mkdir(parents=True, exist_ok=True)
    sealed = namespaces_permitted()
    plan_file, ended_file = out / "plan.json", out / "ended.json"
    plan_file.write_bytes(msgspec.json.encode(msgspec.structs.replace(plan, covered=settings_here() if sealed else ())))
    argv = [*_unshare(sealed=sealed), sys.executable, "-m", "tools.live.inside", str(plan_file), str(ended_file)]
    limit = sum(command.limit_s + 30 for command in plan.commands) + 30
    with (out / "box.log").open("wb") as log:
        _run_bounded(argv, limit, log.fileno())
    if not ended_file.exists():
        raise RuntimeError(f"the box ended early:\n{(out / 'box.log').read_text('utf-8', 'replace')}")
    return Ran(plan=plan, ended=msgspec.json.decode(ended_file.read_bytes(), type=tuple[Ended, ...]), sealed=sealed)


def _run_bounded(argv: list[str], limit_s: float, output: int) -> None:
    env = {"PATH": os.environ.get("PATH", os.defpath), "PYTHONPATH": str(ROOT), "LANG": "C.UTF-8"}
    process = subprocess.Popen(
        argv, cwd=ROOT, env=env, stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True
    )
    try:
        process.wait(limit_s)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _unshare(*, sealed: bool) -> list[str]:
    as_root = [] if os.getuid() == 0 else ["--map-root-user"]
    return [NAMESPACES[0], *as_root, *NAMESPACES[1:]] if sealed else []


@functools.cache
def namespaces_permitted() -> bool:
    """Whether a process may have a network and processes of its own here."""
    try:
        done = subprocess.run([*_unshare(sealed=True), "true"], capture_output=True, timeout=20, check=False)
    except FileNotFoundError:
        return False
    return done.returncode == 0


def settings_here() -> tuple[str, ...]:
    """The settings of agents that belong to whoever runs this: no run may read them, however it finds them."""
    home = Path(pwd.getpwuid(os.getuid()).pw_dir)  # HOME says nothing about where the user's own settings are
    places = [home / name for name in SETTINGS_BELOW_HOME] + [Path(name) for name in SETTINGS_OF_THE_MACHINE]
    needed = (ROOT, Path(sys.prefix), Path(sys.base_prefix))
    return tuple(
        str(place)
        for place in places
        if place.is_dir() and not any(path.is_relative_to(place.resolve()) for path in needed)
    )
