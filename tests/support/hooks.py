"""The hook with other limits: for tests of what it does, whose machine may be too busy for the limits that agents need.

Owns copies of the files of the hook. Must not know what they do; `bench` holds the real limits to the clock.
"""

from __future__ import annotations

import functools
import re
import shutil
import tempfile
from pathlib import Path

import tallystick.hook
import tallystick.hook_alone
import tallystick.hook_looks

HASTY = {"answer": 1.0, "start": 0.4}
"""The limits that agents need, where the recorder does not answer or cannot start; what then decides may take its time."""

_FILES = tuple(Path(str(each.__file__)) for each in (tallystick.hook, tallystick.hook_alone, tallystick.hook_looks))
_folders: list[Path] = []


@functools.cache
def hook(*, answer: float = 30.0, start: float = 5.0, deadline: float = 120.0, most: int | None = None) -> Path:
    """The path of a hook that waits `answer` seconds for the recorder, `start` for a new one, and `deadline` in all.

    `most` is how many bytes of a payload it takes; without it, as many as the hook that agents run.
    """
    limits: dict[str, object] = {"ANSWER_SECONDS": answer, "START_SECONDS": start, "DEADLINE_SECONDS": deadline}
    if most is not None:
        limits["_MOST_DATA"] = most
    folder = Path(tempfile.mkdtemp(prefix="tally-hook-"))
    _folders.append(folder)
    for file in _FILES:
        text = file.read_text("utf-8")
        for name, limit in limits.items():
            text = re.sub(rf"^{name} = [\d. <]+$", f"{name} = {limit}", text, flags=re.MULTILINE)
        (folder / file.name).write_text(text, "utf-8")
    return folder / _FILES[0].name


def remove() -> None:
    """Remove the copies."""
    hook.cache_clear()
    while _folders:
        shutil.rmtree(_folders.pop(), ignore_errors=True)
