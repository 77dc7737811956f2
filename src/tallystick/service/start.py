"""The main function of the recorder's process: there is one a store, and it has what judges calls load while it loads itself.

Owns the order of the start: the claim first, since of many that start at once all but one end at once; then the template
of deciders, before anything is opened that it must not hold; then the rest. Imports little, for someone waits.
"""

from __future__ import annotations

import os
import resource
import time
from pathlib import Path

from tallystick.capture import recorder
from tallystick.capture.place import Place
from tallystick.journal.home import Home
from tallystick.service.decider import fork_template

_ENDING_SECONDS = 5.0
_FILES = 4096


def run(folder: str | Path, *, idle_seconds: float | None = None) -> int:
    """Be the recorder of a store until it is needed no more; the process's exit code. Another one there is no failure."""
    home = Home(Path(folder))
    place = Place(home.folder)
    claim = _claim(place, home)
    if claim is None:
        return 0
    try:
        template = fork_template(home, claim)
        with template.channel:
            from tallystick.service.parts import serve

            serve(home, place, template, idle_seconds)
    finally:
        place.leave(claim)
    return 0


def _claim(place: Place, home: Home) -> int | None:
    """The claim on the store; None if another recorder has it and answers. One that is ending is waited for."""
    until = time.monotonic() + _ENDING_SECONDS
    while True:
        claim = place.claim()
        if claim is not None or recorder.status(home.folder) is not None or time.monotonic() > until:
            return claim
        time.sleep(0.05)


def bear_much() -> None:
    """Take nothing over of the agent that happened to start this process: neither its umask nor a tight limit of files."""
    os.umask(0o077)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard == resource.RLIM_INFINITY:
        wanted = _FILES
    else:
        wanted = min(_FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
