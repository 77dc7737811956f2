"""Recorders for tests that need one and do not ask how it starts: forks of a process in which all is loaded already.

A start takes a second of processor time, nearly all of it for loading modules and tables; a fork takes a tenth. What runs
is the same. How a recorder is started is for the tests of `capture.recorder`, of the hook and of the command line.

Run as a program, this file is the process that is forked. It ends, and ends its recorders, when its stdin is closed.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tallystick.capture import recorder

_START_SECONDS = 60.0
_END = b"\n"
_SIGNALS = (signal.SIGCHLD, signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


class _Nursery:
    """The process that is forked, started when the first recorder is wanted."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._owner = os.getpid()

    def start(self, store: Path, most: int | None) -> None:
        """Fork it into a recorder, with the environment of this process."""
        if self._process is None or self._process.poll() is not None:
            self._process = subprocess.Popen(
                [sys.executable, "-P", __file__],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},  # what is tested here is what runs
                start_new_session=True,  # what ends or hangs up a terminal is for the process that runs the tests
            )
            atexit.register(self.close)
        pipe, answers = self._process.stdin, self._process.stdout
        assert pipe is not None
        assert answers is not None
        said = {"store": str(store.absolute()), "environment": dict(os.environ), "most": most}
        pipe.write(json.dumps(said).encode() + b"\n")
        pipe.flush()
        assert answers.readline() == b"forked\n"

    def close(self) -> None:
        """End it and its recorders; a fork of this process leaves it alone."""
        if self._process is not None and self._owner == os.getpid():
            self._process.communicate(_END)
            self._process = None


_nursery = _Nursery()
close = _nursery.close


def start(store: Path, *, most: int | None = None) -> int:
    """As `capture.recorder.start`: a recorder of its own, unless there is one; its pid once it answers.

    `most` is how many bytes of a payload it takes; without it, as many as the one that agents start.
    """
    if (running := recorder.status(store)) is None:
        _nursery.start(store, most)
        until = time.monotonic() + _START_SECONDS
        while (running := recorder.status(store)) is None:
            assert time.monotonic() < until, "the recorder does not answer"
            time.sleep(0.005)
    return int(running["pid"])


# The process that is forked -------------------------------------------------------------------------------------------


def _load() -> None:
    """Load what a recorder needs until it has decided on its first call. No thread may be left: a fork would miss it."""
    from tallystick.journal.home import Home
    from tallystick.model.decision import Call
    from tallystick.recording.run_config import gathered  # noqa: F401
    from tallystick.service import http, parts  # noqa: F401
    from tallystick.service.deciding import Deciding
    from tallystick.service.start import run  # noqa: F401

    with tempfile.TemporaryDirectory() as folder:
        deciding = Deciding(Home(Path(folder) / "store"))
        deciding.warm()
        for command in ("echo hi", f"rm -rf {folder}"):
            deciding(Call(agent="claude-code", session="s", tool="Bash", args={"command": command}, cwd=folder))


def _be_recorder(said: bytes) -> None:
    """What is done in a fork."""
    code = 1
    try:
        for number in _SIGNALS:
            signal.signal(number, signal.SIG_DFL)
        os.setsid()
        asked = json.loads(said)
        os.environ.clear()
        os.environ.update(asked["environment"])
        time.tzset()
        os.chdir("/")
        null = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(null, descriptor)
        from tallystick.service import spool, wire
        from tallystick.service.start import bear_much, run

        if asked["most"] is not None:
            for module in (spool, wire):
                vars(module)["MOST_DATA"] = asked["most"]
        bear_much()
        code = run(asked["store"])
    finally:
        os._exit(code)


def _reap(*_: object) -> None:
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _end(child: int) -> None:
    """End a recorder that is left, stopped or not; one that has ended is no child any more."""
    with contextlib.suppress(ChildProcessError):
        if os.waitpid(child, os.WNOHANG)[0] == 0:
            os.kill(child, signal.SIGTERM)
            os.kill(child, signal.SIGCONT)


def main() -> None:
    """Fork for each line that stands on stdin."""
    gc.disable()
    _load()
    gc.freeze()
    signal.signal(signal.SIGCHLD, _reap)
    forked = []
    for said in iter(sys.stdin.buffer.readline, _END):
        if not said:
            break
        child = os.fork()
        if child == 0:
            _be_recorder(said)
        forked.append(child)
        sys.stdout.buffer.write(b"forked\n")
        sys.stdout.buffer.flush()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for child in forked:
        _end(child)


if __name__ == "__main__":
    main()
