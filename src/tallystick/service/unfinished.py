"""What one recorder leaves to the next: which transcripts it followed.

Owns the file `run/unfinished.json`. It is a hint: without it nothing is lost that `tally import` would not find.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from tallystick.journal.durable import replace_file
from tallystick.live.hook_pipeline import Unfinished


def read_unfinished(path: Path) -> list[Unfinished]:
    """What was left; nothing, if the file is missing or damaged."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=list[Unfinished])
    except (OSError, msgspec.DecodeError):
        return []


def write_unfinished(path: Path, unfinished: Sequence[Unfinished]) -> None:
    """Leave it. Raises: JournalError: it cannot be written."""
    replace_file(path, [msgspec.json.encode(unfinished)])
