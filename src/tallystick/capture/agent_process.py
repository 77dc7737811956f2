"""The process of an agent that delivered something, and whether it still runs.

Owns finding it above the shells and the hook that it started, and telling it from another that was given its number. Must not
know sessions.
"""

from __future__ import annotations

import contextlib

import msgspec
import psutil

_BETWEEN = frozenset(("sh", "bash", "dash", "zsh", "ksh", "ash", "busybox", "env", "timeout", "nice", "nohup"))
"""Programs by which agents start a hook."""
_REAPERS = frozenset(("init", "systemd", "launchd", "tini", "dumb-init", "docker-init"))
"""Programs that take over a hook whose agent is gone."""
_HOOK = "hook.py"
_MOST_UP = 8


class AgentProcess(msgspec.Struct, frozen=True):
    """A process: a number may be given again, so with its beginning in epoch milliseconds."""

    pid: int
    began_ms: int


def agent_above(pid: int) -> AgentProcess | None:
    """The agent of the process at the other end of a delivery: that process, if it is no hook; None if it is gone."""
    with contextlib.suppress(psutil.Error, OSError):
        process = psutil.Process(pid)
        for _ in range(_MOST_UP):
            if process.pid <= 1 or process.name() in _REAPERS:
                return None
            if not _is_between(process):
                return AgentProcess(process.pid, round(process.create_time() * 1000))
            process = psutil.Process(process.ppid())
    return None


def _is_between(process: psutil.Process) -> bool:
    return process.name() in _BETWEEN or any(word.rpartition("/")[2] == _HOOK for word in process.cmdline()[1:6])


def is_running(agent: AgentProcess) -> bool:
    """Whether a process is there, and is no other that was given its number. One that waits to be reaped is not."""
    try:
        process = psutil.Process(agent.pid)
        is_same = abs(process.create_time() * 1000 - agent.began_ms) < 1000
        return is_same and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
    except (psutil.Error, OSError):
        return True  # it cannot be asked: nothing is said of it
