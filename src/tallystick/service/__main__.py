"""`python -m tallystick.service STORE`: the recorder as hooks start it; with `--detach`, as a process of its own."""

import gc
import os
import sys


def detach() -> None:
    """Leave the process that started this one behind: no one waits for it, and no terminal ends it (daemon(7))."""
    if os.fork():
        os._exit(0)
    os.setsid()
    if os.fork():
        os._exit(0)


if __name__ == "__main__":
    gc.disable()  # someone waits, and what is loaded stays: the server switches it on when all is there
    words = sys.argv[1:]
    if words[:1] == ["--detach"]:
        detach()
    from tallystick.service.start import bear_much, run

    bear_much()
    sys.exit(run(words[-1]))
