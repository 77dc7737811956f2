"""A program that records until it is killed, and says on standard output what was acknowledged.

Run by test_crash.py: `python crash_writer.py STORE NAME STEPS MODE`. Each line it prints is `SESSION N HASH`, written in one
call after the recording call has returned. It makes one `stat` of `/tallystick-begin` when its set-up is done, so that a
tracer knows where to count system calls from.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from pathlib import Path

from tallystick.errors import TallystickError
from tallystick.recording.recorder import Recorder
from tallystick.trust.erase import Erasure, erase


def main(store: str, name: str, steps: int, mode: str) -> int:
    if mode == "small-disk":
        import resource

        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, 60_000))
    with contextlib.suppress(FileNotFoundError):
        Path("/tallystick-begin").stat()
    try:
        with Recorder(store) as recorder:
            session = recorder.session("crash", name)
            for number in range(steps):
                step = session.step(
                    "assistant", content={"text": f"{name}-{number} " * (4000 if number % 7 == 3 else 20)}
                )
                os.write(1, f"{step.session} {step.n} {step.hash}\n".encode())
                if number % 5 == 4:
                    recorder.seal()
            if mode == "erase":
                erase(Recorder(store).home, session.id, 4, Erasure(("content.text",), "asked"))
                os.write(1, f"{session.id} erased 4\n".encode())
            session.close()
    except TallystickError as error:
        sys.stderr.write(f"tally: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(str(Path(sys.argv[1])), sys.argv[2], int(sys.argv[3]), sys.argv[4]))
