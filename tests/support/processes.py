"""The recorders and signers that a test leaves behind: found by the folder in their command line, ended by their id.

Must not know how they are started: a hook, a command or a test may do it.
"""

from __future__ import annotations

import contextlib
import os
import resource
from collections.abc import Iterator
from pathlib import Path

import psutil

_OURS = ("tallystick.service", "tallystick.signer")
_SECONDS = 10.0


def children() -> tuple[int, ...]:
    """A value that differs when this process has waited for a child meanwhile: only then can one be left behind."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_minflt, used.ru_majflt, used.ru_nvcsw


def stop_below(folder: Path) -> list[int]:
    """End every recorder and signer of a store below `folder`; their ids."""
    found = list(_running_below(folder))
    for process in found:
        _signal(process, "resume")  # a stopped process would not notice that it is asked to end
        _signal(process, "terminate")
    _, left = psutil.wait_procs(found, _SECONDS)
    for process in left:
        _signal(process, "kill")
    psutil.wait_procs(left, _SECONDS)
    return [process.pid for process in found]


def _running_below(folder: Path) -> Iterator[psutil.Process]:
    below = str(folder) + os.sep
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            words = process.cmdline()
            if any(word.startswith(_OURS) for word in words) and any(word.startswith(below) for word in words):
                yield process


def _signal(process: psutil.Process, how: str) -> None:
    with contextlib.suppress(psutil.Error):
        getattr(process, how)()
