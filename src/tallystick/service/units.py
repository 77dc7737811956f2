"""The recorder under a supervisor: systemd's user unit (systemd.service(5)) and launchd's property list (launchd.plist(5)).

Owns their texts. Nothing is installed: the user puts them where they belong.
"""

from __future__ import annotations

import plistlib
import sys

from tallystick.journal.home import Home

LABEL = "dev.tallystick.recorder"


def systemd(home: Home) -> str:
    """A user unit. `%` and quotes in paths are escaped as systemd.service(5), "Command lines", has it."""
    return "\n".join(
        (
            "[Unit]",
            "Description=Tallystick recorder",
            "",
            "[Service]",
            f"ExecStart={' '.join(map(_escaped, _words(home)))}",
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


def launchd(home: Home) -> str:
    """A property list for ~/Library/LaunchAgents."""
    settings = {
        "Label": LABEL,
        "ProgramArguments": _words(home),
        "RunAtLoad": True,
        "KeepAlive": {"SuccessfulExit": False},
        "ProcessType": "Background",
    }
    return plistlib.dumps(settings).decode().rstrip("\n")


def _words(home: Home) -> list[str]:
    """The command that both run: a recorder that never ends by itself."""
    return [
        sys.executable,
        "-I",
        "-m",
        "tallystick",
        "--home",
        str(home.folder.absolute()),
        "service",
        "run",
        "--idle",
        "0",
    ]
