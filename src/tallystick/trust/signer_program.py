"""What a signer is on a machine: its program, which root alone can change, its places, and what the supervisor is told of it.

Owns making the copy of the program, finding a Python that root alone can change, and the texts of a systemd unit and of a
launchd property list. Must not know what the program does.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from xml.sax.saxutils import escape

import msgspec

from tallystick.errors import JournalError
from tallystick.signer.pins import PINS, check_guarded

LABEL = "tallystick-signer"


class Places(msgspec.Struct, frozen=True, kw_only=True):
    """Where everything of the signer is on this machine."""

    program: Path = Path("/usr/local/lib/tallystick-signer")
    folder: Path = Path("/var/lib/tallystick-signer")
    socket: Path = Path("/run/tallystick-signer/socket")
    pins: Path = PINS
    unit: Path = Path("/etc/systemd/system/tallystick-signer.service")
    systemd: Path = Path("/run/systemd/system")
    """It is there where systemd runs the machine."""
    plist: Path = Path(f"/Library/LaunchDaemons/{LABEL}.plist")
    """Its folder is there where launchd does."""


def usual_places(platform: str = sys.platform) -> Places:
    """Where everything is on a machine of this kind."""
    if platform != "darwin":
        return Places()
    own = Path("/usr/local/var")  # /run is not there, and /var/run is emptied at every start
    return Places(folder=own / "tallystick-signer", socket=own / "tallystick-signer-run" / "socket")


def systemd_unit(command: Sequence[str], uid: int, *, folder: Path, socket: Path) -> str:
    """A systemd unit that confines the signer to its folder and its socket (systemd.exec(5))."""
    words = " ".join('"' + word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%") + '"' for word in command)
    return "\n".join(
        (
            "[Unit]",
            "Description=Tallystick signer: signs only what extends what it signed before",
            "",
            "[Service]",
            f"ExecStart={words.replace('$', '$$')}",
            f"User={uid}",
            f"RuntimeDirectory={socket.parent.name}",
            "RuntimeDirectoryMode=0755",
            f"ReadWritePaths={folder}",
            "ProtectSystem=strict",
            "ProtectHome=yes",
            "PrivateTmp=yes",
            "PrivateNetwork=yes",
            "PrivateDevices=yes",
            "NoNewPrivileges=yes",
            "RestrictAddressFamilies=AF_UNIX",
            "MemoryDenyWriteExecute=yes",
            "LimitCORE=0",
            "Restart=always",
            "",
            "[Install]",
            "WantedBy=multi-user.target",
            "",
        )
    )


def launchd_plist(command: Sequence[str], user: str) -> str:
    """A launchd property list of a daemon that is kept running (launchd.plist(5))."""
    words = "".join(f"    <string>{escape(word)}</string>\n" for word in command)
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">\n'
        '<plist version="1.0">\n<dict>\n'
        f"  <key>Label</key>\n  <string>{LABEL}</string>\n"
        f"  <key>ProgramArguments</key>\n  <array>\n{words}  </array>\n"
        f"  <key>UserName</key>\n  <string>{escape(user)}</string>\n"
        "  <key>RunAtLoad</key>\n  <true/>\n  <key>KeepAlive</key>\n  <true/>\n"
        "  <key>HardResourceLimits</key>\n  <dict>\n    <key>Core</key>\n    <integer>0</integer>\n  </dict>\n"
        "</dict>\n</plist>\n"
    )


_LISTS = """
import importlib, sys
importlib.import_module(sys.argv[1])
for name in sorted({name.partition(".")[0] for name in sys.modules} - set(sys.stdlib_module_names) - {"__main__"}):
    found = sys.modules.get(name)
    places = list(getattr(found, "__path__", ())) or [getattr(found, "__file__", None)]
    if places[0]:
        print(places[0])
"""


def copy_program(target: Path, module: str = "tallystick.signer.__main__") -> None:
    """Copy a module of this program with the packages it uses, so that no user can change what runs.

    Raises:
        JournalError: the disk refuses.
    """
    done = subprocess.run([sys.executable, "-c", _LISTS, module], capture_output=True, text=True, check=True)
    fresh = target.with_name(f".{target.name}.new")
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir(parents=True, mode=0o755)
    for place in map(Path, done.stdout.splitlines()):
        _copy(place, fresh / place.name)
    _only_root(fresh)
    shutil.rmtree(target, ignore_errors=True)
    fresh.rename(target)


def _copy(source: Path, target: Path) -> None:
    try:
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__", "samples", "tests"))
        else:
            shutil.copyfile(source, target)
    except (OSError, shutil.Error) as error:
        raise JournalError(f"cannot copy {source} to {target}: {error}") from error


def _only_root(folder: Path) -> None:
    for place in (folder, *folder.rglob("*")):
        os.chown(place, 0, 0)
        if place.is_dir():
            place.chmod(0o755)
        else:
            place.chmod(0o644)


def interpreter() -> Path:
    """The Python that runs the signer: of this version, for root alone to change, and for every user to run.

    Raises: JournalError: none exists.
    """
    own = Path(os.path.realpath(getattr(sys, "_base_executable", sys.executable)))
    name = f"python{sys.version_info.major}.{sys.version_info.minor}"
    problems = []
    for candidate in (own, Path("/usr/bin") / name, Path("/usr/local/bin") / name):
        try:
            check_guarded(candidate)
        except JournalError as error:
            problems.append(str(error))
            continue
        if all(place.stat().st_mode & 0o001 for place in (candidate, *candidate.resolve().parents)):
            return candidate
        problems.append(f"other users cannot run {candidate}")
    raise JournalError(
        f"no {name} that only root may change and every user may run: {'; '.join(problems)}",
        hint=f"install {name} from the system's packages",
    )
