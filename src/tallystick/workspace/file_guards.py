"""What is in a store in a file's place and is none, or is larger than what is read at once.

Owns looking for that before anything is read: a pipe is waited for, a device never ends, and a verification that does not end
says nothing. Must not know what the files hold.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from tallystick.journal.home import Home
from tallystick.model.verdict import Authenticity, Completeness, Defect, Level, Rule, Verdict
from tallystick.seal.limits import NOTE_BYTES

_MOST_SETTINGS = 1 << 20


def verdict_on_no_files(home: Home) -> Verdict | None:
    """The verdict on a store that cannot be read because of what stands there; None: it can be read."""
    defects = tuple(_defects(home))
    if not defects:
        return None
    return Verdict(
        completeness=Completeness.MISSING,
        authenticity=Authenticity.UNSIGNED,
        level=Level.A1,
        why_not_higher="the store was not read: it contains a path that is not a regular file",
        defects=defects,
    )


def _defects(home: Home) -> Iterator[Defect]:
    for path, most in (
        (home.ledger, None),
        (home.graph, None),
        (home.note, NOTE_BYTES),
        (home.config, _MOST_SETTINGS),
        (home.key.parent / "signer.json", _MOST_SETTINGS),
    ):
        yield from _defect(None, path, most)
    for sid, journal in home.files():
        yield from _defect(sid, journal, None)


def _defect(sid: str | None, path: Path | str, most: int | None) -> Iterator[Defect]:
    try:
        found = os.stat(path)  # noqa: PTH116  of 10,000 journals a Path each costs 100 ms
    except OSError:
        return  # what is not there is found missing where it matters
    if not stat.S_ISREG(found.st_mode):
        yield Defect(sid, None, Rule.MISSING, f"{path} is not a file: a pipe, a device or a folder is in its place")
    elif most is not None and found.st_size > most:
        yield Defect(sid, None, Rule.LIMIT, f"{path} has {found.st_size} bytes; the limit is {most}")
