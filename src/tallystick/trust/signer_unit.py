"""Where a signer is on a machine, and what the machine's supervisor is told of it: a systemd unit, a launchd property list.

Owns these paths and the two texts. Must not know who puts anything there.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from xml.sax.saxutils import escape

import msgspec

from tallystick.signer.pins import PINS

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
