"""What a resident process logs is in its file, for this user only to read."""

from __future__ import annotations

import logging
from pathlib import Path

from tallystick.service.process_log import log_to


def test_what_goes_wrong_is_written_down(tmp_path: Path) -> None:
    loggers = [logging.getLogger(name) for name in ("tallystick", "asyncio", "__main__")]
    before = [list(logger.handlers) for logger in loggers]
    try:
        log_to(tmp_path / "a.log")
        logging.getLogger("tallystick.service").warning("the disk is full")
        logging.getLogger("__main__").warning("and in the module that was started")
    finally:
        for logger, handlers in zip(loggers, before, strict=True):
            for handler in set(logger.handlers) - set(handlers):
                logger.removeHandler(handler)
                handler.close()
    written = (tmp_path / "a.log").read_text("utf-8")
    assert "WARNING tallystick.service: the disk is full" in written
    assert "WARNING __main__: and in the module that was started" in written
