"""Delivering to the recorder from inside another Python program: what hook.py does, without a process of its own.

Owns one delivery over the socket, and hook.py as the way when no one answers: it starts the recorder, or keeps the
delivery. Of the standard library alone, since the programs it runs in may not have our dependencies. Nothing it does
may raise.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

VERSION = "0.1.0"
_PATIENCE_SECONDS = 1.0
_HOOK_SECONDS = 4.0
_HOOK = Path(__file__).resolve().parent.parent / "hook.py"
_DEEPEST = 40
_MOST_VALUES = 100_000
SILENCE = (0, b"", b"")
_numbers = itertools.count(1)
_told: dict[str, str] = {}


def _by_environment() -> str:
    named = os.environ.get("TALLY_HOME")
    if not named:
        with contextlib.suppress(RuntimeError):  # no home folder
            named = str(Path.home() / ".tally")
    return named or "/.tally"


_BY_ENVIRONMENT = _by_environment()
"""TALLY_HOME, else ~/.tally. Asked once: what an agent runs in this process may change the environment."""


def use(*, python: str | None = None, home: str | None = None) -> None:
    """Say where Tallystick and its store are, if that is known better than by the environment."""
    _told.update({name: value for name, value in (("python", python), ("home", home)) if value is not None})


def verdict(agent: str, said: dict[str, Any]) -> tuple[str, str] | None:
    """Deliver what an agent is about to do: `deny` or `ask` with the reason; None if nothing speaks against it."""
    code, out, error = deliver(agent, said)
    if code == 2:
        return "deny", error.decode("utf-8", "replace").strip() or "refused"
    try:
        if out:
            answer = json.loads(out)
        else:
            answer = {}
    except (ValueError, RecursionError):
        return None
    for word in ("deny", "ask"):
        reason = None
        if isinstance(answer, dict):
            reason = answer.get(word)
        if isinstance(reason, str):
            return word, reason or "refused"
    return None


def deliver(agent: str, said: dict[str, Any]) -> tuple[int, bytes, bytes]:
    """Deliver what an agent does: exit code, stdout and stderr of the answer; silence if that is impossible."""
    try:
        data = written(said)
        try:
            return _over_socket(agent, data)
        except (OSError, ValueError):
            return _through_hook(agent, data)
    except Exception:  # the agent goes on, of any kind
        return SILENCE


def written(said: dict[str, Any]) -> bytes:
    """JSON of what an agent holds, which may be anything: what JSON has no form for is named, or written as text."""
    try:
        return json.dumps(said, default=_text).encode()
    except Exception:  # circles, keys of other types, whatever a class of someone's raises
        return json.dumps(_copied(said, (), iter(range(_MOST_VALUES)))).encode()


def _text(value: Any) -> str:
    try:
        return str(value)
    except Exception:  # an object of the agent's, or of the user's
        return f"({type(value).__name__})"


def _copied(value: Any, above: tuple[int, ...], budget: Iterator[int]) -> Any:
    if value is None or isinstance(value, bool | float):
        return value
    if isinstance(value, int):
        return value if value.bit_length() <= 64 else hex(value)  # Python writes no number of thousands of digits
    if isinstance(value, str):
        return str.__str__(value)
    if id(value) in above:
        return "(circular)"
    if len(above) >= _DEEPEST or next(budget, None) is None:
        return "(left out)"
    within = (*above, id(value))
    try:
        if isinstance(value, dict):
            return {_text(key): _copied(item, within, budget) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [_copied(item, within, budget) for item in value]
    except Exception:  # a class that behaves like neither
        return f"({type(value).__name__})"
    return _text(value)


def store() -> Path:
    """The store's folder: the one that `use` was reported, else the one that the environment named when this was loaded."""
    return Path(_told.get("home") or _BY_ENVIRONMENT)


def _over_socket(agent: str, data: bytes) -> tuple[int, bytes, bytes]:
    until = time.monotonic() + _PATIENCE_SECONDS
    folder = os.open(store() / "run", os.O_RDONLY)
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(_PATIENCE_SECONDS)
            # A socket's path has room for about 100 bytes only; through the descriptor it is short, where there is /proc.
            short = Path(f"/proc/self/fd/{folder}/recorder.sock")
            connection.connect(str(short if short.exists() else store() / "run" / "recorder.sock"))
            if not _is_recorder(connection):
                raise OSError("another process is in the recorder's place")
            connection.sendall(_head(agent, len(data)) + data)
            answer = b""
            while part := _received(connection, until):
                answer += part
    finally:
        os.close(folder)
    first, _, rest = answer.partition(b"\n")
    code, out, error = (int(word) for word in first.split())
    if len(rest) != out + error:
        raise ValueError("the answer was cut")
    return code, rest[:out], rest[out:]


def _is_recorder(connection: socket.socket) -> bool:
    """Whether the recorder listens, as hook.py sees it. 0: the system does not say who does."""
    if not hasattr(socket, "SO_PEERCRED"):
        return True
    peer = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED)
    return peer == 0 or (store() / "run" / "recorder.pid").read_bytes().strip() == b"%d" % peer


def _head(agent: str, size: int) -> bytes:
    monitor = "".join(os.environ.get("TALLY_SESSION", "-").split()) or "-"
    now = time.time_ns()
    return f"TALLY1 {size} {agent} - {VERSION} {now} {os.getpid()}.{now}.{next(_numbers)} {monitor}\n".encode()


def _received(connection: socket.socket, until: float) -> bytes:
    connection.settimeout(max(until - time.monotonic(), 0.001))
    return connection.recv(1 << 16)


def _through_hook(agent: str, data: bytes) -> tuple[int, bytes, bytes]:
    """hook.py in the interpreter in which Tallystick is installed, which may be another one than this."""
    if not _HOOK.is_file():  # Tallystick was removed; an interpreter without its script ends with 2, as a refusal does
        return SILENCE
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        words = [_python(), "-I", "-S", str(_HOOK), "--home", str(store()), agent]
        done = subprocess.run(words, input=data, capture_output=True, timeout=_HOOK_SECONDS, check=False)
        return done.returncode, done.stdout, done.stderr
    return SILENCE


def _python() -> str:
    named = _told.get("python", "")
    if not named:
        with contextlib.suppress(OSError):
            named = (store() / "run" / "python").read_text("utf-8").strip()
    if named and Path(named).exists():
        return named
    return sys.executable
