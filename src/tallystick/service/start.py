"""Starting the recorder, and talking to the one that runs.

Owns the main function of its process and the client's side of `tally service`. Must not know what is recorded.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from tallystick.errors import TallystickError
from tallystick.journal.home import Home
from tallystick.operations.adapters import adapters
from tallystick.operations.config import read_setting
from tallystick.operations.live import Live
from tallystick.operations.scribe import Scribe
from tallystick.operations.witness import Witness
from tallystick.service.deciding import Deciding
from tallystick.service.place import SOCKET, Place
from tallystick.service.server import STATUS, STOP, Server

_START_SECONDS = 5.0


class AlreadyRunningError(TallystickError):
    """Another recorder has the store."""


def run(folder: str | Path, *, idle_seconds: float | None = None) -> int:
    """Be the recorder of a store until it is needed no more; the process's exit code. Another one there is no failure."""
    home = Home(Path(folder))
    place = Place(home)
    claim = place.claim()
    if claim is None:
        return 0
    try:
        idle = idle_seconds if idle_seconds is not None else float(read_setting(home, "service.idle_minutes")) * 60
        server = Server(place, make_live(home), idle_seconds=idle, http=read_setting(home, "service.http") == "on")
        asyncio.run(server.run())
    finally:
        place.leave(claim)
    return 0


def make_live(home: Home) -> Live:
    """What works on deliveries, with the store, the policies and the transcripts behind it.

    Raises:
        JournalError: the store cannot be opened. FormatError: its config.toml is damaged.
    """
    scribe = Scribe(home)
    return Live(scribe, Deciding(home), Witness(scribe, adapters()), monotonic=time.monotonic)


# The client's side ---------------------------------------------------------------------------------------------------


def status(home: Home) -> dict[str, Any] | None:
    """What the running recorder says of itself; None if there is none, or it does not answer within a second."""
    try:
        answer = _say(Place(home), STATUS)
    except OSError:
        return None
    try:
        found = json.loads(answer)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def start(home: Home) -> int:
    """Start a recorder of its own, unless there is one; its pid once it answers.

    Raises:
        TallystickError: it does not answer.
    """
    if (running := status(home)) is not None:
        return int(running["pid"])
    _spawn(home)
    until = time.monotonic() + _START_SECONDS
    while time.monotonic() < until:
        if (running := status(home)) is not None:
            return int(running["pid"])
        time.sleep(0.01)
    raise TallystickError("the recorder does not answer", hint="`tally service run` shows why in this terminal")


def stop(home: Home) -> bool:
    """End the recorder and wait until it is gone; False if there was none.

    Raises:
        TallystickError: it is still there after ten seconds.
    """
    place = Place(home)
    if place.owner() is None:
        return False
    with contextlib.suppress(OSError):
        _say(place, STOP)
    until = time.monotonic() + 10
    while time.monotonic() < until:
        if place.owner() is None:
            return True
        time.sleep(0.02)
    raise TallystickError("the recorder does not end", hint=f"`kill {place.owner()}` ends it; nothing recorded is lost")


def _spawn(home: Home) -> None:
    subprocess.run(
        [sys.executable, "-I", "-m", "tallystick.service", "--detach", str(home.folder.absolute())],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd="/",
        check=False,
    )


def _say(place: Place, words: bytes) -> bytes:
    """Send one line to the recorder; its whole answer."""
    folder = os.open(place.run, os.O_RDONLY)
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(1.0)
            # The path may be too long for a socket; through the descriptor it is short, where there is /proc.
            short = Path(f"/proc/self/fd/{folder}/{SOCKET}")
            connection.connect(str(short if short.exists() else place.socket))
            connection.sendall(words)
            parts = []
            while part := connection.recv(1 << 16):
                parts.append(part)
    finally:
        os.close(folder)
    return b"".join(parts)
