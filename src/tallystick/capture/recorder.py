"""The resident recorder as others see it: whether it runs, starting it, ending it.

Owns the few lines that are said to it besides deliveries. Must not know what it does: `tallystick.service` is it.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tallystick.capture.place import Place, connect, listener
from tallystick.errors import TallystickError

STATUS = b"TALLY1 status\n"
STOP = b"TALLY1 stop\n"
WORKING = b"TALLY1 working\n"
_START_SECONDS = 30.0  # it takes a second; a machine that is busy with other work gets its time
_OTHER_SECONDS = 2.0
_STOP_SECONDS = 10.0


def status(store: Path) -> dict[str, Any] | None:
    """What the running recorder says of itself, or None, or it does not answer within a second."""
    try:
        answer = _say(Place(store), STATUS)
    except OSError:
        return None
    try:
        found = json.loads(answer)
    except ValueError:
        return None
    if isinstance(found, dict):
        return found
    return None


def working(store: Path) -> list[dict[str, str]]:
    """The live sessions that a running recorder knows: `agent`, `session` (the agent's own id) and `folder` of each."""
    try:
        found = json.loads(_say(Place(store), WORKING))
    except (OSError, ValueError):
        return []
    names = ("agent", "session", "folder")
    if isinstance(found, list):
        known = [item for item in found if isinstance(item, dict)]
    else:
        known = []
    return [item for item in known if all(isinstance(item.get(name), str) for name in names)]


def start(store: Path) -> int:
    """Start a recorder of its own, unless there is one; its pid once it answers.

    Raises:
        TallystickError: it does not answer.
    """
    if (running := status(store)) is not None:
        return int(running["pid"])
    with _spawned(store) as pipe:
        until, has_ended = time.monotonic() + _START_SECONDS, False
        while time.monotonic() < until:
            if (running := status(store)) is not None:
                return int(running["pid"])
            if not has_ended and _is_closed(pipe):
                # It broke, or another one was faster, which answers in a moment.
                until, has_ended = min(until, time.monotonic() + _OTHER_SECONDS), True
            time.sleep(0.01)
    raise TallystickError("the recorder does not answer", hint="`tally service run` shows why in this terminal")


def stop(store: Path) -> bool:
    """End whatever process answers for a store, and wait until it is gone; False if there was none.

    Raises:
        TallystickError: it is still there after ten seconds.
    """
    place = Place(store)
    pid = place.owner() or listener(place.socket)
    if pid is None and not place.is_claimed:
        return False
    until = time.monotonic() + _STOP_SECONDS
    while time.monotonic() < until:
        is_answered = _is_told_to_stop(place)  # again and again: it may only be starting, and listen to no one yet
        if not is_answered and not place.is_claimed and (pid is None or _has_ended(pid)):
            return True
        time.sleep(0.02)
    named = ""
    if pid is not None:
        named = f"`kill {pid}` ends it; "
    raise TallystickError("the recorder does not end", hint=f"{named}nothing recorded is lost")


def _is_told_to_stop(place: Place) -> bool:
    try:
        _say(place, STOP)
    except OSError:
        return False
    return True


def _has_ended(pid: int) -> bool:
    """Whether a process has ended, waited for by its parent or not."""
    if pid == os.getpid():  # the caller's own thread was the recorder
        return True
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    except (OSError, AttributeError):  # not on this system: the claim and the socket are all that is known
        return True
    try:
        return bool(select.select([descriptor], [], [], 0)[0])
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def _spawned(store: Path) -> Iterator[int]:
    """Start a recorder and leave it behind; a pipe whose other end it holds for as long as it lives."""
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    try:
        try:
            subprocess.run(
                [sys.executable, "-I", "-m", "tallystick.service", "--detach", str(store.absolute())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=(writing,),
                cwd="/",
                check=False,
            )
        finally:
            os.close(writing)
        yield reading
    finally:
        os.close(reading)


def _is_closed(pipe: int) -> bool:
    try:
        return os.read(pipe, 1) == b""
    except BlockingIOError:
        return False


def _say(place: Place, words: bytes) -> bytes:
    """Send one line to the recorder; its whole answer."""
    with connect(place.socket, 1.0) as connection:
        connection.sendall(words)
        parts = []
        while part := connection.recv(1 << 16):
            parts.append(part)
    return b"".join(parts)
