"""Where the recorder's loopback port is, and the token that a caller must have.

Owns `run/http.json`, which agents' settings are made from. Must not know what is asked there.
"""

from __future__ import annotations

import json
import time

import msgspec

from tallystick.capture.place import Place


class Loopback(msgspec.Struct, frozen=True):
    """A port on 127.0.0.1 and the token that opens it: both stay the same from one start of the recorder to the next."""

    port: int
    token: str

    @property
    def url(self) -> str:
        """The address, without a path."""
        return f"http://127.0.0.1:{self.port}"

    def encode(self) -> bytes:
        """What `run/http.json` holds."""
        return json.dumps({"port": self.port, "token": self.token}).encode()


def read_loopback(place: Place) -> Loopback | None:
    """What `run/http.json` has; None if there is nothing yet, or nothing that makes sense."""
    try:
        said = json.loads(place.http.read_text("utf-8"))
        return Loopback(int(said["port"]), str(said["token"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def wait_for_loopback(place: Place, seconds: float = 5.0) -> Loopback | None:
    """The same, of a recorder that has just been started: it answers on its socket before it has a port."""
    until = time.monotonic() + seconds
    while (found := read_loopback(place)) is None and time.monotonic() < until:
        time.sleep(0.01)
    return found
