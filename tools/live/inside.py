"""The inside of a sealed run: `python -m tools.live.inside PLAN ENDED` does what the plan says and writes how it ended.

Owns the order: cover foreign settings, start the model, lay out files, run the commands, end what they left running.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import struct
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import msgspec

from tools.live.box import PORT, Command, Ended, Plan
from tools.live.fake_model import FakeModel

_AFTER_AN_INTERRUPT_S = 20.0
_THINKS_S = 2.0
"""A recorder that starts with the session has this long before the first call; `bench` measures calls that come sooner."""
_THINKS_AT_MOST_S = 30.0
_SIOCSIFFLAGS, _UP_AND_RUNNING = 0x8914, 0x1 | 0x40  # ioctl_netdevice(7)


def main(plan_file: Path, ended_file: Path) -> None:
    """Run the plan."""
    plan = msgspec.json.decode(plan_file.read_bytes(), type=Plan)
    if plan.covered:
        _cover(plan.covered)
    if os.getpid() <= 2:  # the first process of its namespace, or the one after
        _loopback_up()
    with FakeModel(plan.script, Path(plan.out) / "model.jsonl", think=partial(_think, Path(plan.home))) as model:
        _lay_out(plan, model.port)
        ended = [_run(plan, command, _environment(plan, model.port), model.port) for command in plan.commands]
        _end_what_is_left(plan)
    ended_file.write_bytes(msgspec.json.encode(ended))


def _cover(places: tuple[str, ...]) -> None:
    """Lay an empty folder over each place; in a mount namespace of our own this harms nobody."""
    for place in places:
        subprocess.run(["mount", "-t", "tmpfs", "none", place], check=True)


def _loopback_up() -> None:
    import fcntl  # not on every system that runs the rest

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, _SIOCSIFFLAGS, struct.pack("16sh", b"lo", _UP_AND_RUNNING))


def _lay_out(plan: Plan, port: int) -> None:
    for name, text in plan.files.items():
        path = Path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.replace(PORT, str(port)), "utf-8")


def _environment(plan: Plan, port: int) -> dict[str, str]:
    fixed = {
        "HOME": plan.home,
        "PATH": os.pathsep.join([*plan.path, "/usr/local/bin", "/usr/bin", "/bin"]),
        "TMPDIR": f"{plan.out}/tmp",
        "TERM": "dumb",
        "LANG": "C.UTF-8",
    }
    return fixed | {name: value.replace(PORT, str(port)) for name, value in plan.env.items()}


def _think(home: Path) -> None:
    """Let some time pass, and on a busy machine as much as a recorder that was started needs."""
    time.sleep(_THINKS_S)
    run, until = home / ".tally" / "run", time.monotonic() + _THINKS_AT_MOST_S
    while (run / "recorder.lock").exists() and not (run / "policies.json").exists() and time.monotonic() < until:
        time.sleep(_THINKS_S / 2)  # with policies, it soon decides


def _end_what_is_left(plan: Plan) -> None:
    """End the daemons that agents leave behind: those with the run's HOME. A process namespace would end them anyway."""
    mark = f"HOME={plan.home}".encode()
    for place in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it has ended, or is not ours to look at
            if mark in (place / "environ").read_bytes().split(b"\0") and int(place.name) != os.getpid():
                os.kill(int(place.name), signal.SIGKILL)


def _run(plan: Plan, command: Command, env: dict[str, str], port: int) -> Ended:
    out, begun = Path(plan.out), time.monotonic()
    argv = [word.replace(PORT, str(port)) for word in command.argv]
    with (out / f"{command.name}.stdout").open("wb") as stdout, (out / f"{command.name}.stderr").open("wb") as stderr:
        process = subprocess.Popen(
            argv,
            cwd=plan.project,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            start_new_session=True,
        )
        interrupted, killed = _attend(process, command)
    seconds = round(time.monotonic() - begun, 2)
    return Ended(
        name=command.name, exit_code=process.returncode, seconds=seconds, interrupted=interrupted, killed=killed
    )


def _attend(process: subprocess.Popen[bytes], command: Command) -> tuple[bool, bool]:
    """Wait for a command; whether it was interrupted, and whether it had to be killed."""
    deadline, interrupted = time.monotonic() + command.limit_s, False
    while process.poll() is None:
        if time.monotonic() > deadline:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            return interrupted, True
        if command.interrupt_at and not interrupted and Path(command.interrupt_at).exists():
            os.killpg(process.pid, signal.Signals[f"SIG{command.interrupt_with}"])
            deadline, interrupted = time.monotonic() + _AFTER_AN_INTERRUPT_S, True
        time.sleep(0.02)
    return interrupted, False


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
