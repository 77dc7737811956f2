"""The signer as a program: `python -m tallystick.signer FOLDER SOCKET`, run as the signer's user.

Owns its arguments, its clock and its end. It reads no settings, no environment and no other file than those of its folder.
"""

from __future__ import annotations

import logging
import os
import resource
import signal
import sys
import threading
from datetime import UTC, datetime
from pathlib import Path

from tallystick.errors import TallystickError
from tallystick.signer.server import Server, Signer

_USAGE = 64


def _clock() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def main(words: list[str]) -> int:
    """Serve until a signal comes; the exit code."""
    if len(words) != 2:
        sys.stderr.write("usage: python -m tallystick.signer FOLDER SOCKET\n")
        return _USAGE
    os.umask(0o077)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # a core file would hold the key
    logging.basicConfig(format="tallystick-signer: %(message)s", level=logging.INFO)
    try:
        signer = Signer(Path(words[0]), _clock)
        server = Server(Path(words[1]), signer)
    except TallystickError as error:
        sys.stderr.write(f"tallystick-signer: {error}\n" + (f"  {error.hint}\n" if error.hint else ""))
        return 1
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: threading.Thread(target=server.shutdown).start())
    with server:
        server.serve_forever()
    Path(words[1]).unlink(missing_ok=True)
    signer.close()
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
