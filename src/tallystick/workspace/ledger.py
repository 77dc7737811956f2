"""What the ledger says of sessions, read unchanged and not verified: for showing, never for judging."""

from __future__ import annotations

from collections.abc import Iterator

from tallystick.errors import FormatError
from tallystick.journal.home import Home
from tallystick.journal.lines import LineFile
from tallystick.journal.read import read_line
from tallystick.model.recorded import Recorded


def ledger_entries(home: Home, *, holding: bytes = b"") -> Iterator[Recorded]:
    """The entries of the ledger whose line holds some bytes. Lines that are none of ours are passed over."""
    if not home.exists:
        return
    for text in LineFile(home.ledger):
        if holding in text:
            try:
                yield read_line(home, text)
            except FormatError:
                continue


def sealed_sizes(home: Home) -> dict[str, int]:
    """How many entries of each session its newest head covers."""
    sizes: dict[str, int] = {}
    for entry in ledger_entries(home, holding=b'"session_head"'):
        session, size = entry.meta.get("session"), entry.meta.get("size")
        if entry.type == "session_head" and isinstance(session, str) and type(size) is int:
            sizes[session] = max(size, sizes.get(session, 0))
    return sizes
