"""What the ledger says of sessions, read unchanged and not verified: for showing, never for judging."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from typing import IO

from tallystick.errors import FormatError
from tallystick.journal.home import Home
from tallystick.journal.lines import JudgedLines
from tallystick.journal.read import read_line
from tallystick.model.recorded import Recorded
from tallystick.seal.limits import LINE_BYTES

_CHUNK = 1 << 18


def ledger_entries(home: Home, *, holding: bytes = b"") -> Iterator[Recorded]:
    """The entries of the ledger whose line holds some bytes. Lines that are none of ours are passed over.

    What comes after a line over the limit is not read: that ledger is not sound, and may have no end.
    """
    if not home.exists:
        return
    for text in JudgedLines(home.ledger):
        if holding in text:
            try:
                yield read_line(home, text)
            except FormatError:
                continue


def newest_entries(home: Home, *, holding: bytes) -> Iterator[Recorded]:
    """The entries of the ledger whose line holds some bytes, the newest first: the first one is found without the others."""
    try:
        with home.ledger.open("rb", buffering=0) as file:
            for text in islice(_lines_backwards(file), 1, None):  # what stands after the last LF is no line yet
                if holding in text:
                    with suppress(FormatError):
                        yield read_line(home, text)
    except OSError:  # it is not there
        return


def _lines_backwards(file: IO[bytes]) -> Iterator[bytes]:
    at, rest = file.seek(0, os.SEEK_END), b""
    while at and len(rest) <= LINE_BYTES:  # what is longer is no line, and may have no beginning
        end, at = at, max(at - _CHUNK, 0)
        file.seek(at)
        rest, *lines = (file.read(end - at) + rest).split(b"\n")
        yield from reversed(lines)
    yield rest


def sealed_sizes(home: Home) -> dict[str, int]:
    """How many entries of each session its newest head covers."""
    sizes: dict[str, int] = {}
    for entry in ledger_entries(home, holding=b'"session_head"'):
        session, size = entry.meta.get("session"), entry.meta.get("size")
        if entry.type == "session_head" and isinstance(session, str) and type(size) is int:
            sizes[session] = max(size, sizes.get(session, 0))
    return sizes
