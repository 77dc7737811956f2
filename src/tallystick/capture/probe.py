"""Asking an installed hook whether it reaches the recorder: the command is run as the agent runs it.

Owns one run of a command with the probe on its stdin, within a bounded time. Must not know whose command it is.
"""

from __future__ import annotations

import subprocess
import time
from collections.abc import Mapping
from pathlib import Path

import msgspec

PROBE = b'{"tally_probe":true}'
"""A payload that the recorder answers and does not record."""
ANSWER = b'{"tally_probe":"ok"}'
_SECONDS = 5.0


class Probed(msgspec.Struct, frozen=True, kw_only=True):
    """How a hook answered: None of both: it did not answer in time."""

    reached: bool
    took_ms: int
    exit_code: int | None = None
    said: str = ""
    """What it printed instead of the answer, cut short."""


def probe(command: str | list[str], environment: Mapping[str, str], folder: Path) -> Probed:
    """Run a hook's command (a text for /bin/sh, or words) with the probe on stdin."""
    words = command
    if isinstance(command, str):
        words = ["/bin/sh", "-c", command]
    began = time.monotonic()
    try:
        done = subprocess.run(
            words, input=PROBE, capture_output=True, timeout=_SECONDS, env=dict(environment), cwd=folder, check=False
        )
    except (OSError, subprocess.SubprocessError) as error:
        return Probed(reached=False, took_ms=_since(began), said=str(error)[:200])
    said = (done.stdout + done.stderr).decode("utf-8", "replace")[:200]
    reached = done.returncode == 0 and done.stdout == ANSWER
    return Probed(reached=reached, took_ms=_since(began), exit_code=done.returncode, said="" if reached else said)


def _since(began: float) -> int:
    return round((time.monotonic() - began) * 1000)
