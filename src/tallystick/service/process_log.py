"""Where a resident process writes what goes wrong: a file in `run/`, for no one sees what it prints."""

from __future__ import annotations

import logging
from logging.handlers import RotatingFileHandler
from pathlib import Path

_LOG_BYTES = 1 << 20
_SPEAKERS = ("tallystick", "asyncio", "__main__")
"""The last: the module as which the process was started."""


def log_to(path: Path) -> None:
    """Keep what this process logs in a file, and the file that was full before it."""
    handler = RotatingFileHandler(path, maxBytes=_LOG_BYTES, backupCount=1, encoding="utf-8", delay=True)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    for name in _SPEAKERS:
        logging.getLogger(name).addHandler(handler)
