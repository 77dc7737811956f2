"""A program that adds events to a session of the session log until it is done or killed.

Run by the tests: `python log_writer.py KIND FOLDER SESSION EVENTS NAME`, KIND `files` or `journals`. Each line it prints is
the number of an event, written in one call after `add_event` has returned. NAME `small-disk` has a disk on which files end
early.
"""

from __future__ import annotations

import os
import signal
import sys

from tallystick.errors import TallystickError
from tallystick.plugins.headless import Event, FileStore, JournalStore, SessionManager


def main(kind: str, folder: str, session: str, events: int, name: str) -> int:
    if name == "small-disk":
        import resource

        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
    manager = SessionManager(FileStore(folder) if kind == "files" else JournalStore(folder))
    found = manager.get(session)
    for number in range(events):
        seq = found.add_event(Event(type="assistant", content=f"{name}-{number} " * (4000 if number % 7 == 3 else 20)))
        if seq:
            os.write(1, f"{seq}\n".encode())
    try:
        found.close()
    except TallystickError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]), sys.argv[5]))
