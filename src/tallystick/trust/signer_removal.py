"""What is left of a signer when its store goes, in the commands with which root takes it away.

Owns which of it is this store's alone, and which other stores use too. Must not do any of it.
"""

from __future__ import annotations

import pwd
from pathlib import Path

import msgspec

from tallystick.errors import TallystickError
from tallystick.signer.entry_file import entries_path
from tallystick.signer.epochs import epochs_path
from tallystick.signer.pins import Pin
from tallystick.signer.server import SUFFIX
from tallystick.trust.signer import ask_status
from tallystick.trust.signer_program import LABEL, Places, usual_places
from tallystick.trust.signer_setup import USER


def left_for_root(store: str, *, places: Places | None = None) -> tuple[str, ...]:
    """The commands with which root removes the signer of a store that goes: all of it, unless other stores use it too."""
    places = places or usual_places()
    pin, vault = places.pins / f"{store}.json", places.folder / f"{store}{SUFFIX}"
    if not pin.exists():
        return ()
    own = (f"sudo rm -f {pin} {vault} {epochs_path(vault)} {entries_path(vault)}",)
    if any(path != pin for path in places.pins.glob("*.json")):
        return own
    user = _signer_user(pin)
    ending = {
        places.unit: f"sudo systemctl disable --now {places.unit.name}; sudo rm {places.unit}",
        places.plist: f"sudo launchctl bootout system/{LABEL}; sudo rm {places.plist}",
    }
    stop = [command for path, command in ending.items() if path.exists()] or _kill(places)
    return (*stop, *own, f"sudo rm -r {places.program} {places.folder}", *([f"sudo userdel {user}"] if user else ()))


def _kill(places: Places) -> list[str]:
    try:
        _, said = ask_status(places.socket)
    except TallystickError:
        return []
    pid = said.get("pid")
    if isinstance(pid, int):
        return [f"sudo kill {pid}"]
    return []


def _signer_user(pin: Path) -> str | None:
    """The name of the signer's user, where it is one that `init` makes; None for a user of the administrator's own."""
    try:
        name = pwd.getpwuid(msgspec.json.decode(pin.read_bytes(), type=Pin).signer).pw_name
    except (OSError, KeyError, msgspec.MsgspecError):
        return None
    if name != USER:
        return None
    return name
