"""A store of its own for each test of a plugin, with a recorder that is a real process, or with one that cannot be."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import signal
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tallystick.capture import recorder
from tallystick.capture.place import Place
from tallystick.journal.home import Home
from tallystick.journal.read import read_session
from tallystick.model.recorded import Recorded


@contextlib.contextmanager
def a_store(folder: Path) -> Iterator[Home]:
    """A store's folder; whatever recorder is left there is ended."""
    home = Home(folder / "store")
    try:
        yield home
    finally:
        recorder.stop(home.folder)


def steps(home: Home, agent: str, type_: str | None = None) -> list[Recorded]:
    """The steps of the sessions of an agent, as they stand on disk."""
    found: list[Recorded] = []
    for sid, _ in home.sessions():
        session = list(read_session(home, sid))
        if session and session[0].meta.get("agent") == agent:
            found += [step for step in session if type_ in (None, step.type)]
    return found


def until(true: Callable[[], object], seconds: float = 120.0) -> None:
    """Wait for something that another process does."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it did not become true in time"
        time.sleep(0.02)


def spooled(home: Home) -> list[dict[str, Any]]:
    """The payloads that wait for a recorder."""
    found = []
    for path in sorted(Place(home.folder).spool.glob("*.spool")):
        found.append(json.loads(path.read_bytes().partition(b"\n")[2].rpartition(b"\nMAC ")[0]))
    return found


@contextlib.contextmanager
def no_recorder_can_start(home: Home) -> Iterator[None]:
    """The place of the only recorder is taken, by one that does nothing."""
    run = Place(home.folder).run
    run.mkdir(parents=True, exist_ok=True)
    with (run / "recorder.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@contextlib.contextmanager
def a_socket_that_never_answers(home: Home) -> Iterator[None]:
    """Somebody listens, and that is all."""
    run = Place(home.folder).run
    run.mkdir(parents=True, exist_ok=True)
    with no_recorder_can_start(home), socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(run / "recorder.sock"))
        listener.listen(8)
        yield


@contextlib.contextmanager
def stopped(pid: int) -> Iterator[None]:
    """A process that hangs meanwhile."""
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)
