"""The process that runs the tests, as every test finds it: signals, umask, environment, working directory, time zone.

Owns what children inherit, so that a run under `nohup`, in a background shell, behind a proxy or with NO_COLOR set is the
same run. Must not know what a test does.
"""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
import time
from pathlib import Path
from types import FrameType

ROOT = Path(__file__).resolve().parents[2]

_UMASK = 0o022
_DEFAULTS = (signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGCHLD, signal.SIGUSR1, signal.SIGUSR2)

# What passes through: where things are, and what the tools around the tests say to each other.
_KEPT = {"PATH", "TMPDIR", "TALLY_AGENTS", "TALLY_MATRIX", "REDTEAM_TABLE", "MUTANT_UNDER_TEST"}
_KEPT_PREFIXES = ("TALLY_ODD_", "PYTEST_", "TEXTUAL_SNAPSHOT_", "PYTHON", "HYPOTHESIS", "COV_", "COVERAGE_")


class Machine:
    """The state that every test starts with."""

    def __init__(self) -> None:
        self._home, self._owner = Path(tempfile.mkdtemp(prefix="tally-tests-")), os.getpid()
        self.environment = _environment(self._home)

    def restore(self) -> None:
        """Set the state again; a test, or the recorder and the signer within it, may have changed any of it."""
        os.umask(_UMASK)
        _restore_signals()
        _restore_environment(self.environment)
        _restore_folder()

    def close(self) -> None:
        """Remove the home folder; a fork of this process leaves it alone."""
        if os.getpid() == self._owner:
            shutil.rmtree(self._home, ignore_errors=True)


def set_up() -> Machine:
    """The state for this process, from now on. HOME is an empty folder."""
    machine = Machine()
    machine.restore()
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    time.tzset()
    return machine


def _environment(home: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if _is_kept(name)}
    return {**kept, "HOME": str(home), "LANG": "C.UTF-8", "TERM": "dumb", "TZ": "UTC"}


def _is_kept(name: str) -> bool:
    return name in _KEPT or name.startswith(_KEPT_PREFIXES)


def _restore_environment(wanted: dict[str, str]) -> None:
    for name in os.environ.keys() - wanted.keys():
        if not _is_kept(name):  # pytest and its plugins set variables of their own meanwhile
            del os.environ[name]
    for name, value in wanted.items():
        if not name.startswith("PYTEST_") and os.environ.get(name) != value:
            os.environ[name] = value


def _restore_signals() -> None:
    for number in _DEFAULTS:
        default = signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL
        if signal.getsignal(number) is not default:
            signal.signal(number, default)
    if signal.getsignal(signal.SIGHUP) is not _stay:
        signal.signal(signal.SIGHUP, _stay)


def _stay(number: int, frame: FrameType | None) -> None:
    """Outlive the terminal, as `nohup` wants it. Unlike an ignored signal, a handled one is the default in children."""


def _restore_folder() -> None:
    try:
        if os.getcwd() == str(ROOT):  # noqa: PTH109 - it is asked before every test
            return
    except OSError:  # a test removed the folder it was in
        pass
    os.chdir(ROOT)
