"""Units of the user's supervisor that run a recorder: systemd's user unit, launchd's property list.

Owns their texts (systemd.service(5), launchd.plist(5)), which the user puts in place, finding them there (systemd.unit(5)
"User Unit Search Path") and ending what they run. Must not know what a recorder is.
"""

from __future__ import annotations

import contextlib
import os
import plistlib
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from tallystick.errors import SourceError

_EXEC = re.compile(r"^ExecStart=(.*)$", re.MULTILINE)
_SECONDS = 30.0


class Unit(msgspec.Struct, frozen=True, kw_only=True):
    """One file that has the supervisor run a recorder of ours."""

    path: Path
    store: Path
    ending: tuple[str, ...]
    """The command that has the supervisor end it and forget it."""


def units(user: Path, environment: Mapping[str, str]) -> tuple[Unit, ...]:
    """All units of a user that run a recorder, whichever store it serves."""
    return (*_systemd(user, environment), *_launchd(user))


def _systemd(user: Path, environment: Mapping[str, str]) -> Iterator[Unit]:
    named = environment.get("XDG_CONFIG_HOME")
    folder = (Path(named) if named else user / ".config") / "systemd" / "user"
    for path in sorted(folder.glob("*.service")):
        line = _EXEC.search(_text(path))
        if line is not None:
            words = _words(line[1])
        else:
            words = []
        store = _store_of([word.replace("%%", "%").replace("$$", "$") for word in words])
        if store is not None:
            yield Unit(path=path, store=store, ending=("systemctl", "--user", "disable", "--now", path.name))


def _launchd(user: Path) -> Iterator[Unit]:
    for path in sorted((user / "Library" / "LaunchAgents").glob("*.plist")):
        try:
            found = plistlib.loads(path.read_bytes())
        except (OSError, ValueError, plistlib.InvalidFileException):
            continue
        if isinstance(found, dict):
            words = found.get("ProgramArguments", [])
        else:
            words = []
        store = None
        if isinstance(words, list):
            store = _store_of([str(word) for word in words])
        if store is not None:
            yield Unit(path=path, store=store, ending=("launchctl", "bootout", f"gui/{os.getuid()}", str(path)))


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8", errors="replace")
    except OSError:
        return ""


def _words(line: str) -> list[str]:
    try:
        return shlex.split(line)
    except ValueError:
        return []


def _store_of(words: list[str]) -> Path | None:
    """The store of a command that runs a recorder; None of any other command."""
    if "tallystick" not in words or words[-4:-1] != ["service", "run", "--idle"] or "--home" not in words[:-1]:
        return None
    return Path(words[words.index("--home") + 1])


def remove_unit(unit: Unit, environment: Mapping[str, str]) -> None:
    """Have the supervisor end what a unit runs, and remove its file. Without a supervisor only the file goes.

    Raises:
        SourceError: the file cannot be removed.
    """
    _tell(unit.ending, environment)
    try:
        for link in unit.path.parent.glob(f"*.wants/{unit.path.name}"):
            link.unlink(missing_ok=True)
        unit.path.unlink(missing_ok=True)
    except OSError as error:
        raise SourceError(f"{unit.path} cannot be removed: {error.strerror}") from error
    if unit.ending[0] == "systemctl":
        _tell(("systemctl", "--user", "daemon-reload"), environment)


def _tell(words: tuple[str, ...], environment: Mapping[str, str]) -> None:
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        subprocess.run(
            words,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=dict(environment),
            timeout=_SECONDS,
            check=False,
        )


LABEL = "dev.tallystick.recorder"


def systemd(store: Path) -> str:
    """A user unit. `%` and quotes in paths are escaped as systemd.service(5), "Command lines", has it."""
    return "\n".join(
        (
            "[Unit]",
            "Description=Tallystick recorder",
            "",
            "[Service]",
            f"ExecStart={' '.join(map(_escaped, _command(store)))}",
            "Restart=on-failure",
            "RestartSec=1",
            "",
            "[Install]",
            "WantedBy=default.target",
        )
    )


def _escaped(word: str) -> str:
    doubled = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("$", "$$")
    return f'"{doubled}"'


def launchd(store: Path) -> str:
    """A property list for ~/Library/LaunchAgents."""
    settings = {
        "Label": LABEL,
        "ProgramArguments": _command(store),
        "RunAtLoad": True,
        "KeepAlive": {"SuccessfulExit": False},
        "ProcessType": "Background",
    }
    return plistlib.dumps(settings).decode().rstrip("\n")


def _command(store: Path) -> list[str]:
    """The command that both run: a recorder that never ends by itself."""
    return [
        sys.executable,
        "-I",
        "-m",
        "tallystick",
        "--home",
        str(store.absolute()),
        "service",
        "run",
        "--idle",
        "0",
    ]
