"""Programs that are asked: an agent's, where it is and which version; an installed hook, whether it reaches the recorder.

Owns running them for that, within a bounded time: a hook's command as the agent runs it, with the probe on its stdin. Must
not know what the answers are good for.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import selectors
import shutil
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from tallystick.catalog.agents import AGENTS
from tallystick.model.pattern import pattern_of

_VERSION = pattern_of(r"\d+\.\d+(?:\.\d+)?[0-9A-Za-z.+-]{0,40}", re.ASCII)
_SECONDS = 8.0
_MOST_BYTES = 4 << 20
_QUIET = {
    "NO_COLOR": "1",
    **{name: value for facts in AGENTS.values() for name, value in facts.variables.quiet.items()},
}
"""Asking for a version must not begin an update."""


def find_program(names: tuple[str, ...], environment: Mapping[str, str]) -> Path | None:
    """The first of some programs that is on the PATH of an environment."""
    found = (shutil.which(name, path=environment.get("PATH", os.defpath)) for name in names)
    return next((Path(path) for path in found if path is not None), None)


def program_version(program: Path, environment: Mapping[str, str]) -> str | None:
    """What a program says with --version; None if it says none in time."""
    try:
        run = subprocess.run(
            [program, "--version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS,
            env={**environment, **_QUIET},
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    found = _VERSION.search((run.stdout or run.stderr).decode("utf-8", "replace")[:10_000])
    if found is None:
        return None
    return found.group()


def codex_hooks(program: Path, environment: Mapping[str, str], folder: Path) -> list[dict[str, Any]] | None:
    """The handlers that Codex would run in a folder, each with `command`, `eventName`, `enabled` and `trustStatus`.

    Asked of `codex app-server` (`hooks/list`); None if it gives no answer in time.
    """
    requests: list[dict[str, Any]] = [
        {"id": 1, "method": "initialize", "params": {"clientInfo": {"name": "tallystick", "version": "0"}}},
        {"method": "initialized"},
        {"id": 2, "method": "hooks/list", "params": {"cwds": [str(folder)]}},
    ]
    try:
        server = subprocess.Popen(
            [program, "app-server"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**environment, **_QUIET},
            cwd=folder,
        )
    except OSError:
        return None
    try:
        return _asked(server, b"".join(json.dumps({"jsonrpc": "2.0", **each}).encode() + b"\n" for each in requests))
    finally:
        server.kill()
        with contextlib.suppress(OSError):
            server.communicate()


def _asked(server: subprocess.Popen[bytes], requests: bytes) -> list[dict[str, Any]] | None:
    assert server.stdin is not None, "it was opened"
    assert server.stdout is not None, "it was opened"
    try:
        server.stdin.write(requests)
        server.stdin.flush()
    except OSError:
        return None
    until, said = time.monotonic() + _SECONDS, b""
    with selectors.DefaultSelector() as waiting:
        waiting.register(server.stdout, selectors.EVENT_READ)
        while len(said) < _MOST_BYTES and waiting.select(max(until - time.monotonic(), 0)):
            part = os.read(server.stdout.fileno(), 1 << 16)
            if not part:
                return None
            said += part
            found = _answer(said)
            if found is not None:
                return found
    return None


def _answer(said: bytes) -> list[dict[str, Any]] | None:
    """The answer to the second request, once its line is whole."""
    for line in said.splitlines(keepends=True):
        if not line.endswith(b"\n"):
            return None
        with contextlib.suppress(ValueError, AttributeError, TypeError):
            message = json.loads(line)
            if message.get("id") == 2:
                data = message.get("result", {}).get("data", [])
                return [hook for each in data for hook in each.get("hooks", []) if isinstance(hook, dict)]
    return None


PROBE = b'{"tally_probe":true}'
"""A payload that the recorder answers and does not record."""
ANSWER = b'{"tally_probe":"ok"}'
_PROBE_SECONDS = 5.0


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
            words,
            input=PROBE,
            capture_output=True,
            timeout=_PROBE_SECONDS,
            env=dict(environment),
            cwd=folder,
            check=False,
        )
    except (OSError, subprocess.SubprocessError) as error:
        return Probed(reached=False, took_ms=_since(began), said=str(error)[:200])
    said = (done.stdout + done.stderr).decode("utf-8", "replace")[:200]
    reached = done.returncode == 0 and done.stdout == ANSWER
    return Probed(reached=reached, took_ms=_since(began), exit_code=done.returncode, said="" if reached else said)


def _since(began: float) -> int:
    return round((time.monotonic() - began) * 1000)
